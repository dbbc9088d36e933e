// The incident as the trace of a sealed report shows it, read by the strict reader; and the
// sentence that names it.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "diagnosis/seal/report_builder.h"
#include "diagnosis/seal/trace_incident.h"
#include "tests/fakes/fake_ring.h"
#include "tests/fakes/fake_window.h"
#include "tests/perfetto/trace_reader.h"
#include "tests/uploader/temporary_folder.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr int32_t kUi = 7;
constexpr uint64_t kMs = kNsPerMs;
constexpr uint64_t kOffset = 3 * kNsPerSecond;
constexpr char kId[] = "01890a5d-ac96-774b-bcce-b302099a8057";

Report SlowMessage() {
  Report report;
  report.kind = ReportKind::kSlowMessage;
  report.duration_ns = 904 * kMs;
  report.what = "Handler: 7";
  report.verdict.disk_ns = 551 * kMs;
  report.verdict.running_ns = 353 * kMs;
  return report;
}

TEST(IncidentSentence, HasKindDurationCauseAndPlace) {
  EXPECT_EQ(IncidentSentence(SlowMessage(), "SavePreferences"),
            "slow message 904 ms: 61 % disk, in SavePreferences");
}

TEST(IncidentSentence, MessageStandsInForAPlaceThatIsNotKnown) {
  EXPECT_EQ(IncidentSentence(SlowMessage(), ""), "slow message 904 ms: 61 % disk, in Handler: 7");
  Report manual;
  manual.kind = ReportKind::kManual;
  manual.what = "checkout";
  EXPECT_EQ(IncidentSentence(manual, ""), "manual: checkout");
}

TEST(IncidentSentence, NamesTheEndOfTheProcess) {
  Report report = SlowMessage();
  report.kind = ReportKind::kAnr;
  report.duration_ns = 12'345 * kMs;
  report.end_reason = "SIGKILL";
  EXPECT_EQ(IncidentSentence(report, "Load"), "ANR (SIGKILL) 12.3 s: 61 % disk, in Load");
}

