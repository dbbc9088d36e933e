#include "tests/monitors/looper/sequences/replay.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "monitors/looper/loop_dispatches.h"
#include "tests/monitors/looper/sequences/replayed_modules.h"

namespace jankbox {
namespace {

// The options slow_ms and anr_ms, as they are by default: a start-up is an incident by the latter.
constexpr uint64_t kSlowUs = 700'000;
constexpr uint64_t kSlowStartUpUs = 5'000'000;
// Waits for a display's replies are short, and belong to a dispatch.
constexpr uint64_t kIdleUs = 200'000;

// The main thread's stack: the words that DecideWait() may read have their recorded values.
class ReplayedStack {
 public:
  ReplayedStack() {
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) abort();
    end_ = static_cast<uintptr_t*>(memory) + kMaxRecordedDepth;
  }
  ~ReplayedStack() { munmap(end_ - kMaxRecordedDepth, kBytes); }
  ReplayedStack(const ReplayedStack&) = delete;
  ReplayedStack& operator=(const ReplayedStack&) = delete;

  uintptr_t* At(size_t depth) const { return end_ - depth; }

  void SetWords(const RecordedEvent& wait) {
    for (const ChangedWord& word : wait.words) {
      *At(word.depth) = ReplayedModules::Word(word.value, word.function);
    }
    if (wait.qt_frame == 0) return;
    uintptr_t* frame = At(wait.depth) + wait.qt_frame - 1;
    if (*frame == 0) *frame = ReplayedModules::QtWord();
  }

 private:
  // What is above the end is never written, but may be read.
  static constexpr size_t kBytes = (kMaxRecordedDepth + kRecordedCallerWords) * sizeof(uintptr_t);
  uintptr_t* end_;
};

// What LoopDispatches reports.
struct Reported {
  size_t event = 0;  // that is replayed now
  bool runs = false;
  ReplayedDispatch running{};
  std::vector<ReplayedDispatch> ended;
};
Reported* g_reported = nullptr;

void Begin(const char* what, uint64_t /*begin_ns*/) {
  g_reported->runs = true;
  g_reported->running = {g_reported->event, 0,
                         what != nullptr && std::string_view(what) == kStartUpName};
}

void End() {
  if (!g_reported->runs) return;
  g_reported->runs = false;
  g_reported->running.end = g_reported->event;
  g_reported->ended.push_back(g_reported->running);
}

constexpr DispatchCalls kCalls = {Begin, End, [](const char*) {}};

WaitCall CallOf(const RecordedEvent& wait, const RecordedCall& call, const ReplayedStack& stack) {
  WaitCall made;
  made.call_site = ReplayedModules::CallSite(wait.site);
  made.stack = stack.At(wait.depth);
  made.family = call.family;
  made.fd = call.fd;
  made.fds = call.fds.data();
  made.fd_count = call.fds.size();
  made.fd_stride = sizeof(int);
  made.returns_at_once = call.returns_at_once;
  for (int i = 0; i < 3; ++i) made.sets[i] = call.has_set[i] ? &call.sets[i] : nullptr;
  made.set_bits = call.set_bits;
  made.pump_name = call.pump.c_str();
  return made;
}

// A part of a run, without the stalls that are marked in it.
struct Span {
  uint64_t us = 0;
  uint64_t work_us = 0;
  uint64_t stalled_us = 0;
};

Span SpanOf(const RecordedRun& run, size_t begin, size_t end) {
  Span span;
  bool stalled = false;
  for (size_t i = 0; i < end; ++i) {
    if (run.events[i].kind == WaitRecord::kStallBegin) stalled = true;
    if (run.events[i].kind == WaitRecord::kStallEnd) stalled = false;
    if (i < begin) continue;
    const uint64_t us = run.events[i + 1].at_us - run.events[i].at_us;
    (stalled ? span.stalled_us : span.us) += us;
    if (!stalled) span.work_us += run.events[i + 1].work_us - run.events[i].work_us;
  }
  return span;
}

std::string Line(const RecordedRun& run, std::string_view what, uint64_t at_us, uint64_t us) {
  return run.program + ", " + run.name + ": " + std::string(what) + " of " +
         std::to_string(us / 1000) + " ms at " + std::to_string(at_us / 1000) + " ms";
}

void JudgeDispatch(const RecordedRun& run, const ReplayedDispatch& dispatch, Judgement* judgement) {
  const Span span = SpanOf(run, dispatch.begin, dispatch.end);
  const uint64_t idle_us = span.us - std::min(span.work_us, span.us);
  if (span.us <= (dispatch.starts_up ? kSlowStartUpUs : kSlowUs) || idle_us <= kIdleUs) return;
  judgement->mistaken.push_back(Line(run, dispatch.starts_up ? "start-up" : "dispatch",
                                     run.events[dispatch.begin].at_us, span.us + span.stalled_us) +
                                ", idle " + std::to_string(idle_us / 1000) + " ms");
}

void JudgeStall(const RecordedRun& run, const ReplayedRun& replayed, size_t begin, size_t end,
                Judgement* judgement) {
  const uint64_t us = run.events[end].at_us - run.events[begin].at_us;
  uint64_t covered_us = 0;
  for (const ReplayedDispatch& dispatch : replayed.dispatches) {
    const size_t first = std::max(dispatch.begin, begin);
    const size_t last = std::min(dispatch.end, end);
    if (first >= last) continue;
    covered_us = std::max(covered_us, run.events[last].at_us - run.events[first].at_us);
  }
  ++judgement->planted;
  if (covered_us * 10 >= us * 8) {
    ++judgement->found;
  } else {
    judgement->missed.push_back(Line(run, "stall", run.events[begin].at_us, us) + ", seen " +
                                std::to_string(covered_us / 1000) + " ms");
  }
}

}  // namespace

