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
  view.frames = {{"app_draw", "app", false}};
  return view;
}

TEST(IncidentLog, OneLineForEachIncident) {
  IncidentLog log{TextStyle{}};
  EXPECT_EQ(log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 1, "slow message", 912)),
            "slow message 912 ms in app (main): running 100 % — app_draw  [0195a3c2-7f01]");
  EXPECT_EQ(log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 1, "slow message", 912)), "");
}

TEST(IncidentLog, LaterRevisionIsGrowthNotASecondIncident) {
  IncidentLog log{TextStyle{}};
  log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 1, "slow message", 912));
  EXPECT_EQ(log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 2, "anr", 5000)),
            "slow message in app (main) grew to anr 5.0 s: running 100 % — app_draw  "
            "[0195a3c2-7f01]");
  EXPECT_EQ(log.Add(Incident("0195a3c2-7f01-7abc-8def-0123456789ab", 1, "slow message", 912)), "");
  EXPECT_EQ(log.Summary(), "1 incident (1 anr), worst 5.0 s");
}

TEST(IncidentLog, SummaryCountsKinds) {
  IncidentLog log{TextStyle{}};
  EXPECT_EQ(log.Summary(), "no incidents");
  log.Add(Incident("a", 1, "slow message", 912));
  log.Add(Incident("b", 1, "anr", 6000));
  log.Add(Incident("c", 1, "slow message", 1200));
  EXPECT_EQ(log.Summary(), "3 incidents (1 anr, 2 slow message), worst 6.0 s");
}

}  // namespace
}  // namespace jankbox::tools
