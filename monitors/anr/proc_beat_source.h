// The readings of a heartbeat from the kernel. Belongs to the thread whose pulse it is: create it
// there. Three system calls a reading and the sleeper's; NO-ALLOC after construction.
#ifndef JANKBOX_MONITORS_ANR_PROC_BEAT_SOURCE_H_
#define JANKBOX_MONITORS_ANR_PROC_BEAT_SOURCE_H_

#include <functional>

#include "base/kept_fd.h"
#include "monitors/anr/heartbeat.h"

namespace jankbox {

class ProcBeatSource final : public BeatSource {
 public:
  using ReadSleeper = std::function<Sleeper()>;
  explicit ProcBeatSource(ReadSleeper read_sleeper = {});
  BeatReading Read() override;
  bool Traced() override;

 private:
  BeatReading ReadOnce();

  KeptFd schedstat_;
  const ReadSleeper read_sleeper_;  // may be empty
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_ANR_PROC_BEAT_SOURCE_H_