class IncidentTraceTest : public ::testing::Test {
 protected:
  IncidentTraceTest()
      : reader_(ring_.file()->base(), ring_.file()->bytes()),
        spool_(Spool::Open(folder_.path(), {.min_free_bytes = 0})) {
    ring_.header()->clock_at_start = {1, 1, 1 + kOffset, 1};
    window_.from_ticks = 1;
    ui_.emplace(AddThread(&window_, kUi, "main"));
    source_.ring = &reader_;
    source_.clock = FakeClock(kOffset);
    source_.clock_reading = {10'000 * kMs, 10'000 * kMs, 10'000 * kMs + kOffset, kNsPerSecond};
    source_.process = {4242, "app", 0};
    source_.app_name = "com.example";
    source_.app_version = "1.2";
    source_.window_ns = 10 * kNsPerSecond;
    source_.end_ticks = 10'000 * kMs;
    source_.names.push_back({1, "Feed::Bind", 0});
    source_.thresholds = {{"thresholds", "slow_message_ms", SnapshotFact::Kind::kNumber, {}, 700}};
    request_.id = kId;
    request_.kind = ReportKind::kSlowMessage;
    request_.begin_ns = 5000 * kMs;
    request_.end_ns = 6000 * kMs;
    request_.what = "Feed.bind";
    request_.tid = kUi;
    request_.watched_index = 0;
  }

  void Read(uint64_t at_ms, uint64_t run_ms, WaitReason wait) {
    ThreadReading reading;
    reading.sched_known = true;
    reading.run_ns = run_ms * kMs;
    reading.wait = wait;
    request_.readings.Add(at_ms * kMs, reading);
  }

  TraceContent Sealed() {
    ring_.Store(window_);
    const Result<Report> report = SealReport(source_, request_, &spool_.value());
    EXPECT_TRUE(report.ok()) << report.status().message();
    const std::string file = folder_.path() + "/" + kId + kReportFileSuffix;
    std::string error;
    TraceContent trace = ReadTrace(ReadFile(file, 10 << 20).value(), &error);
    EXPECT_EQ(error, "");
    return trace;
  }

  // "name from+length", in ms since the incident began.
  static std::vector<std::string> Lines(const TraceContent& trace, const std::string& track) {
    std::vector<std::string> lines;
    for (const ReadSlice& slice : trace.slices) {
      if (slice.track != track) continue;
      const auto from = static_cast<int64_t>(slice.ts - kOffset - 5000 * kMs);
      lines.push_back(slice.name + " " + std::to_string(from / static_cast<int64_t>(kMs)) + "+" +
                      std::to_string(slice.dur / kMs));
    }
    return lines;
  }

  FakeRing ring_;
  RingReader reader_;
  TemporaryFolder folder_;
  Result<Spool> spool_;
  RingWindow window_;
  std::optional<FakeThread> ui_;
  ReportSource source_;
  SealRequest request_;
};

TEST_F(IncidentTraceTest, SliceHasTheSentenceAndTheFacts) {
  ui_->Begin(1, 5000 * kMs).End(1, 6000 * kMs);
  Read(4950, 0, WaitReason::kBlocked);
  Read(6000, 250, WaitReason::kSleeping);
  const TraceContent trace = Sealed();
  ASSERT_THAT(Lines(trace, "Jankbox incident"),
              ElementsAre("slow message 1000 ms: 75 % sleeping, in Feed::Bind 0+1000"));
  const auto slice =
      std::find_if(trace.slices.begin(), trace.slices.end(),
                   [](const ReadSlice& of) { return of.track == "Jankbox incident"; });
  const std::map<std::string, std::string>& facts = slice->annotations;
  EXPECT_EQ(facts.at("report_id"), kId);
  EXPECT_EQ(facts.at("app"), "com.example");
  EXPECT_EQ(facts.at("app_version"), "1.2");
  EXPECT_EQ(facts.at("message"), "Feed.bind");
  EXPECT_EQ(facts.at("fingerprint").size(), 32u);
  EXPECT_EQ(facts.at("verdict.sleeping_ms"), "750.000000");
  EXPECT_EQ(facts.at("verdict.running_ms"), "250.000000");
  EXPECT_THAT(facts.at("verdict.summary"), StartsWith("75 % asleep"));
  EXPECT_EQ(facts.at("thresholds.slow_message_ms"), "700");
  EXPECT_EQ(facts.at("losses.calls_recorded_ms"), "1000.000000");
  EXPECT_EQ(facts.at("blamed_stack[0]"), "Feed::Bind");
  const std::string& description = trace.tracks.at(slice->track_uuid).description;
  EXPECT_THAT(description, HasSubstr("75 % asleep"));
  EXPECT_THAT(description, HasSubstr("com.example 1.2"));
}

TEST_F(IncidentTraceTest, StretchesOfTheVerdictFollowOneAnother) {
  Read(5000, 0, WaitReason::kBlocked);
  Read(5400, 0, WaitReason::kSleeping);
  Read(6000, 600, WaitReason::kBlocked);
  const TraceContent trace = Sealed();
  EXPECT_THAT(Lines(trace, "Jankbox verdict"), ElementsAre("sleeping 0+400", "running 400+600"));
}

TEST_F(IncidentTraceTest, TimeThatItWasHeldForIsAHole) {
  request_.held_ns = 300 * kMs;
  request_.free = {{5000 * kMs, 5200 * kMs}, {5500 * kMs, 6000 * kMs}};
  EXPECT_THAT(Lines(Sealed(), "Jankbox verdict"), ElementsAre("unknown 0+200", "unknown 500+500"));
}

TEST_F(IncidentTraceTest, CallsThatWereOverwrittenAreAGap) {
  ui_->NewChunk(5400 * kMs, /*gap=*/true).Begin(1, 5500 * kMs).End(1, 6000 * kMs);
  const TraceContent trace = Sealed();
  EXPECT_THAT(Lines(trace, "Jankbox coverage"), ElementsAre("calls not recorded 0+400"));
}

TEST_F(IncidentTraceTest, NothingIsMissingFromAFullRecord) {
  ui_->Begin(1, 5000 * kMs).End(1, 6000 * kMs);
  EXPECT_THAT(Lines(Sealed(), "Jankbox coverage"), IsEmpty());
}

TEST_F(IncidentTraceTest, SnapshotWithoutAThreadHasNoVerdictToShow) {
  request_ = RequestByHand(ReportKind::kManual, "checkout", 5000 * kMs, 5000 * kMs);
  request_.id = kId;
  request_.tid = 0;
  const TraceContent trace = Sealed();
  EXPECT_THAT(Lines(trace, "Jankbox incident"), ElementsAre("manual: checkout 0+0"));
  EXPECT_THAT(Lines(trace, "Jankbox verdict"), ElementsAre("no verdict 0+0"));
}

}  // namespace
}  // namespace jankbox::testing
