// The gate with the real counts and the real spool in a folder; the clock is the test's.
#include "diagnosis/seal/report_gate.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "base/clock.h"
#include "base/uuid.h"
#include "monitors/frame/frame_policy.h"
#include "monitors/incident/incident_tracker.h"
#include "report/report_encoder.h"
#include "uploader/spool/spool.h"

namespace jankbox {
namespace {

class ReportGateTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "jankbox-gate-XXXXXX").string();
    folder_ = mkdtemp(path.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ReportGate Gate(const RepeatLimits& limits = {}) {
    const auto ask = [](const ReportedIncident&, Report*) { return true; };
    return ReportGate(
        folder_, limits, [this] { return now_; }, ask, &refusals_);
  }
  static Report Incident(const std::string& fingerprint, uint64_t duration_ns = kNsPerSecond) {
    Report report;
    report.id = NewUuid(1);
    report.kind = ReportKind::kJank;
    report.fingerprint = fingerprint;
    report.duration_ns = duration_ns;
    return report;
  }
  RepeatState Book() const {
    std::ifstream file(folder_ + "/.repeats", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    RepeatState state;
    SpoolInstant look;
    EXPECT_TRUE(DecodeRepeats(bytes, &state, &look).ok());
    return state;
  }

  std::string folder_;
  SpoolInstant now_{1'700'000'000 * kNsPerSecond, 1000 * kNsPerSecond, "a boot"};
  Refusals refusals_;
};

Signal LateFrame(uint64_t end_ns, uint64_t late_ns) {
  Signal late;
  late.kind = SignalKind::kJank;
  late.begin_ns = end_ns - late_ns;
  late.end_ns = end_ns;
  late.what = "doFrame";
  late.dropped_frames = late_ns / kReferenceIntervalNs;
  late.frame_interval_ns = kReferenceIntervalNs;
  return late;
}

// An hour of a bad day: a frame is late every 360 ms, for one of 150 reasons, some far more often
// than others. Late frames go through the tracker, the gate, the counts and the spool.
TEST_F(ReportGateTest, TenThousandJanksInAnHour) {
  constexpr uint64_t kJanks = 10'000;
  constexpr uint32_t kCap = 100;
  ReportGate gate = Gate({.reports_a_day = kCap});
  const auto spool_clock = [this] { return now_; };
  Result<Spool> spool = Spool::Open(folder_, {.min_free_bytes = 0}, spool_clock);
  ASSERT_TRUE(spool.ok());
  std::mt19937_64 random(1);
  std::map<std::string, uint64_t> counts;
  uint64_t written = 0, refused = 0;
  std::string cause;
  IncidentTracker tracker([] { return NewUuid(1); },
                          [&](const IncidentRevision& incident) {
                            Report report = Incident(cause, incident.end_ns - incident.begin_ns);
                            report.id = incident.id;
                            report.revision = incident.revision;
                            ++counts[cause];
                            if (!gate.Admit({}, &report)) {
                              ++refused;
                              return;
                            }
                            ++written;
                            Result<SpoolWriter> file = spool->NewReport(report.id, 1000);
                            ASSERT_TRUE(file.ok());
                            ASSERT_TRUE(file->Write(SkippableFrame(EncodeReport(report))).ok());
                            ASSERT_TRUE(file->Seal().ok());
                          });
  uint64_t now_ns = 1000 * kNsPerSecond;
  for (uint64_t i = 0; i < kJanks; ++i) {
    now_ns += 360 * kNsPerMs;
    now_.boottime_ns = now_ns;
    now_.realtime_ns += 360 * kNsPerMs;
    // Squared: the first reasons are common, the last ones rare.
    const uint64_t draw = random() % 10'000;
    cause = "cause " + std::to_string(draw * draw * 150 / 100'000'000);
    const uint64_t late_ns = (150 + random() % 100) * kNsPerMs;
    tracker.OnSignal(LateFrame(now_ns, late_ns));
    tracker.Settle(now_ns, 0);
  }
  EXPECT_EQ(written, kCap);
  EXPECT_EQ(written + refused, kJanks);
  EXPECT_EQ(spool->Counts().value().written, kCap);
  const uint64_t capped = refusals_.count(RefusalReason::kDailyCap);
  const uint64_t repeated = refusals_.count(RefusalReason::kFingerprint);
  EXPECT_EQ(capped + repeated, refused);
  EXPECT_GT(capped, 0u);
  EXPECT_GT(repeated, 0u);
  EXPECT_EQ(refusals_.Counts().size(), 2u);
  const RepeatState book = Book();
  ASSERT_EQ(book.records.size(), counts.size());
  for (const RepeatRecord& record : book.records) {
    EXPECT_EQ(record.count, counts[record.fingerprint]) << record.fingerprint;
  }
  EXPECT_EQ(book.forgotten, 0u);
}

TEST_F(ReportGateTest, CapAndCountsHoldAcrossRestarts) {
  const RepeatLimits limits = {.reports_a_day = 2};
  Report report = Incident("a");
  EXPECT_TRUE(Gate(limits).Admit({}, &report));
  EXPECT_EQ(report.exemplar, "first");
  EXPECT_EQ(report.repeat_count, 1u);
  report = Incident("a", 10 * kNsPerSecond);
  EXPECT_TRUE(Gate(limits).Admit({}, &report));
  EXPECT_EQ(report.exemplar, "worst");
  report = Incident("b");
  EXPECT_FALSE(Gate(limits).Admit({}, &report));
  EXPECT_EQ(refusals_.count(RefusalReason::kDailyCap), 1u);
  // Another boot, and the wall clock says that a day is over.
  now_ = {now_.realtime_ns + 86'400 * kNsPerSecond, 5, "another boot"};
  report = Incident("b");
  EXPECT_TRUE(Gate(limits).Admit({}, &report));
  EXPECT_EQ(report.repeat_count, 2u);
  EXPECT_EQ(report.losses.suppressed_incidents, 1u);
}

TEST_F(ReportGateTest, SecondRevisionReplacesAndIsNotCounted) {
  ReportGate gate = Gate({.reports_a_day = 1});
  Report report = Incident("a");
  report.ongoing = true;
  EXPECT_TRUE(gate.Admit({}, &report));
  report.ongoing = false;
  report.revision = 2;
  report.fingerprint = "another";  // more samples, another path
  EXPECT_TRUE(gate.Admit({}, &report));
  EXPECT_EQ(Book().records.size(), 1u);
  EXPECT_EQ(Book().records[0].count, 1u);
  EXPECT_EQ(Book().written_today, 1u);
}

TEST_F(ReportGateTest, WhatCannotBeWrittenDoesNotFillTheDay) {
  ReportGate gate = Gate({.reports_a_day = 1});
  Report report = Incident("a");
  EXPECT_TRUE(gate.Admit({}, &report));
  gate.NotWritten(report.id);
  report = Incident("a");
  EXPECT_TRUE(gate.Admit({}, &report));
  EXPECT_EQ(report.losses.suppressed_incidents, 1u);
}

TEST_F(ReportGateTest, DamagedCountsStartAgain) {
  Report report = Incident("a");
  EXPECT_TRUE(Gate().Admit({}, &report));
  const std::string path = folder_ + "/.repeats";
  std::ifstream file(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    RepeatState state;
    SpoolInstant look;
    EXPECT_FALSE(DecodeRepeats(damaged, &state, &look).ok()) << at;
    EXPECT_FALSE(DecodeRepeats(whole.substr(0, at), &state, &look).ok()) << at;
  }
  std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() / 2);
  report = Incident("a");
  EXPECT_TRUE(Gate().Admit({}, &report));
  EXPECT_EQ(report.repeat_count, 1u);
}

TEST_F(ReportGateTest, FolderThatTakesNoFileCountsInMemory) {
  folder_ = "/proc/nowhere";
  ReportGate gate = Gate();
  Report report = Incident("a");
  EXPECT_TRUE(gate.Admit({}, &report));
  report = Incident("a");
  (void)gate.Admit({}, &report);
  EXPECT_EQ(report.repeat_count, 2u);
}

TEST_F(ReportGateTest, RepeatIsKnownByItsKindAndNameUntilItMayBeTheWorst) {
  ReportGate gate = Gate({.reports_a_day = 1});
  const auto incident = [](const char* what, uint64_t ms) {
    Report report = Incident(what, ms * kNsPerMs);
    report.what = what;
    return report;
  };
  const auto known = [&](const char* what, uint64_t ms, ReportKind kind = ReportKind::kJank,
                         uint32_t revision = 1) {
    SealRequest request;
    request.kind = kind;
    request.what = what;
    request.end_ns = ms * kNsPerMs;
    request.revision = revision;
    return gate.KnownRepeat(request).has_value();
  };
  Report first = incident("draw", 100), repeat = incident("draw", 100),
         layout = incident("layout", 100);
  EXPECT_FALSE(known("draw", 100));
  ASSERT_TRUE(gate.Admit({}, &first));
  EXPECT_FALSE(known("draw", 100)) << "the last one was written";
  ASSERT_FALSE(gate.Admit({}, &repeat));
  EXPECT_TRUE(known("draw", 125));
  EXPECT_FALSE(known("draw", 126)) << "perhaps the worst";
  EXPECT_FALSE(known("layout", 100));
  EXPECT_FALSE(known("draw", 100, ReportKind::kSlowMessage));
  EXPECT_FALSE(known("draw", 100, ReportKind::kJank, 2)) << "it replaces a report";
  ASSERT_FALSE(gate.Admit({}, &layout)) << "the day is full";
  EXPECT_TRUE(known("layout", 100));
}

TEST_F(ReportGateTest, TwoInARowOfOneCauseAreARepeatWhereEachIsWritten) {
  ReportGate gate = Gate({.every_incident = true});
  const auto admit = [&gate](const char* fingerprint) {
    Report report = Incident(fingerprint, 100 * kNsPerMs);
    report.what = "draw";
    ASSERT_TRUE(gate.Admit({}, &report));
  };
  SealRequest request;
  request.kind = ReportKind::kJank;
  request.what = "draw";
  request.end_ns = 100 * kNsPerMs;
  admit("a");
  EXPECT_FALSE(gate.KnownRepeat(request).has_value());
  admit("b");
  EXPECT_FALSE(gate.KnownRepeat(request).has_value()) << "the cause may change again";
  admit("b");
  EXPECT_TRUE(gate.KnownRepeat(request).has_value());
  admit("a");
  EXPECT_FALSE(gate.KnownRepeat(request).has_value());
}

TEST_F(ReportGateTest, WhatWasSparedIsCountedWithTheNextOneThatIsLookedAt) {
  ReportGate gate = Gate();
  Report first = Incident("a"), repeat = Incident("a", kNsPerMs);
  repeat.id = "01890a5d-ac96-774b-bcce-000000000001";  // never the random one
  ASSERT_TRUE(gate.Admit({}, &first));
  ASSERT_FALSE(gate.Admit({}, &repeat));
  SealRequest request;
  request.id = "b";
  request.kind = ReportKind::kJank;
  request.end_ns = kNsPerMs;
  for (int i = 0; i < 5; ++i) {
    const std::optional<Report> known = gate.KnownRepeat(request);
    ASSERT_TRUE(known.has_value());
    EXPECT_EQ(known->id, "b");
    EXPECT_EQ(known->fingerprint, "a");
    EXPECT_EQ(known->duration_ns, kNsPerMs);
    gate.Spared(*known);
  }
  EXPECT_EQ(refusals_.count(RefusalReason::kOverBudget), 5u);
  Report worst = Incident("a", 10 * kNsPerSecond);
  ASSERT_TRUE(gate.Admit({}, &worst));
  EXPECT_EQ(worst.repeat_count, 8u);
  EXPECT_EQ(worst.losses.suppressed_incidents, 6u);
}

TEST_F(ReportGateTest, VetoIsCountedAndForgotten) {
  bool wanted = false;
  std::string asked_place;
  ReportGate gate(
      folder_, {}, [this] { return now_; },
      [&](const ReportedIncident& incident, Report*) {
        asked_place = incident.place;
        return wanted;
      },
      &refusals_);
  Report report = Incident("a");
  EXPECT_FALSE(gate.Admit({"Feed::Bind"}, &report));
  EXPECT_EQ(asked_place, "Feed::Bind");
  EXPECT_EQ(refusals_.count(RefusalReason::kVeto), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/.repeats"));
  wanted = true;
  EXPECT_TRUE(gate.Admit({}, &report));
}

}  // namespace
}  // namespace jankbox
