#include "diagnosis/seal/anr_threads.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "diagnosis/seal/wait_for_graph.h"
#include "monitors/incident/wait_reason.h"
#include "tracer/event/event_sink.h"
#include "tracer/event/marker_text.h"
#include "tracer/interpose/lock_owner.h"
#include "tracer/ring/ring_reader.h"
#include "tracer/sampling/fd_class.h"
#include "tracer/sampling/sample_event.h"
#include "tracer/snapshot/aside_events.h"

namespace jankbox {
namespace {

constexpr size_t kMaxListed = 256;
constexpr size_t kMaxStacks = 64;
// Of a stack in the report, which has to stay below a mebibyte; the trace has all.
constexpr size_t kMaxFrames = 24;
constexpr size_t kMaxNameBytes = 256;
constexpr char kWatcherName[] = "jankbox-watch";
constexpr char kDeadlock[] = "deadlock: ";

const char* WaitName(const ThreadLook& look) {
  if (look.call.running || look.state == 'R') return "running";
  const auto number = static_cast<int32_t>(look.call.number);
  BlockedCall call{.state = look.state, .number = number};
  call.second_argument = look.call.second_argument;
  if (TakesFd(number)) call.fd_class = ClassifyFd(look.call.first_argument);
  switch (ClassifyWait(call)) {
    case WaitReason::kLock:
      return "lock";
    case WaitReason::kDisk:
      return "disk";
    case WaitReason::kSleeping:
      return "sleeping";
    default:
      return "blocked";
  }
}

// This process, as it is now.
class LiveThreads final : public AnrThreadsSource {
 public:
  std::vector<ThreadLook> Threads(size_t most, size_t* total) override {
    return LookAtThreads(most, total);
  }
  int32_t OwnerOf(const ThreadLook& look) override {
    if (look.call.running || look.call.number != SYS_futex) return 0;
    return OwnerOfFutex({look.call.first_argument, static_cast<uint32_t>(look.call.second_argument),
                         static_cast<uint32_t>(look.call.third_argument)});
  }
  bool TakeStack(int32_t tid, StackSample* sample) override {
    if (!taker_) taker_.emplace();
    return taker_->Take(tid, sample);
  }
  uint64_t NowNs() override { return MonotonicNs(); }

 private:
  std::optional<StackTaker> taker_;
};

bool IsOurs(const std::string& name) { return name.rfind("jankbox-", 0) == 0; }

bool Lists(const std::vector<size_t>& indices, size_t index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

// The order in which stacks are taken: the thread itself, whom it waits for, who is deadlocked, the
// rest.
std::vector<size_t> OrderOf(const std::vector<WaitingThread>& threads, int32_t tid,
                            const std::vector<std::vector<size_t>>& circles) {
  std::vector<size_t> order;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (threads[i].tid == tid) order.push_back(i);
  }
  std::vector<std::vector<size_t>> groups = circles;
  groups.insert(groups.begin(), OwnersOf(threads, tid));
  groups.emplace_back();
  for (size_t i = 0; i < threads.size(); ++i) groups.back().push_back(i);
  for (const std::vector<size_t>& group : groups) {
    for (const size_t i : group) {
      if (!Lists(order, i)) order.push_back(i);
    }
  }
  return order;
}

}  // namespace

AnrThreads TakeAnrThreads(int32_t tid, uint64_t stacks_ns) {
  LiveThreads threads;
  return TakeAnrThreads(tid, stacks_ns, &threads);
}

AnrThreads TakeAnrThreads(int32_t tid, uint64_t stacks_ns, AnrThreadsSource* source) {
  AnrThreads taken;
  size_t total = 0;
  std::vector<ThreadLook> looks = source->Threads(kMaxListed, &total);
  taken.not_listed = static_cast<uint32_t>(total - std::min(total, kMaxListed));
  std::erase_if(looks, [](const ThreadLook& look) { return IsOurs(look.name); });
  std::vector<WaitingThread> waiting;
  for (const ThreadLook& look : looks) {
    waiting.push_back({look.tid, source->OwnerOf(look), look.name});
  }
  const std::vector<std::vector<size_t>> circles = FindDeadlocks(waiting);
  for (const std::vector<size_t>& circle : circles) {
    taken.deadlocks.push_back(DeadlockSentence(waiting, circle));
  }
  const uint64_t deadline_ns = source->NowNs() + stacks_ns;
  for (const size_t i : OrderOf(waiting, tid, circles)) {
    AnrThread thread;
    thread.told.tid = looks[i].tid;
    thread.told.name = looks[i].name;
    thread.told.state = std::string(1, looks[i].state);
    thread.told.wait = WaitName(looks[i]);
    thread.told.waits_for_tid = waiting[i].waits_for;
    for (const auto& circle : circles) thread.told.deadlocked |= Lists(circle, i);
    StackSample sample;
    if (taken.stacks.size() < kMaxStacks && source->NowNs() < deadline_ns &&
        source->TakeStack(looks[i].tid, &sample)) {
      thread.stack = taken.stacks.size();
      taken.stacks.push_back(sample);
    } else {
      ++taken.left_out;
    }
    taken.threads.push_back(std::move(thread));
  }
  return taken;
}

void RecordAnrThreads(const AnrThreads& threads, const TickConverter& clock) {
  const uint64_t ticks = clock.FromMonotonicNs(MonotonicNs());
  for (const StackSample& sample : threads.stacks) {
    uint64_t words[kMaxSamplePayloadWords];
    const uint32_t count = EncodeSample(sample, words);
    RecordEventAt(EventKind::kStackSample, count, ticks, {words, count});
  }
  for (const std::string& deadlock : threads.deadlocks) {
    RecordMarker("I|" + std::to_string(getpid()) + "|" + deadlock);
  }
}

std::vector<std::string> DeadlocksOf(const RingWindow& window, uint64_t from_ticks) {
  std::vector<std::string> deadlocks;
  for (const WindowThread& thread : window.threads) {
    if (thread.name != kWatcherName) continue;
    for (const WindowChunk& chunk : thread.markers) {
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) {
        if (record.kind != EventKind::kMarker || record.ticks < from_ticks) continue;
        const std::string text = MarkerText(record);
        const MarkerParts marker = ParseMarker(text);
        if (marker.kind != MarkerKind::kInstant || !marker.name.starts_with(kDeadlock)) continue;
        const std::string sentence(marker.name);
        if (std::find(deadlocks.begin(), deadlocks.end(), sentence) == deadlocks.end()) {
          deadlocks.push_back(sentence);
        }
      }
    }
  }
  return deadlocks;
}

std::vector<ReportThreadAtAnr> ToReport(const AnrThreads& threads, const FrameTable& frames) {
  std::vector<ReportThreadAtAnr> told;
  for (const AnrThread& thread : threads.threads) {
    told.push_back(thread.told);
    if (thread.stack == SIZE_MAX) continue;
    const StackSample& sample = threads.stacks[thread.stack];
    for (uint32_t i = 0; i < sample.depth && i < kMaxFrames; ++i) {
      const auto frame = frames.find(sample.pcs[i]);
      if (frame == frames.end()) continue;
      told.back().frames.push_back({frame->second.function.substr(0, kMaxNameBytes),
                                    frame->second.module, frame->second.rel_pc,
                                    frame->second.build_id});
    }
  }
  return told;
}

}  // namespace jankbox
