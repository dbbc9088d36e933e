#include "bench/app_interference/snapshot_load.h"

#include <jankbox/jankbox.h>

namespace jankbox::bench {
namespace {

constexpr uint32_t kFlushMs = 10'000;

}  // namespace

SnapshotLoad::SnapshotLoad(uint64_t* written)
    : thread_([this, written] {
        while (!stop_.load(std::memory_order_relaxed)) {
          if (jankbox_snapshot("bench") != JANKBOX_OK) return;
          if (jankbox_flush(kFlushMs) == JANKBOX_OK) ++*written;
        }
      }) {}

SnapshotLoad::~SnapshotLoad() {
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

}  // namespace jankbox::bench
