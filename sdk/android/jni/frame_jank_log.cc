#include "sdk/android/jni/frame_jank_log.h"

namespace jankbox {
namespace {

constexpr uint32_t kComposer = 1;
constexpr uint32_t kApplication = 2;
constexpr uint32_t kOther = 4;
constexpr int64_t kNsPerMs = 1'000'000;

std::string NamesOf(uint32_t type) {
  std::string names;
  const auto add = [&names, type](uint32_t bit, const char* name) {
    if ((type & bit) != 0) names += (names.empty() ? "" : "+") + std::string(name);
  };
  add(kApplication, "application");
  add(kComposer, "composer");
  add(kOther, "other");
  return names;
}

}  // namespace

void FrameJankLog::Note(const FrameJank& frame) {
  frames_.push_back(frame);
  if (frames_.size() > kKept) frames_.pop_front();
}

std::string FrameJankLog::Counts() const {
  const auto count = [this](uint32_t bit) {
    size_t found = 0;
    for (const FrameJank& frame : frames_) found += (frame.type & bit) != 0 ? 1 : 0;
    return std::to_string(found);
  };
  return "application " + count(kApplication) + ", composer " + count(kComposer) + ", other " +
         count(kOther) + " of " + std::to_string(frames_.size()) + " frames";
}

std::string FrameJankLog::Janky(size_t max_bytes) const {
  std::string all;
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    const std::string names = NamesOf(frame->type);
    if (names.empty()) continue;
    const std::string one = (all.empty() ? "" : ", ") + std::to_string(frame->vsync_id) + " " +
                            names + " " + std::to_string(frame->actual_ns / kNsPerMs) + "/" +
                            std::to_string(frame->scheduled_ns / kNsPerMs) + " ms";
    if (all.size() + one.size() > max_bytes) break;
    all += one;
  }
  return all;
}

}  // namespace jankbox
