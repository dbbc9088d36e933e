// Who made the last frames late, as Android's compositor found (SurfaceControl.JankData, API 36):
// what reports say of it beside Jankbox's verdict. Bounded; allocates; one thread at a time.
#ifndef JANKBOX_SDK_ANDROID_JNI_FRAME_JANK_LOG_H_
#define JANKBOX_SDK_ANDROID_JNI_FRAME_JANK_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace jankbox {

struct FrameJank {
  int64_t vsync_id = 0;
  uint32_t type = 0;         // JANK_COMPOSER 1, JANK_APPLICATION 2, JANK_OTHER 4, or-ed; 0: in time
  int64_t scheduled_ns = 0;  // that the app had for the frame
  int64_t actual_ns = 0;     // that it took
};

class FrameJankLog {
 public:
  static constexpr size_t kKept = 256;  // frames, about four seconds at 60 Hz

  void Note(const FrameJank& frame);

  bool empty() const { return frames_.empty(); }

  // "application 3, composer 1, other 0 of 256 frames".
  std::string Counts() const;

  // "4711 application 190/16 ms, 4702 composer 9/16 ms": janky frames by their vsync ids (as
  // janky_frame.vsync_id of the report), the last one first, as many as go into `max_bytes`.
  std::string Janky(size_t max_bytes) const;

 private:
  std::deque<FrameJank> frames_;  // oldest first
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_FRAME_JANK_LOG_H_
