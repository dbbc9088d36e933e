#include "diagnosis/verdict/kernel_spans.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>

namespace jankbox {
namespace {

using ::testing::ElementsAre;

constexpr int32_t kUi = 100;
constexpr int32_t kWorker = 101;
constexpr int64_t kSleeping = 1;
constexpr int64_t kDisk = 2;
constexpr int64_t kStopped = 4;
constexpr int64_t kTraced = 8;
constexpr int64_t kPreempted = 0x100;
constexpr uint64_t kMs = 1'000'000;

KernelEvent Event(uint64_t ms, KernelEventKind kind, int32_t tid) {
  KernelEvent event;
  event.time = ms * kMs;
  event.kind = kind;
  event.tid = tid;
  return event;
}

KernelEvent Leaves(uint64_t ms, int64_t state) {
  KernelEvent event = Event(ms, KernelEventKind::kSwitch, kUi);
  event.sched.prev_pid = kUi;
  event.sched.prev_state = state;
  return event;
}

KernelEvent Comes(uint64_t ms) {
  KernelEvent event = Event(ms, KernelEventKind::kSwitch, 0);
  event.sched.next_pid = kUi;
  return event;
}

KernelEvent WokenBy(uint64_t ms, int32_t tid, bool in_interrupt = false) {
  KernelEvent event = Event(ms, KernelEventKind::kWaking, tid);
  event.in_interrupt = in_interrupt;
  event.wake = {};
  event.wake.pid = kUi;
  return event;
}

std::vector<std::string> Spans(const KernelWindow& window, uint64_t from_ms = 0,
                               uint64_t to_ms = 1000) {
  constexpr const char* kStates[] = {"runs", "could run", "waits"};
  std::vector<std::string> lines;
  for (const ThreadSpan& span : KernelSpans(window, kUi, from_ms * kMs, to_ms * kMs)) {
    lines.push_back(std::to_string(span.from_ns / kMs) + "-" + std::to_string(span.to_ns / kMs) +
                    " " + kStates[static_cast<int>(span.state)] +
                    (span.uninterruptible ? " D" : "") + (span.own_request ? " request" : "") +
                    (span.woken_by_process ? " process" : "") + (span.stopped ? " stopped" : ""));
  }
  return lines;
}

KernelWindow Ftrace(std::vector<KernelEvent> events) {
  KernelWindow window;
  window.source = KernelWindow::Source::kFtrace;
  window.to_ns = 1000 * kMs;
  window.own_threads = {kWorker, kUi};
  window.events = std::move(events);
  return window;
}

TEST(KernelSpans, WaitEndsWithItsWakeUp) {
  EXPECT_THAT(Spans(Ftrace({Leaves(100, kSleeping), WokenBy(300, kWorker), Comes(320),
                            Leaves(400, kPreempted), Comes(500)})),
              ElementsAre("0-100 runs", "100-300 waits", "300-320 could run", "320-400 runs",
                          "400-500 could run", "500-1000 runs"));
}

TEST(KernelSpans, StateAndRequestsTellADisk) {
  EXPECT_THAT(
      Spans(Ftrace({Event(90, KernelEventKind::kBlockIssue, kUi), Leaves(100, kDisk),
                    Event(290, KernelEventKind::kBlockComplete, 0), WokenBy(300, 0, true),
                    Comes(300), Leaves(400, kSleeping)})),
      ElementsAre("0-100 runs", "100-300 waits D request", "300-400 runs", "400-1000 waits"));
}

TEST(KernelSpans, OnlyAUsersProcessOutsideOfInterruptsIsTheOtherEnd) {
  const auto woken_by = [](int32_t tid, bool in_interrupt) {
    return Spans(Ftrace({Leaves(100, kSleeping), WokenBy(300, tid, in_interrupt), Comes(300)}), 150,
                 250);
  };
  const int32_t another = getppid();
  EXPECT_THAT(woken_by(another, false), ElementsAre("100-300 waits process"));
  EXPECT_THAT(woken_by(another, true), ElementsAre("100-300 waits"));
  EXPECT_THAT(woken_by(kWorker, false), ElementsAre("100-300 waits"));
  EXPECT_THAT(woken_by(2, false), ElementsAre("100-300 waits"));  // kthreadd
  EXPECT_THAT(woken_by(0, false), ElementsAre("100-300 waits"));
}

TEST(KernelSpans, WhoeverLetsAStoppedThreadGoOnIsNotTheOtherEnd) {
  for (const int64_t state : {kStopped, kTraced}) {
    const KernelWindow window =
        Ftrace({Leaves(100, state), WokenBy(300, getppid()), Comes(300), Leaves(400, kSleeping)});
    EXPECT_THAT(Spans(window, 150, 350), ElementsAre("100-300 waits stopped", "300-400 runs"));
    EXPECT_EQ(KernelSpans(window, kUi, 150 * kMs, 250 * kMs).at(0).waker_tid, 0);
  }
}

TEST(KernelSpans, UnreportedEventIsLeftOut) {
  KernelWindow window = Ftrace({Comes(200), Leaves(300, kSleeping), WokenBy(500, kWorker),
                                Comes(500), WokenBy(700, kWorker), Comes(700)});
  // It came at 200 from nobody knows where, and at 700 without having left.
  EXPECT_THAT(Spans(window), ElementsAre("200-300 runs", "300-500 waits", "700-1000 runs"));
  window.events = {Leaves(300, kSleeping)};
  window.lost_events = 5;
  EXPECT_THAT(Spans(window), ElementsAre("300-1000 waits"));
  window.events.clear();
  EXPECT_THAT(Spans(window), ElementsAre());
}

TEST(KernelSpans, ThreadThatActsOrLeavesIsOnACpuThoughItsArrivalWasMissed) {
  // Neither its wake-up nor its arrival: nobody knows how long it waited.
  EXPECT_THAT(Spans(Ftrace({Leaves(100, kSleeping), Leaves(300, kSleeping), WokenBy(400, kWorker),
                            Comes(400)})),
              ElementsAre("0-100 runs", "300-400 waits", "400-1000 runs"));
  EXPECT_THAT(Spans(Ftrace({Leaves(100, kPreempted), Leaves(300, kSleeping)})),
              ElementsAre("0-100 runs", "300-1000 waits"));
  // Its wake-up alone.
  EXPECT_THAT(
      Spans(Ftrace({Leaves(100, kSleeping), WokenBy(200, kWorker), Leaves(300, kSleeping)})),
      ElementsAre("0-100 runs", "100-200 waits", "200-300 runs", "300-1000 waits"));
  EXPECT_THAT(Spans(Ftrace({Leaves(100, kSleeping), Event(250, KernelEventKind::kPageFault, kUi),
                            Leaves(300, kSleeping)})),
              ElementsAre("0-100 runs", "250-300 runs", "300-1000 waits"));
}

TEST(KernelSpans, SecondWakeUpOfAWaitTellsThatItRanAndSleptAgainUnseen) {
  // Not "ready to run" from 110 to 400: its arrival and its leaving were missed.
  EXPECT_THAT(Spans(Ftrace({Comes(0), Leaves(100, kSleeping), WokenBy(110, kWorker),
                            WokenBy(390, kWorker), Comes(400)})),
              ElementsAre("0-100 runs", "100-110 waits", "390-400 could run", "400-1000 runs"));
  EXPECT_THAT(Spans(Ftrace({WokenBy(110, kWorker), WokenBy(390, kWorker), Comes(400)})),
              ElementsAre("0-110 waits", "390-400 could run", "400-1000 runs"));
  // One that was preempted on its way to sleep may be woken where it stands.
  EXPECT_THAT(Spans(Ftrace({Comes(0), Leaves(100, kPreempted), WokenBy(200, kWorker), Comes(300)})),
              ElementsAre("0-100 runs", "100-300 could run", "300-1000 runs"));
}

TEST(KernelSpans, OwnSwitchesTellPreemptionsAndWaits) {
  KernelWindow window;
  window.source = KernelWindow::Source::kOwnSwitches;
  window.to_ns = 1000 * kMs;
  window.off_cpu = {{kUi, 100 * kMs, 300 * kMs, false},
                    {kUi, 400 * kMs, 500 * kMs, true},
                    {kWorker, 0, 1000 * kMs, false}};
  EXPECT_THAT(Spans(window), ElementsAre("0-100 runs", "100-300 waits", "300-400 runs",
                                         "400-500 could run", "500-1000 runs"));
}

CpuRival Rival(uint64_t from_ms, uint64_t to_ms, int32_t tid, const char* name, bool own) {
  CpuRival rival{from_ms * kMs, to_ms * kMs, kUi, tid, own, {}};
  strncpy(rival.name, name, sizeof(rival.name) - 1);
  return rival;
}

TEST(RivalsOf, CountsOwnThreadsAndNamesOthers) {
  KernelWindow window;
  const auto rivals = [&] { return RivalsOf(window, kUi, 0, 1000 * kMs); };
  EXPECT_EQ(rivals(), "");
  window.rivals = {Rival(0, 100, 7, "gcc", false)};
  EXPECT_EQ(rivals(), "'gcc' of another");
  window.rivals.push_back(Rival(100, 400, kWorker, "w", true));
  window.rivals.push_back(Rival(400, 500, 102, "w", true));
  EXPECT_EQ(rivals(), "2 threads of this process, 'gcc' of another");
  window.rivals.push_back(Rival(500, 900, 8, "as", false));
  window.rivals.push_back(Rival(900, 901, 9, "ld", false));
  EXPECT_EQ(rivals(), "2 threads of this process, 'as', 'gcc' of others");
}

}  // namespace
}  // namespace jankbox