ReplayedRun Replay(const RecordedRun& run) {
  ReplayedModules::Load(run);
  LoopWaits::SetTerminals(0);
  ReplayedStack stack;
  Reported reported;
  g_reported = &reported;
  LoopDispatches dispatches;
  ReplayedRun replayed;
  bool own = false;
  for (; reported.event < run.events.size(); ++reported.event) {
    const RecordedEvent& event = run.events[reported.event];
    if (event.kind == WaitRecord::kTerminals) LoopWaits::SetTerminals(event.terminals);
    if (event.kind == WaitRecord::kWait) {
      stack.SetWords(event);
      own = dispatches.OnWait(CallOf(event, run.calls[event.call], stack), &kCalls);
      replayed.own_waits += own ? 1 : 0;
    }
    if (event.kind == WaitRecord::kReturn && own) {
      own = false;
      dispatches.OnWaitDone(&kCalls);
    }
    if (event.kind == WaitRecord::kEnd) dispatches.Finish(&kCalls);
  }
  LoopWaits::SetTerminals(0);
  replayed.loop = dispatches.loop_name();
  replayed.dispatches = std::move(reported.ended);
  g_reported = nullptr;
  return replayed;
}

Judgement Judge(const RecordedRun& run, const ReplayedRun& replayed) {
  Judgement judgement;
  for (const ReplayedDispatch& dispatch : replayed.dispatches) {
    if (run.events[dispatch.end].at_us - run.events[dispatch.begin].at_us > kSlowUs) {
      JudgeDispatch(run, dispatch, &judgement);
    }
  }
  size_t begin = 0;
  for (size_t i = 0; i < run.events.size(); ++i) {
    if (run.events[i].kind == WaitRecord::kStallBegin) begin = i;
    if (run.events[i].kind == WaitRecord::kStallEnd)
      JudgeStall(run, replayed, begin, i, &judgement);
  }
  return judgement;
}

}  // namespace jankbox
