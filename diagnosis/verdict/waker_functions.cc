#include "diagnosis/verdict/waker_functions.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/compact_sort.h"
#include "diagnosis/blame/blame.h"
#include "diagnosis/blame/blamed_stack.h"
#include "tracer/event/marker_text.h"
#include "tracer/snapshot/thread_events.h"

namespace jankbox {
namespace {

constexpr uint64_t kBeforeTheWakeNs = 5 * kNsPerMs;  // what the waker did then, it did for this

struct Moment {
  uint64_t ticks = 0;
  std::string* function = nullptr;  // set if it is known
};

// The innermost call of one thread at each of some moments, else the last one that ended shortly
// before.
class CallsAtMoments : public ThreadEventSink {
 public:
  // `moments` by time.
  CallsAtMoments(const MethodNames& methods, std::vector<Moment> moments, uint64_t shortly_ticks)
      : methods_(methods), moments_(std::move(moments)), shortly_ticks_(shortly_ticks) {}

  void Begin(const EventRecord& call, uint64_t ticks, uint32_t /*notes*/) override {
    AnswerBefore(ticks);
    open_.push_back(call);
  }
  void End(const EventRecord& /*call*/, uint64_t ticks, uint32_t notes) override {
    AnswerBefore((notes & kOpenAtWindowEnd) != 0 ? UINT64_MAX : ticks);
    if (open_.empty()) return;
    if (IsCall(open_.back())) {
      last_ = open_.back();
      last_ticks_ = ticks;
    }
    open_.pop_back();
  }
  void Instant(uint32_t /*id*/, uint64_t /*ticks*/) override {}
  void Record(const EventRecord& /*record*/) override {}
  bool Stopped() const override { return next_ == moments_.size(); }

  void Finish() { AnswerBefore(UINT64_MAX); }

 private:
  // A wait is no call of the app.
  static bool IsCall(const EventRecord& call) { return call.kind != EventKind::kWait; }

  void AnswerBefore(uint64_t ticks) {
    for (; next_ < moments_.size() && moments_[next_].ticks < ticks; ++next_) {
      *moments_[next_].function = FunctionAt(moments_[next_].ticks);
    }
  }

  std::string FunctionAt(uint64_t ticks) const {
    const auto open = std::find_if(open_.rbegin(), open_.rend(), IsCall);
    if (open != open_.rend()) return NameOf(*open);
    const bool shortly = last_.kind != EventKind::kNone && last_ticks_ + shortly_ticks_ >= ticks;
    return shortly ? NameOf(last_) : "";
  }

  std::string NameOf(const EventRecord& call) const {
    if (call.kind == EventKind::kDispatchBegin) return DispatchName(call);
    if (call.kind != EventKind::kMarker) return methods_.NameOf(call.id);
    const std::string text = MarkerText(call);
    return std::string(ParseMarker(text).name);
  }

  const MethodNames& methods_;
  const std::vector<Moment> moments_;
  const uint64_t shortly_ticks_;
  size_t next_ = 0;
  std::vector<EventRecord> open_;
  EventRecord last_;  // that ended
  uint64_t last_ticks_ = 0;
};

void AskCalls(const VerdictWindow& source, int32_t tid, const std::vector<Moment>& moments,
              uint64_t shortly_ticks) {
  // A tid that was given again has two threads in the window: the later one's answers count.
  for (const WindowThread& thread : source.window->threads) {
    if (thread.tid != tid) continue;
    std::vector<Moment> of_thread;
    for (const Moment& moment : moments) {
      if (moment.ticks >= FirstTicks(thread)) of_thread.push_back(moment);
    }
    CallsAtMoments calls(*source.methods, std::move(of_thread), shortly_ticks);
    ThreadEvents(source.window->from_ticks, source.window->to_ticks, &calls).Walk(thread);
    calls.Finish();
  }
}

void AskSamples(const VerdictWindow& source, int32_t tid, const std::vector<Moment>& moments,
                uint64_t shortly_ticks) {
  const std::vector<StackSample> samples = SamplesOf(*source.window, tid);
  for (const Moment& moment : moments) {
    if (!moment.function->empty()) continue;
    const auto after = std::upper_bound(
        samples.begin(), samples.end(), moment.ticks,
        [](uint64_t ticks, const StackSample& sample) { return ticks < sample.time_ns; });
    if (after == samples.begin() || std::prev(after)->time_ns + shortly_ticks < moment.ticks) {
      continue;
    }
    *moment.function = FindBlamedStack({*std::prev(after)}, *source.frames, 1).where;
  }
}

}  // namespace

void SetWakerFunctions(const VerdictWindow& source, std::vector<WakeUp>* wake_ups) {
  std::map<int32_t, std::vector<Moment>> by_tid;
  for (WakeUp& wake_up : *wake_ups) {
    if (wake_up.waker_tid == 0) continue;
    by_tid[wake_up.waker_tid].push_back(
        {source.clock.FromMonotonicNs(wake_up.by_ns), &wake_up.function});
  }
  const double ns_per_tick = std::max(source.clock.ns_per_tick(), 1e-9);
  const auto shortly_ticks =
      static_cast<uint64_t>(static_cast<double>(kBeforeTheWakeNs) / ns_per_tick);
  for (auto& [tid, moments] : by_tid) {
    CompactSort(&moments, [](const Moment& a, const Moment& b) { return a.ticks < b.ticks; });
    AskCalls(source, tid, moments, shortly_ticks);
    AskSamples(source, tid, moments, shortly_ticks);
  }
}

}  // namespace jankbox
