#include "tools/run/incident_log.h"

#include <gtest/gtest.h>

namespace jankbox::tools {
namespace {

ReportView Incident(const std::string& id, uint64_t revision, const char* kind, double ms) {
  ReportView view;
  view.id = id;
  view.revision = revision;
  view.kind = kind;
  view.duration_ms = ms;
  view.process = "app";
  view.pid = view.tid = 7;
  view.shares = {{"running", ms}};
  view.frames = {{"app_draw", "app", ""}};
  return view;
}

TEST(IncidentLog, OneLineForEachIncident) {
  IncidentLog log{TextStyle{}};
  EXPECT_EQ(log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 1, "slow message", 912), 1),
            "slow message 912 ms in app (main): running 100 % — app_draw  [0195a3c2-7f01]");
  EXPECT_EQ(log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 1, "slow message", 912), 1),
            "");
}

TEST(IncidentLog, LaterRevisionIsGrowthNotASecondIncident) {
  IncidentLog log{TextStyle{}};
  log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 1, "slow message", 912), 1);
  EXPECT_EQ(log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 2, "anr", 5000), 1),
            "slow message in app (main) grew to anr 5.0 s: running 100 % — app_draw  "
            "[0195a3c2-7f01]");
  EXPECT_EQ(log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 1, "slow message", 912), 1),
            "");
  EXPECT_EQ(log.Summary(), "1 incident (1 anr), worst 5.0 s");
}

TEST(IncidentLog, IncidentsAlikeShareALine) {
  IncidentLog log{TextStyle{}};
  const auto add = [&log](int number, const char* fingerprint, uint64_t seconds) {
    ReportView view = Incident("000" + std::to_string(number), 1, "slow message", 200);
    view.fingerprint = fingerprint;
    return log.Add(view, seconds * kNsPerSecond);
  };
  EXPECT_NE(add(1, "one", 100), "");
  EXPECT_EQ(add(2, "one", 101), "");
  EXPECT_EQ(add(3, "one", 104), "");
  EXPECT_NE(add(4, "other", 104), "");
  EXPECT_EQ(add(5, "one", 105),
            "slow message 200 ms in app (main): running 100 % — app_draw  [0005] (+2 like it)");
  EXPECT_EQ(add(6, "one", 106), "");
  EXPECT_EQ(log.Summary(), "6 incidents (6 slow message), worst 200 ms");
}

TEST(IncidentLog, IncidentsWithoutAReportAreInTheSummary) {
  IncidentLog log{TextStyle{}};
  log.AddCounted("8\t1");
  const std::string why =
      "only counted: such ones were known, and the CPU budget was used up "
      "(JANKBOX_OPTIONS=cpu_budget_permille=none reports each)";
  EXPECT_EQ(log.Summary(), "1 incident, " + why);
  log.AddCounted("7\t40");
  log.AddCounted("7\t96");
  log.AddCounted("7\t-1");
  log.AddCounted("7");
  log.Add(Incident("0001", 1, "slow message", 912), 1);
  EXPECT_EQ(log.Summary(), "1 incident (1 slow message), worst 912 ms, and 97 more " + why);
}

TEST(IncidentLog, EndOfAProcessSaysItsReasonAndHasNoLength) {
  IncidentLog log{TextStyle{}};
  ReportView ended = Incident("a", 1, "exit", 30);
  ended.end_reason = "SIGSEGV";
  EXPECT_EQ(log.Add(ended, 1), "exit in app (main): ended by SIGSEGV — app_draw  [a]");
  ended.id = "b";
  ended.fingerprint = "another";
  ended.end_reason = "unknown";
  EXPECT_EQ(log.Add(ended, 1), "exit in app (main): ended without closing — app_draw  [b]");
  EXPECT_EQ(log.Summary(), "2 incidents (2 exit)");
}

TEST(IncidentLog, SummaryCountsKinds) {
  IncidentLog log{TextStyle{}};
  EXPECT_EQ(log.Summary(), "no incidents");
  log.Add(Incident("a", 1, "slow message", 912), 1);
  log.Add(Incident("b", 1, "anr", 6000), 1);
  log.Add(Incident("c", 1, "slow message", 1200), 1);
  EXPECT_EQ(log.Summary(), "3 incidents (1 anr, 2 slow message), worst 6.0 s");
}

}  // namespace
}  // namespace jankbox::tools
