#include "bench/harness/recording.h"

#include <time.h>

#include <stdexcept>

namespace jankbox::bench {
namespace {

// The ring grows and the clock is calibrated after jankbox_start() has returned.
constexpr timespec kSettle = {0, 300'000'000};

}  // namespace

Recording::Recording(const std::string& folder, uint32_t ring_bytes, uint32_t record,
                     uint32_t markers) {
  jankbox_options options{};
  options.size = sizeof(options);
  options.flags = JANKBOX_FLAG_NO_LOOP_HOOKS;
  options.dir = folder.c_str();
  options.app_name = "jankbox-bench";
  options.ring_bytes = ring_bytes;
  options.min_free_mib = UINT32_MAX;
  options.record = record;
  options.markers = markers;
  if (jankbox_start(&options) != JANKBOX_OK) {
    throw std::runtime_error(std::string("jankbox_start: ") + jankbox_last_error());
  }
  nanosleep(&kSettle, nullptr);
}

Recording::~Recording() { jankbox_stop(); }

}  // namespace jankbox::bench
