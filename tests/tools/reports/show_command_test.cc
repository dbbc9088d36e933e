#include "tools/reports/show_command.h"

#include <gmock/gmock.h>

#include <sstream>

namespace jankbox::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

ReportView Sample(size_t frames) {
  ReportView view;
  view.id = "0195a3c2-7f01-7abc-8def-0123456789ab";
  view.kind = "slow message";
  view.duration_ms = 912;
  view.process = "app";
  view.pid = view.tid = 7;
  view.shares = {{"running", 608}, {"lock", 304}};
  view.summary = "It computed.";
  view.frames.push_back({"Decode", "[method]", "", true});
  for (size_t i = 1; i < frames; ++i) {
    view.frames.push_back({"f" + std::to_string(i), "libfoo.so", ""});
  }
  return view;
}

TEST(RenderReport, SaysWhatWhereAndWhy) {
  const std::string text = RenderReport({}, Sample(3), false, "0195a3c2");
  EXPECT_THAT(text, HasSubstr("slow message  912 ms  app (pid 7) · main thread (tid 7)\n"));
  EXPECT_THAT(text, HasSubstr("  It computed.\n"));
  EXPECT_THAT(text, HasSubstr("running 67 % (608 ms)"));
  EXPECT_THAT(text, HasSubstr("lock 33 % (304 ms)"));
  EXPECT_THAT(text, HasSubstr("   0 ▶ [method]   Decode\n"));
  EXPECT_THAT(text, HasSubstr("   1   libfoo.so  f1\n"));
  EXPECT_THAT(text, HasSubstr("Losses    nothing lost\n"));
  EXPECT_THAT(text, HasSubstr("jankbox export 0195a3c2 -o trace.pftrace"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(RenderReport, LongStackIsCutUnlessAllIsWanted) {
  EXPECT_THAT(RenderReport({}, Sample(20), false, "x"), HasSubstr("… 5 more (--all)\n"));
  EXPECT_THAT(RenderReport({}, Sample(20), false, "x"), Not(HasSubstr("f15")));
  EXPECT_THAT(RenderReport({}, Sample(20), true, "x"), HasSubstr("f19\n"));
  EXPECT_THAT(RenderReport({}, Sample(15), false, "x"), Not(HasSubstr("more (--all)")));
}

TEST(RenderReport, BothKeysAreShownWithWhatTheyRestOn) {
  ReportView view = Sample(1);
  view.fingerprint = "0011";
  EXPECT_THAT(RenderReport({}, view, false, "x"),
              testing::AllOf(HasSubstr("Identity  0011 (the same for every repeat)\n"),
                             Not(HasSubstr("Group"))));  // an older report
  view.basis = "message";
  view.group_key = "2233";
  view.provisional = true;
  const std::string text = RenderReport({}, view, false, "x");
  EXPECT_THAT(text, HasSubstr("Identity  0011 (the same for this message and cause; no stack)\n"));
  EXPECT_THAT(text,
              HasSubstr("Group     2233 (provisional: functions of the app have no names)\n"));
}

TEST(RenderReport, OnlyLossesThatAreNotZeroAreNamed) {
  ReportView view = Sample(1);
  view.losses = {{"lost samples", 3}, {"torn chunks", 1}};
  EXPECT_THAT(RenderReport({}, view, false, "x"),
              HasSubstr("Losses    3 lost samples, 1 torn chunks\n"));
}

TEST(RenderReport, EndOfAProcessIsShownWithItsEvidence) {
  ReportView view = Sample(1);
  view.kind = "exit";
  view.end_reason = "SIGSEGV";
  nlohmann::json report = {{"end_reason", "SIGSEGV"},
                           {"end_evidence", "wait status"},
                           {"ends", {{{"reason", "SIGTERM"}, {"count", 3}}}}};
  view.facts = ReportFacts(report);
  std::string text = RenderReport({}, view, false, "x");
  EXPECT_THAT(text, HasSubstr("exit  ended by SIGSEGV  app (pid 7)"));
  EXPECT_THAT(text, HasSubstr("End       ended by SIGSEGV (wait status)\n"));
  EXPECT_THAT(text, HasSubstr("          in this folder so far: SIGTERM 3\n"));
  view.end_reason = report["end_reason"] = "unknown";
  report["end_evidence"] = "";
  view.facts = ReportFacts(report);
  text = RenderReport({}, view, false, "x");
  EXPECT_THAT(text, HasSubstr("exit  ended without closing  app (pid 7)"));
  EXPECT_THAT(text, HasSubstr("End       ended without closing\n"));
}

TEST(RenderReport, TimeThatIsNoPartOfTheDurationIsShown) {
  ReportView view = Sample(1);
  view.facts = ReportFacts({{"held_ms", 3200.0}});
  EXPECT_THAT(RenderReport({}, view, false, "x"), HasSubstr("Stopped   3.2 s more passed"));
  view.facts = ReportFacts({{"held_ms", 0.0}});
  EXPECT_THAT(RenderReport({}, view, false, "x"), Not(HasSubstr("Stopped")));
}

TEST(RenderReport, CoverageIsShownOnlyIfPartOfTheIncidentIsMissing) {
  ReportView view = Sample(1);
  const auto shown = [&view](const nlohmann::json& covered_ms) {
    view.facts = ReportFacts({{"duration_ms", 912}, {"covered_ms", covered_ms}});
    return RenderReport({}, view, false, "x");
  };
  EXPECT_THAT(shown(312), HasSubstr("Covered   recorded events cover 312 ms of 912 ms\n"));
  EXPECT_THAT(shown(0), HasSubstr("Covered   recorded events cover 0.0 ms of 912 ms\n"));
  EXPECT_THAT(shown(911.9), Not(HasSubstr("Covered")));
  EXPECT_THAT(shown(nullptr), Not(HasSubstr("Covered")));  // a report of 0.1
}

TEST(RenderReport, MessagesBeforeAreSummedUpAndListedOnlyWhereAllIsWanted) {
  ReportView view = Sample(1);
  EXPECT_THAT(RenderReport({}, view, true, "x"), Not(HasSubstr("Before")));
  view.history =
      ViewReport({{"history",
                   {{"count", 412},
                    {"busy_ms", 1234.0},
                    {"left_out", 300},
                    {"longest", {{{"what", "draw"}, {"before_ms", 5000}, {"wall_ms", 80.0}}}},
                    {"last", {{{"wall_ms", 4.0}, {"before_ms", 9.0}, {"count", 7}}}}}}})
          .history;
  const std::string brief = RenderReport({}, view, false, "x");
  EXPECT_THAT(brief, HasSubstr("Before    412 messages, busy for 1.2 s\n"));
  EXPECT_THAT(brief, HasSubstr("longest: draw 80 ms (5.0 s before)\n"));
  EXPECT_THAT(brief, Not(HasSubstr("not listed")));
  const std::string all = RenderReport({}, view, true, "x");
  EXPECT_THAT(all, HasSubstr("300 earlier messages are not listed\n"));
  EXPECT_THAT(all, HasSubstr("a message x 7 4.0 ms (9.0 ms before)\n"));
}

TEST(RenderReport, PartsOfTheVerdictSayWhatTheyRestOn) {
  ReportView view = Sample(1);
  view.parts = {{600, "in page faults", "fault count", true},
                {304, "waiting for a lock", "hooks", false},
                {8, "on the CPU", "ftrace", false}};
  const std::string text = RenderReport({}, view, false, "x");
  EXPECT_THAT(text, HasSubstr("Verdict   600 ms in page faults (fault count, an estimate)\n"));
  EXPECT_THAT(text, HasSubstr("          304 ms waiting for a lock (hooks)\n"));
  EXPECT_THAT(text, Not(HasSubstr("on the CPU")));
}

TEST(RenderReport, EmptyReportIsStillReadable) {
  const std::string text = RenderReport({}, ViewReport(nlohmann::json::object()), false, "x");
  EXPECT_THAT(text, HasSubstr("It is unknown where the time went."));
  EXPECT_THAT(text, HasSubstr("No stack was sampled."));
}

TEST(RenderReport, AsciiStyleIsAscii) {
  for (char c : RenderReport({.unicode = false}, Sample(20), false, "x")) {
    EXPECT_GE(static_cast<signed char>(c), 0);
  }
}

}  // namespace
}  // namespace jankbox::tools
