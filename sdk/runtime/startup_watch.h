// Times the app's starts and asks for a report of those that are too slow. The watcher thread's,
// but for NoteDrawn().
#ifndef JANKBOX_SDK_RUNTIME_STARTUP_WATCH_H_
#define JANKBOX_SDK_RUNTIME_STARTUP_WATCH_H_

#include <cstdint>
#include <optional>

#include "diagnosis/seal/seal_request.h"
#include "monitors/startup/startup_monitor.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

class StartupWatch {
 public:
  explicit StartupWatch(const RingHeader& ring);

  // The app says that all of its start is on the screen. Any thread; also before recording begins.
  static void NoteDrawn(uint64_t now_ns);

  // The progress of a watched thread: its first dispatch and the first frame since the last poll;
  // 0: none.
  void OnThread(uint64_t dispatch_ns, uint64_t frame_end_ns);

  // `in_front_ns`: how long the app has been in front; 0: it is not. A start that is over and was
  // too slow.
  std::optional<SealRequest> Look(uint64_t now_ns, uint64_t in_front_ns,
                                  const StartupThresholds& thresholds);

 private:
  StartupMonitor monitor_;
  bool in_front_ = true;
  uint64_t seen_drawn_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_STARTUP_WATCH_H_
