// The readings of a heartbeat from the kernel. Belongs to the thread whose pulse it is: create it
// there. Three system calls a reading; NO-ALLOC after construction.
#ifndef JANKBOX_MONITORS_ANR_PROC_BEAT_SOURCE_H_
#define JANKBOX_MONITORS_ANR_PROC_BEAT_SOURCE_H_

#include "base/scoped_fd.h"
#include "monitors/anr/heartbeat.h"

namespace jankbox {

class ProcBeatSource final : public BeatSource {
 public:
  ProcBeatSource();
  BeatReading Read() override;
  bool Traced() override;

 private:
  ScopedFd schedstat_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_ANR_PROC_BEAT_SOURCE_H_
