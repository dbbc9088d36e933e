#include "tools/merge/trace_line.h"

#include <gmock/gmock.h>

#include "tools/merge/marker_text.h"

namespace jankbox::tools {
namespace {

using traceproto::CapturedEvent;

CapturedEvent Parsed(const std::string& line, LineKind kind = LineKind::kEvent) {
  CapturedEvent event;
  bool counts = false;
  EXPECT_EQ(ParseTraceLine(line, &event, &counts), kind) << line;
  EXPECT_FALSE(counts) << line;
  return event;
}

TEST(TraceLine, NamesOfTasksMayHoldWhatTheFormatIsMadeOf) {
  for (const char* comm : {"a b", "x-1 (2) [0]", "(sd-pam)", "-", "kworker/u8:3", "12-34", "a: b",
                           "[ksoftirqd]", "tracing_mark"}) {
    const CapturedEvent event = Parsed(
        "  " + std::string(comm) + "-77   (   70) [012] d..2. 123.000456: tracing_mark_write: E");
    EXPECT_EQ(event.comm(), comm);
    EXPECT_EQ(event.event().pid(), 77u);
    EXPECT_EQ(event.tgid(), 70);
    EXPECT_EQ(event.cpu(), 12u);
    EXPECT_EQ(event.event().timestamp(), 123'000'456'000u);
  }
  EXPECT_EQ(Parsed("<...>-9 [000] 1.5: tracing_mark_write: E").comm(), "");
  EXPECT_EQ(Parsed("a-9 (-----) [000] .... 1.5: tracing_mark_write: E").tgid(), 0);
}

TEST(TraceLine, StampsBeyondTenHoursAndYears) {
  EXPECT_EQ(Parsed("a-1 [000] .... 36000.000001: tracing_mark_write: E").event().timestamp(),
            36'000'000'001'000u);
  EXPECT_EQ(Parsed("a-1 [000] .... 315360000.999999: tracing_mark_write: E").event().timestamp(),
            315'360'000'999'999'000u);
  EXPECT_EQ(Parsed("a-1 [000] .... 1.123456789: tracing_mark_write: E").event().timestamp(),
            1'123'456'789u);
  CapturedEvent event;
  bool counts = false;
  EXPECT_EQ(ParseTraceLine("a-1 [000] .... 99887766554: tracing_mark_write: E", &event, &counts),
            LineKind::kEvent);
  EXPECT_TRUE(counts);
}

TEST(TraceLine, SwitchesBetweenOddNames) {
  const CapturedEvent event = Parsed(
      "  a prev_pid=5-31 [001] d..2. 1.5: sched_switch: prev_comm=a prev_pid=5 prev_pid=31 "
      "prev_prio=120 prev_state=D|Z+ ==> next_comm=b ==> c next_pid=32 next_prio=-2");
  EXPECT_EQ(event.event().sched_switch().prev_comm(), "a prev_pid=5");
  EXPECT_EQ(event.event().sched_switch().prev_pid(), 31);
  EXPECT_EQ(event.event().sched_switch().prev_state(), 0x122);
  EXPECT_EQ(event.event().sched_switch().next_comm(), "b ==> c");
  EXPECT_EQ(event.event().sched_switch().next_pid(), 32);
  EXPECT_EQ(event.event().sched_switch().next_prio(), -2);
}

TEST(TraceLine, WhatIsNoEvent) {
  for (const char* line : {"", "# tracer: nop", "##### CPU 1 buffer started ####"}) {
    Parsed(line, LineKind::kComment);
  }
  Parsed("CPU:1 [LOST 12 EVENTS]", LineKind::kLostEvents);
  EXPECT_EQ(LostEvents("CPU:1 [LOST 12 EVENTS]"), 12u);
  EXPECT_EQ(LostEvents("CPU:1 [LOST EVENTS]"), 1u);
  for (const char* line : {"second line of a marker", "a-1 [000] ....", "-1 [00] .... 1.5: x: y",
                           "a-x [000] .... 1.5: x: y", "a-1 [000] .... 1.: x: y"}) {
    Parsed(line, LineKind::kContinuation);
  }
  EXPECT_EQ(Parsed("a-1 [000] .... 1.5: irq_handler_entry: irq=1").left_out(), "irq_handler_entry");
  EXPECT_EQ(Parsed("a-1 [000] .... 1.5: sched_switch: cut off").left_out(), "sched_switch");
}

TEST(TraceLine, WhatIsWrittenReadsBackTheSame) {
  for (const std::string& fields :
       {std::string("sched_switch: prev_comm=a b prev_pid=1 prev_prio=120 prev_state=R+ ==> "
                    "next_comm=- next_pid=2 next_prio=100"),
        std::string("sched_waking: comm=x y pid=3 prio=120 target_cpu=001"),
        std::string("sched_wakeup: comm=x pid=3 prio=120 target_cpu=011"),
        std::string("sched_wakeup_new: comm=x pid=3 prio=120 target_cpu=000"),
        std::string("sched_process_exit: comm=x pid=3 prio=120"),
        std::string("block_rq_issue: 254,1 WS 4096 () 2048 + 8 [jbd2/vda-8]"),
        std::string("block_rq_complete: 254,1 WS () 2048 + 8 [0]"),
        std::string("task_rename: pid=7 oldcomm=a b newcomm=c d oom_score_adj=-5"),
        std::string("task_newtask: pid=7 comm=a clone_flags=3d0f00 oom_score_adj=0"),
        std::string("tracing_mark_write: C|1|a b|-5")}) {
    const std::string line = "             a b-31    (   30) [001] .... 40000.000007: " + fields;
    const CapturedEvent event = Parsed(line);
    EXPECT_EQ(event.left_out(), "");
    EXPECT_EQ(TraceLine(event), line);
  }
}

TEST(TraceLine, KernelsOfTodayPrintMoreThanIsKept) {
  const CapturedEvent issue =
      Parsed("a-1 [000] .... 1.5: block_rq_issue: 254,1 WS 4096 () 2048 + 8 be,0,4 [jbd2/vda-8]");
  EXPECT_EQ(issue.event().block_rq_issue().comm(), "jbd2/vda-8");
  EXPECT_EQ(issue.event().block_rq_issue().dev(), (254u << 20) + 1);
  const CapturedEvent exited =
      Parsed("a-1 [000] .... 1.5: sched_process_exit: comm=a pid=1 prio=120 group_dead=true");
  EXPECT_EQ(exited.event().sched_process_exit().prio(), 120);
}

TEST(MarkerText, AllForms) {
  const auto counter = ParseMarkerText("C|12|queue|-5\n");
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->pid, 12);
  EXPECT_EQ(counter->name, "queue");
  EXPECT_EQ(counter->value, "-5");
  EXPECT_EQ(ParseMarkerText("B|12|a|b")->name, "a|b");
  EXPECT_EQ(ParseMarkerText("N|12|track|name")->name, "name");
  EXPECT_EQ(ParseMarkerText("E")->kind, 'E');
  EXPECT_EQ(ParseMarkerText("E|12|")->pid, 12);
  for (const char* text : {"", "\n", "Begin", "B", "B|", "X|1|a", "B|x|a"}) {
    EXPECT_FALSE(ParseMarkerText(text)) << text;
  }
  EXPECT_EQ(ParseClockText("jankbox clock 3 ticks 99 monotonic 12345\n"), 12345u);
  EXPECT_EQ(ParseClockText("trace_event_clock_sync: parent_ts=1.5\n"), 1'500'000'000u);
  EXPECT_FALSE(ParseClockText("trace_event_clock_sync: realtime_ts=1600000000000"));
}

}  // namespace
}  // namespace jankbox::tools
