#include "sdk/runtime/thread_source.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/recorded_process.h"
#include "monitors/anr/tracer_pid.h"
#include "tracer/interpose/bus_calls.h"
#include "tracer/interpose/lock_owner.h"

namespace jankbox {
namespace {

class LiveThreadSource final : public ThreadSource {
 public:
  LiveThreadSource(int32_t pid, int32_t tid) : pid_(pid), tid_(tid), probe_(tid) {}

  ThreadReading Read() override {
    ThreadReading reading = probe_.Read();
    const auto& futex = reading.futex;
    if (futex.address != 0) {
      const int32_t owner = OwnerOfFutex({futex.address, futex.operation, futex.value});
      const bool lives = owner > 0 && syscall(SYS_tgkill, pid_, owner, 0) == 0;
      reading.lock_owner_tid = lives ? owner : 0;
    }
    return reading;
  }
  WaitPeers PeersOf(const ThreadReading& reading, uint64_t begin_ticks) override {
    if (!RecordedProcess::IsThis()) return {};  // the descriptors are another process's
    WaitPeers found{PeerOfWait(reading), {}};
    if (found.peer.kind == WaitPeer::Kind::kNone) found.servers = ConnectedServers();
    for (WaitPeer* peer : {&found.peer, &found.servers[0], &found.servers[1], &found.servers[2]}) {
      if (peer->kind == WaitPeer::Kind::kBus) ReadLastBusDestination(begin_ticks, &peer->bus_name);
    }
    return found;
  }
  bool IsGone() override {
    if (syscall(SYS_tgkill, pid_, tid_, 0) != 0) return errno == ESRCH;
    // A main thread that ended by pthread_exit() stays while others live.
    return tid_ == pid_ && probe_.ReadState() == 'Z';
  }
  bool IsTraced() override { return TracerPidOf(tid_) != 0; }
  UiThreadReading ReadScheduling() override { return ReadUiThread(tid_); }
  AnrThreads TakeThreads() override { return TakeAnrThreads(tid_, kAnrStacksNs); }
  std::unique_ptr<StackSampler> NewSampler(int32_t tid,
                                           const StackSampler::Options& options) override {
    Result<std::unique_ptr<StackSampler>> sampler = StackSampler::Create(tid, options);
    return sampler.ok() ? std::move(sampler.value()) : nullptr;
  }

 private:
  const int32_t pid_;
  const int32_t tid_;
  ThreadProbe probe_;
};

}  // namespace

std::unique_ptr<ThreadSource> NewLiveThreadSource(int32_t pid, int32_t tid) {
  return std::make_unique<LiveThreadSource>(pid, tid);
}

}  // namespace jankbox
