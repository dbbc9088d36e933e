// What a WatchedThread asks the system about its thread: a reading of it, whether it still lives,
// who traces it, its stacks, and all threads at an ANR. The live source asks /proc and the kernel;
// tests give their own. Watcher thread; allocates.
#ifndef JANKBOX_SDK_RUNTIME_THREAD_SOURCE_H_
#define JANKBOX_SDK_RUNTIME_THREAD_SOURCE_H_

#include <array>
#include <cstdint>
#include <memory>

#include "diagnosis/seal/anr_threads.h"
#include "monitors/incident/thread_probe.h"
#include "monitors/incident/wait_peer.h"
#include "monitors/thread/ui_thread_check.h"
#include "tracer/sampling/stack_sampler.h"

namespace jankbox {

// The process that a thread waits for; if that is not seen, the servers that the process is
// connected to: another of its threads may wait for one of them.
struct WaitPeers {
  WaitPeer peer;
  std::array<WaitPeer, 3> servers;
};

class ThreadSource {
 public:
  virtual ~ThreadSource() = default;

  virtual ThreadReading Read() = 0;
  // Of a thread that waits as in `reading`, in a dispatch that began at `begin_ticks`.
  virtual WaitPeers PeersOf(const ThreadReading& reading, uint64_t begin_ticks) = 0;
  virtual bool IsGone() = 0;    // the thread has ended
  virtual bool IsTraced() = 0;  // a debugger is attached to it
  virtual UiThreadReading ReadScheduling() = 0;
  virtual AnrThreads TakeThreads() = 0;

  // Of any thread of the process; null if there can be none.
  virtual std::unique_ptr<StackSampler> NewSampler(int32_t tid,
                                                   const StackSampler::Options& options) = 0;
};

// Thread `tid` of this process, whose id is `pid`.
std::unique_ptr<ThreadSource> NewLiveThreadSource(int32_t pid, int32_t tid);

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_THREAD_SOURCE_H_
