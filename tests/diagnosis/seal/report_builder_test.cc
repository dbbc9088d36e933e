// From a ring and a request to a sealed report: what is gathered, what is said, and what is
// written. The ring holds what the test put in; the file is read back with the reader of programs.
#include "diagnosis/seal/report_builder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "report/report_file.h"
#include "tests/fakes/fake_ring.h"
#include "tests/fakes/fake_window.h"
#include "tests/uploader/temporary_folder.h"
#include "tracer/ring/record_modes.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kUi = 7;
constexpr uint64_t kMs = kNsPerMs;
constexpr uint64_t kOffset = 3 * kNsPerSecond;
constexpr char kId[] = "01890a5d-ac96-774b-bcce-b302099a8057";

class ReportBuilderTest : public testing::Test {
 protected:
  ReportBuilderTest()
      : reader_(ring_.file()->base(), ring_.file()->bytes()),
        spool_(Spool::Open(folder_.path(), {.min_free_bytes = 0})) {
    ring_.header()->clock_at_start = {1, 1, 1 + kOffset, 1};
    window_.from_ticks = 1;
    window_.threads.reserve(4);
    ui_.emplace(AddThread(&window_, kUi, "main"));
    source_.ring = &reader_;
    source_.clock = FakeClock(kOffset);
    source_.clock_reading = {10'000 * kMs, 10'000 * kMs, 10'000 * kMs + kOffset, kNsPerSecond};
    source_.process = {4242, "app", 0};
    source_.window_ns = 10 * kNsPerSecond;
    source_.end_ticks = 10'000 * kMs;
    request_.id = kId;
    request_.kind = ReportKind::kSlowMessage;
    request_.begin_ns = 5000 * kMs;
    request_.end_ns = 6000 * kMs;
    request_.what = "Feed.bind";
    request_.tid = kUi;
    request_.watched_index = 0;
  }
  Result<Report> Seal(const AdmitReport& admit = {}) {
    if (!stored_) ring_.Store(window_);
    stored_ = true;
    return SealReport(source_, request_, &spool_.value(), admit);
  }
  Report Sealed() {
    Result<Report> report = Seal();
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? report.value() : Report();
  }
  std::string File() const { return folder_.path() + "/" + kId + kReportFileSuffix; }
  void Method(uint32_t id, const std::string& name) { source_.names.push_back({id, name, 0}); }

  FakeRing ring_;
  RingReader reader_;
  TemporaryFolder folder_;
  Result<Spool> spool_;
  RingWindow window_;
  std::optional<FakeThread> ui_;
  ReportSource source_;
  SealRequest request_;
  bool stored_ = false;
};

TEST_F(ReportBuilderTest, RequestIsInTheReport) {
  request_.revision = 3;
  request_.ongoing = true;
  request_.background = true;
  request_.anr_limit_ns = 5 * kNsPerSecond;
  request_.loop = "glib";
  request_.sampler = "perf+proc";
  request_.lost_samples = 4;
  request_.dropped_frames = 12;
  request_.frame_interval_ns = 16'666'667;
  request_.input_wait_ns = 99;
  request_.notes = {"a note"};
  const Report report = Sealed();
  EXPECT_EQ(report.id, kId);
  EXPECT_EQ(report.revision, 3u);
  EXPECT_EQ(report.kind, ReportKind::kSlowMessage);
  EXPECT_TRUE(report.ongoing);
  EXPECT_TRUE(report.background);
  EXPECT_EQ(report.anr_limit_ns, 5 * kNsPerSecond);
  EXPECT_EQ(report.what, "Feed.bind");
  EXPECT_EQ(report.tid, kUi);
  EXPECT_EQ(report.thread, "main");
  EXPECT_EQ(report.loop, "glib");
  EXPECT_EQ(report.sampler, "perf+proc");
  EXPECT_EQ(report.losses.lost_samples, 4u);
  EXPECT_EQ(report.frame_dropped, 12u);
  EXPECT_EQ(report.frame_interval_ns, 16'666'667u);
  EXPECT_EQ(report.input_wait_ns, 99u);
  EXPECT_EQ(report.duration_ns, 1000 * kMs);
  EXPECT_THAT(report.notes, Contains("a note"));
}

// A tick is 0.3 ns: a time in ns is up to three ticks off, and the method's end would be outside.
TEST_F(ReportBuilderTest, SlowMethodIsNamedByItsMethodAndIsWhole) {
  const auto ticks = [](uint64_t ms) { return ms * 3'333'333 + 1; };
  source_.clock = ScaledClock(0.3);
  source_.end_ticks = ticks(10'000);
  Method(1, "main");
  Method(2, "LoadPlugins");
  Method(3, "ParsePlugin");
  ui_->NewChunk(ticks(90)).Begin(1, ticks(100)).Begin(2, ticks(5000)).Begin(3, ticks(5100));
  ui_->End(3, ticks(5900)).End(2, ticks(6000)).Begin(3, ticks(6001)).End(3, ticks(6002));
  request_.kind = ReportKind::kSlowMethod;
  request_.what = "";
  request_.begin_ns = source_.clock.ToMonotonicNs(ticks(5000));
  request_.end_ns = source_.clock.ToMonotonicNs(ticks(6000));
  request_.method = SealRequest::Method{2, ticks(5000), ticks(6000)};
  const Report report = Sealed();
  EXPECT_EQ(report.kind, ReportKind::kSlowMethod);
  EXPECT_EQ(report.what, "LoadPlugins");
  EXPECT_EQ(report.identity.message, "LoadPlugins");
  EXPECT_EQ(report.identity.basis, "stack");
  ASSERT_THAT(report.methods, SizeIs(3));
  EXPECT_EQ(report.methods[1].function, "LoadPlugins");
  EXPECT_EQ(report.methods[1].count, 1u);
  EXPECT_FALSE(report.methods[1].open);
  EXPECT_EQ(report.methods[2].function, "ParsePlugin");
  EXPECT_EQ(report.methods[2].count, 1u) << "the later call is not part of it";
  ASSERT_THAT(report.top_frames, SizeIs(3));
  EXPECT_EQ(report.top_frames[0].function, "ParsePlugin") << "80 % of its time";
  EXPECT_EQ(report.top_frames[1].function, "LoadPlugins");
}

TEST_F(ReportBuilderTest, SlowMethodWithoutANameHasItsNumber) {
  request_.kind = ReportKind::kSlowMethod;
  request_.method = SealRequest::Method{9, 5000 * kMs, 6000 * kMs};
  ui_->Begin(9, 5000 * kMs).End(9, 6000 * kMs);
  const Report report = Sealed();
  EXPECT_EQ(report.what, "method #9");
  EXPECT_EQ(report.identity.message, "method #");
}

TEST_F(ReportBuilderTest, SourceIsInTheReport) {
  source_.app_name = "Feed";
  source_.app_version = "1.2";
  source_.self_cost.cpu_ns = 11;
  source_.self_cost.recording_ns = 12;
  source_.self_cost.uptime_ns = 13;
  source_.sigquits = 14;
  source_.self_cost.cpu_budget_permille = 15;
  source_.self_cost.start_us = 16;
  source_.suppressed_incidents = 17;
  source_.ring_in_memory_only = true;
  source_.notes = {"in every report"};
  source_.refusals = {{RefusalReason::kVeto, 3, 100 * kMs}};
  const Report report = Sealed();
  EXPECT_EQ(report.process, "app");
  EXPECT_EQ(report.pid, 4242);
  EXPECT_EQ(report.app_name, "Feed");
  EXPECT_EQ(report.app_version, "1.2");
  EXPECT_EQ(report.self_cost.cpu_ns, 11u);
  EXPECT_EQ(report.self_cost.recording_ns, 12u);
  EXPECT_EQ(report.self_cost.uptime_ns, 13u);
  EXPECT_EQ(report.sigquits, 14u);
  EXPECT_EQ(report.self_cost.cpu_budget_permille, 15u);
  EXPECT_EQ(report.self_cost.start_us, 16u);
  EXPECT_EQ(report.losses.suppressed_incidents, 17u);
  EXPECT_TRUE(report.ring_in_memory_only);
  EXPECT_THAT(report.notes, Contains("in every report"));
  ASSERT_THAT(report.refusals, SizeIs(1));
  EXPECT_EQ(report.refusals[0].reason, "veto");
  EXPECT_EQ(report.refusals[0].count, 3u);
  EXPECT_EQ(report.refusals[0].last_ns, 100 * kMs + kOffset) << "on BOOTTIME";
  EXPECT_EQ(report.clock, "clock_gettime");
  EXPECT_EQ(report.self_cost.ring_bytes, ring_.header()->file_bytes);
  EXPECT_FALSE(report.os.empty());
  EXPECT_FALSE(report.sdk_version.empty());
}

TEST_F(ReportBuilderTest, HeldTimeIsNotInTheDuration) {
  request_.held_ns = 400 * kMs;
  request_.free = {{5000 * kMs, 5600 * kMs}};
  const Report report = Sealed();
  EXPECT_EQ(report.duration_ns, 600 * kMs);
  EXPECT_EQ(report.held_ns, 400 * kMs);
  EXPECT_EQ(report.verdict.unknown_ns, 600 * kMs) << "nor in the verdict";
}

TEST_F(ReportBuilderTest, WindowIsOnBoottimeAndOnTheWallClock) {
  const Report report = Sealed();
  EXPECT_EQ(report.window.to_ns, 10'000 * kMs + kOffset);
  EXPECT_EQ(report.window.from_ns, 1 + kOffset) << "no earlier than the recording";
  EXPECT_EQ(report.window.to_realtime_ns, kNsPerSecond);
}

TEST_F(ReportBuilderTest, WindowIsAsLongAsItWasAskedFor) {
  source_.window_ns = 2 * kNsPerSecond;
  EXPECT_EQ(Sealed().window.from_ns, 8000 * kMs + kOffset);
}

TEST_F(ReportBuilderTest, MethodsOfTheIncidentAreBlamedByName) {
  Method(1, "Feed::Bind");
  Method(2, "Image::Decode");
  ui_->Begin(1, 5000 * kMs).Begin(2, 5100 * kMs).End(2, 5900 * kMs).End(1, 6000 * kMs);
  std::string place;
  const Result<Report> report = Seal([&](const ReportedIncident& incident, Report*) {
    place = incident.place;
    return true;
  });
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(place, "Image::Decode");
  ASSERT_THAT(report->methods, SizeIs(2));
  EXPECT_EQ(report->methods[1].function, "Image::Decode");
  EXPECT_EQ(report->methods[1].duration_ns, 800 * kMs);
  EXPECT_EQ(report->identity.basis, "stack");
  EXPECT_EQ(report->identity.blamed_function, "Image::Decode");
  ASSERT_THAT(report->identity.own_frames, SizeIs(2));
  EXPECT_EQ(report->identity.own_frames[0].function, "Image::Decode");
  EXPECT_THAT(report->verdict.summary, HasSubstr("in Image::Decode"));
}

TEST_F(ReportBuilderTest, IncidentOfTheAppIsKnownByWhatItFound) {
  Method(1, "Feed::Bind");
  ui_->Begin(1, 5000 * kMs).End(1, 6000 * kMs);
  request_.kind = ReportKind::kCustom;
  request_.what = "checkout took too long";
  const Report first = Sealed();
  EXPECT_EQ(first.identity.basis, "message");
  EXPECT_EQ(first.identity.blamed_function, "Feed::Bind");
  Method(2, "Image::Decode");
  ui_->Begin(2, 5000 * kMs).End(2, 6000 * kMs);
  EXPECT_EQ(Sealed().fingerprint, first.fingerprint) << "whatever was called then";
  request_.what = "payment took too long";
  EXPECT_NE(Sealed().fingerprint, first.fingerprint);
}

TEST_F(ReportBuilderTest, SamplesOfTheIncidentAreCounted) {
  FakeThread watcher = AddThread(&window_, 50, "jankbox-watch");
  StackSample cut = FakeSample(kUi, {1});
  cut.truncated = true;
  watcher.Sample(FakeSample(kUi, {1}), 4999 * kMs);  // before it
  watcher.Sample(FakeSample(kUi, {1}), 5000 * kMs).Sample(cut, 5500 * kMs);
  watcher.Sample(FakeSample(99, {1}), 5600 * kMs);   // another thread's
  watcher.Sample(FakeSample(kUi, {1}), 6001 * kMs);  // after it
  const Report report = Sealed();
  EXPECT_EQ(report.sample_count, 2u);
  EXPECT_EQ(report.losses.truncated_stacks, 1u);
}

TEST_F(ReportBuilderTest, MessagesBeforeTheIncidentAreItsHistory) {
  ui_->BeginDispatch("earlier", 4000 * kMs).EndDispatch(4100 * kMs);
  ui_->BeginDispatch("Feed.bind", 5000 * kMs).EndDispatch(6000 * kMs);
  const Report report = Sealed();
  EXPECT_EQ(report.history.count, 1u);
  EXPECT_THAT(report.history.names, ElementsAre("earlier"));
}

TEST_F(ReportBuilderTest, WaitsAreNotedWithTheirOwner) {
  AddThread(&window_, 8, "worker").Begin(1, 100);
  ui_->Wait({.what = WaitClass::kMutex, .owner_tid = 8}, 5100 * kMs);
  ui_->Wait({.what = WaitClass::kMutex, .end = true}, 5700 * kMs);
  const Report report = Sealed();
  EXPECT_THAT(report.notes, Contains("lock contention on a mutex (owner worker [8]): 600 ms."));
  EXPECT_EQ(report.verdict.lock_ns, 600 * kMs);
  EXPECT_EQ(report.verdict.lock_owner_tid, 8);
  EXPECT_EQ(report.verdict.lock_owner, "worker");
}

TEST_F(ReportBuilderTest, ModesThatHeldAreToldAndTheClocksErrorOnlyOfTheCoarseOne) {
  NoteRecordMode(ring_.file(), RecordMode::kExact, RecordModeReason::kStart, 1);
  ring_.header()->coarse_error_ticks.store(2 * kMs);
  EXPECT_EQ(Sealed().clock_error_ns, 0u);
  NoteRecordMode(ring_.file(), RecordMode::kCoarse, RecordModeReason::kOverBudget, 4000 * kMs);
  const Report report = Sealed();
  ASSERT_THAT(report.recording, SizeIs(2));
  EXPECT_EQ(report.recording[0].mode, "exact");
  EXPECT_EQ(report.recording[0].to_ns, 4000 * kMs + kOffset) << "until the next one";
  EXPECT_EQ(report.recording[1].mode, "coarse");
  EXPECT_EQ(report.recording[1].reason, "over budget");
  EXPECT_EQ(report.recording[1].to_ns, 10'000 * kMs + kOffset);
  EXPECT_EQ(report.clock_error_ns, 2 * kMs);
}

TEST_F(ReportBuilderTest, StartIsToldFromItsBegin) {
  request_.kind = ReportKind::kStartup;
  request_.startup = StartupTimes{true, 5000 * kMs, 5100 * kMs, 5200 * kMs, 6000 * kMs, 0};
  const Report report = Sealed();
  EXPECT_TRUE(report.startup.cold);
  EXPECT_EQ(report.startup.recorder_ns, 100 * kMs);
  EXPECT_EQ(report.startup.first_dispatch_ns, 200 * kMs);
  EXPECT_EQ(report.startup.first_frame_ns, 1000 * kMs);
  EXPECT_EQ(report.startup.drawn_ns, 0u) << "it did not come";
}

TEST_F(ReportBuilderTest, HealthyMessagesOfTheWindowSayWhatWasExtra) {
  HealthyMessages healthy;
  source_.healthy = &healthy;
  source_.healthy_below_ns = 350 * kMs;
  Method(1, "Feed::Bind");
  for (uint64_t i = 0; i < 5; ++i) {
    const uint64_t at = (1000 + 100 * i) * kMs;
    ui_->BeginDispatch("Feed.bind", at).Begin(1, at).End(1, at + 10 * kMs);
    ui_->EndDispatch(at + 20 * kMs);
  }
  ui_->BeginDispatch("Feed.bind", 5000 * kMs).Begin(1, 5000 * kMs).End(1, 5910 * kMs);
  ui_->EndDispatch(6000 * kMs);
  const Report report = Sealed();
  EXPECT_EQ(report.healthy_messages, 5u);
  EXPECT_EQ(report.healthy_median_ns, 20 * kMs);
  ASSERT_THAT(report.extra, SizeIs(1));
  EXPECT_EQ(report.extra[0].function, "Feed::Bind");
  EXPECT_EQ(report.extra[0].usual_ns, 10 * kMs);
  EXPECT_EQ(report.extra[0].extra_ns, 900 * kMs);
}

TEST_F(ReportBuilderTest, MessageThatStillRunsIsComparedWithNothing) {
  HealthyMessages healthy;
  source_.healthy = &healthy;
  source_.healthy_below_ns = 350 * kMs;
  for (uint64_t i = 0; i < 5; ++i) {
    ui_->BeginDispatch("Feed.bind", (1000 + 100 * i) * kMs).EndDispatch((1020 + 100 * i) * kMs);
  }
  ui_->BeginDispatch("Feed.bind", 5000 * kMs);
  EXPECT_EQ(Sealed().healthy_messages, 0u);
}

TEST_F(ReportBuilderTest, WhatIsNotAdmittedIsNotWritten) {
  const Result<Report> report = Seal([](const ReportedIncident&, Report*) { return false; });
  EXPECT_EQ(report.status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(File()));
  EXPECT_EQ(spool_->Counts()->written, 0u);
}

TEST_F(ReportBuilderTest, WhatTheGateAddsIsInTheFile) {
  ASSERT_TRUE(Seal([](const ReportedIncident&, Report* report) {
                report->attributes.push_back({"screen", "Checkout"});
                return true;
              }).ok());
  const Result<proto::Report> read = ReadReportFile(File());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->id(), kId);
  EXPECT_EQ(read->what(), "Feed.bind");
  ASSERT_EQ(read->attributes_size(), 1);
  EXPECT_EQ(read->attributes(0).value(), "Checkout");
}

TEST_F(ReportBuilderTest, FileHasATraceBeforeTheReport) {
  Method(1, "Feed::Bind");
  ui_->Begin(1, 5000 * kMs).End(1, 6000 * kMs);
  ASSERT_TRUE(Seal().ok());
  std::ifstream file(File(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::string trace;
  ASSERT_TRUE(DecompressTrace(bytes, 10 << 20, [&](std::string_view piece) {
                trace += piece;
                return Status::Ok();
              }).ok());
  EXPECT_THAT(trace, HasSubstr("Feed::Bind"));
  EXPECT_THAT(trace, HasSubstr("slow message 1000 ms")) << "the slice of what it is about";
}

TEST_F(ReportBuilderTest, LaterRevisionTakesThePlaceOfTheEarlier) {
  ASSERT_TRUE(Seal().ok());
  request_.revision = 2;
  request_.what = "Feed.bind again";
  ASSERT_TRUE(Seal().ok());
  EXPECT_EQ(ReadReportFile(File())->revision(), 2u);
  EXPECT_THAT(spool_->List().value(), SizeIs(1));
}

TEST_F(ReportBuilderTest, ThreadThatRecordedNothingIsAReportAllTheSame) {
  request_.tid = 12345;
  const Report report = Sealed();
  EXPECT_EQ(report.thread, "");
  EXPECT_THAT(report.methods, IsEmpty());
  EXPECT_EQ(report.identity.basis, "message");
  EXPECT_EQ(report.identity.blamed_function, "Feed.bind");
  EXPECT_THAT(report.notes, Contains(HasSubstr("No stack shows a function of the app")));
  EXPECT_EQ(report.verdict.unknown_ns, 1000 * kMs);
}

TEST_F(ReportBuilderTest, LossesOfTheRingAreTold) {
  ring_.header()->dropped_events.store(5);
  ui_->Begin(1, 5000 * kMs);
  const Report report = Sealed();
  EXPECT_EQ(report.losses.dropped_events, 5u);
  EXPECT_EQ(report.losses.open_slices, 1u) << "what had not ended";
}

}  // namespace
}  // namespace jankbox
