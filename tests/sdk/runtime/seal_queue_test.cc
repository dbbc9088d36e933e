// The sealing thread and its queue. What it seals comes from a ring in memory; the test holds the
// thread inside of MakeSource, so that requests wait as long as they should.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/last_error.h"
#include "base/uuid.h"
#include "jankbox/incident.h"
#include "sdk/api/incident_listeners.h"
#include "sdk/runtime/sealer.h"
#include "tests/fakes/fake_ring.h"
#include "tests/fakes/fake_window.h"
#include "tests/fakes/latch.h"
#include "tests/tracer/ring/private_ring_place.h"
#include "tests/uploader/temporary_folder.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

uint64_t Soon() { return MonotonicNs() + 100 * kNsPerSecond; }

bool Sleeps(pid_t tid) {
  std::string stat;
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
  return std::getline(file, stat) && stat.find(") S ") != std::string::npos;
}

class SealQueueTest : public testing::Test {
 protected:
  SealQueueTest() {
    options_.dir = folder_.path();
    options_.slow_message_ns = 700 * kNsPerMs;
    options_.repeats.every_incident = true;
    ring_.header()->clock_at_start = {1, 1, 1, 1};
  }
  ~SealQueueTest() override {
    hold_ = false;
    go_on_.Open();
    sealer_.reset();
  }
  Sealer& TheSealer() {
    if (sealer_ == nullptr) {
      crash_loop_ = std::make_unique<CrashLoop>(options_.dir, "program");
      sealer_ = std::make_unique<Sealer>(
          options_, crash_loop_.get(), &kernel_, &refusals_,
          [this](const SealRequest&) { return MakeSource(); },
          [this](const SealRequest& request, bool sealed) {
            std::lock_guard<std::mutex> lock(mutex_);
            done_.push_back(request.what + " " + std::to_string(request.revision) +
                            (sealed ? " sealed" : " not"));
          });
      sealer_->NoteIn(ring_.file());
    }
    return *sealer_;
  }
  ReportSource MakeSource() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      nices_.push_back(NiceOf(CurrentTid()));
    }
    entered_.Open();
    if (hold_) go_on_.Wait();
    ReportSource source;
    source.ring = &reader_;
    source.clock = FakeClock();
    source.window_ns = 10 * kNsPerSecond;
    source.end_ticks = 10 * kNsPerSecond;
    return source;
  }
  static SealRequest Request(const std::string& what, uint32_t revision = 1,
                             const std::string& id = NewUuid(1)) {
    SealRequest request;
    request.id = id;
    request.revision = revision;
    request.kind = ReportKind::kSlowMessage;
    request.begin_ns = 1 * kNsPerSecond;
    request.end_ns = 2 * kNsPerSecond;
    request.what = what;
    request.watched_index = kMaxWatchedThreads;
    return request;
  }
  static int NiceOf(pid_t tid) { return getpriority(PRIO_PROCESS, static_cast<id_t>(tid)); }
  static SealRequest OngoingAnr(const std::string& id = NewUuid(1)) {
    SealRequest request = Request("anr", 1, id);
    request.kind = ReportKind::kAnr;
    request.ongoing = true;
    return request;
  }
  // Starts the thread and keeps it busy with a first request.
  void StartBusy() {
    hold_ = true;
    TheSealer().Start();
    ASSERT_TRUE(TheSealer().Enqueue(Request("first")));
    ASSERT_TRUE(entered_.Wait());
  }
  std::vector<std::string> Finish() {
    hold_ = false;
    go_on_.Open();
    EXPECT_TRUE(TheSealer().WaitIdle(Soon()));
    TheSealer().Stop(Soon());
    return done_;
  }
  // What Stop() returns that was called while the first request was held.
  size_t StopWhileSealing(uint64_t deadline_ns) {
    std::atomic<pid_t> tid{0};
    size_t left = 0;
    std::thread stopper([&] {
      tid = CurrentTid();
      left = TheSealer().Stop(deadline_ns);
    });
    while (tid == 0 || !Sleeps(tid))
      usleep(1000);  // it sleeps where it waits for the sealing thread
    hold_ = false;
    go_on_.Open();
    stopper.join();
    return left;
  }
  size_t Files() const {
    return static_cast<size_t>(std::count_if(
        std::filesystem::directory_iterator(folder_.path()), std::filesystem::directory_iterator(),
        [](const auto& entry) { return entry.path().string().ends_with(kReportFileSuffix); }));
  }

  uint64_t Counted(const std::string& message) const {
    uint64_t incidents = 0;
    const Result<ReportCountBook> book = CountBook::Read(folder_.path());
    if (!book.ok()) return 0;
    for (const ReportBookedCounter& booked : book->counters) {
      const bool is_other = booked.counter.key == kOtherKey;
      if ((is_other ? kOtherKey : booked.counter.message) == message) {
        incidents += booked.counter.incidents;
      }
    }
    return incidents;
  }

  PrivateRingPlace place_;
  TemporaryFolder folder_;
  Options options_;
  FakeRing ring_;
  RingReader reader_{ring_.file()->base(), ring_.file()->bytes()};
  KernelRecorder kernel_{{.mode = FtraceMode::kOff}, TickSource::kClockGettime};
  Refusals refusals_;
  std::unique_ptr<CrashLoop> crash_loop_;
  std::atomic<bool> hold_{false};
  Latch entered_, go_on_;
  std::mutex mutex_;
  std::vector<std::string> done_;  // as nices_: guarded by mutex_ until the sealer has stopped
  std::vector<int> nices_;         // of the threads that sealed
  std::unique_ptr<Sealer> sealer_;
};

TEST_F(SealQueueTest, ReportsWaitWhileTheAppStarts) {
  ring_.header()->watched[0].dispatch_begin_ticks = 1;
  const uint64_t start_ns = MonotonicNs();
  TheSealer().Start();
  ASSERT_TRUE(TheSealer().Enqueue(Request("slow")));
  usleep(300'000);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool starts = MonotonicNs() < start_ns + 2 * kNsPerSecond;  // at most three
    EXPECT_TRUE(nices_.empty() || !starts);
  }
  ring_.header()->watched[0].dispatch_begin_ticks = 0;
  EXPECT_TRUE(entered_.Wait()) << "nobody waits for it";
}

TEST_F(SealQueueTest, AnrThatLastsIsWrittenAtTheCallersPriority) {
  TheSealer().Start();
  ASSERT_TRUE(TheSealer().WaitIdle(Soon()));
  const std::string id = NewUuid(1);
  ASSERT_TRUE(TheSealer().Enqueue(OngoingAnr(id)));
  ASSERT_TRUE(TheSealer().WaitIdle(Soon()));
  ASSERT_TRUE(TheSealer().Enqueue(Request("its end", 2, id)));
  EXPECT_THAT(Finish(), ElementsAre("anr 1 sealed", "its end 2 sealed"));
  EXPECT_THAT(nices_, ElementsAre(NiceOf(0), 19));
  EXPECT_GT(TheSealer().cpu_ns(), 0u);
}

TEST_F(SealQueueTest, EachAnrHasAThreadThatWritesIt) {
  TheSealer().Start();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(TheSealer().Enqueue(OngoingAnr()));
    if (i % 3 != 0) {
      ASSERT_TRUE(TheSealer().WaitIdle(Soon()));
    }
  }
  EXPECT_THAT(Finish(), SizeIs(20));
}

TEST_F(SealQueueTest, EndOfAnAnrMakesAnUnwrittenFirstReportNeedless) {
  ASSERT_NO_FATAL_FAILURE(StartBusy());
  const std::string id = NewUuid(1);
  ASSERT_TRUE(TheSealer().Enqueue(OngoingAnr(id)));
  ASSERT_TRUE(TheSealer().Enqueue(Request("its end", 2, id)));
  EXPECT_THAT(Finish(), ElementsAre("first 1 sealed", "its end 2 sealed"));
}

TEST_F(SealQueueTest, AnrThatIsNotWrittenAtAStopIsLeftInTheQueue) {
  ASSERT_NO_FATAL_FAILURE(StartBusy());
  ASSERT_TRUE(TheSealer().Enqueue(OngoingAnr()));
  EXPECT_EQ(StopWhileSealing(0), 2u);
}

TEST_F(SealQueueTest, RequestBecomesAFile) {
  TheSealer().Start();
  EXPECT_TRUE(TheSealer().Enqueue(Request("a")));
  EXPECT_THAT(Finish(), ElementsAre("a 1 sealed"));
  EXPECT_EQ(Files(), 1u);
}

TEST_F(SealQueueTest, RequestsBeforeTheStartWaitForIt) {
  EXPECT_TRUE(TheSealer().Enqueue(Request("a")));
  EXPECT_FALSE(TheSealer().WaitIdle(0));
  TheSealer().Start();
  EXPECT_THAT(Finish(), ElementsAre("a 1 sealed"));
}

TEST_F(SealQueueTest, AreSealedInTheOrderInWhichTheyCame) {
  StartBusy();
  for (const char* what : {"b", "c", "d"}) TheSealer().Enqueue(Request(what));
  EXPECT_THAT(Finish(), ElementsAre("first 1 sealed", "b 1 sealed", "c 1 sealed", "d 1 sealed"));
}

TEST_F(SealQueueTest, LaterRevisionTakesThePlaceOfOneThatWaits) {
  StartBusy();
  const std::string id = NewUuid(1);
  TheSealer().Enqueue(Request("grows", 1, id));
  TheSealer().Enqueue(Request("other"));
  TheSealer().Enqueue(Request("grows", 2, id));
  EXPECT_THAT(Finish(), ElementsAre("first 1 sealed", "grows 2 sealed", "other 1 sealed"));
}

TEST_F(SealQueueTest, RevisionOfOneThatIsBeingSealedIsSealedNext) {
  hold_ = true;
  TheSealer().Start();
  const std::string id = NewUuid(1);
  TheSealer().Enqueue(Request("grows", 1, id));
  ASSERT_TRUE(entered_.Wait());
  TheSealer().Enqueue(Request("grows", 2, id));
  EXPECT_THAT(Finish(), ElementsAre("grows 1 sealed", "grows 2 sealed"));
  EXPECT_EQ(Files(), 1u);
}

TEST_F(SealQueueTest, MoreThanSixtyFourAreRefusedAndCounted) {
  StartBusy();
  for (size_t i = 0; i < Sealer::kMaxQueued; ++i) {
    EXPECT_TRUE(TheSealer().Enqueue(Request("waits"))) << i;
  }
  EXPECT_FALSE(TheSealer().Enqueue(Request("one too many")));
  EXPECT_EQ(refusals_.count(RefusalReason::kQueueFull), 1u);
  EXPECT_THAT(Finish(), SizeIs(1 + Sealer::kMaxQueued));
}

TEST_F(SealQueueTest, LastRevisionOfOneThatWaitsNeedsNoRoom) {
  StartBusy();
  const std::string id = NewUuid(1);
  TheSealer().Enqueue(Request("anr", 1, id));
  for (size_t i = 1; i < Sealer::kMaxQueued; ++i) TheSealer().Enqueue(Request("waits"));
  EXPECT_TRUE(TheSealer().Enqueue(Request("anr", 2, id)));
  EXPECT_EQ(refusals_.count(RefusalReason::kQueueFull), 0u);
  EXPECT_THAT(Finish(), testing::Contains("anr 2 sealed"));
}

TEST_F(SealQueueTest, IdleIsWhenNothingWaitsAndNothingIsSealed) {
  StartBusy();
  EXPECT_FALSE(TheSealer().WaitIdle(0)) << "the queue is empty, and one is being sealed";
  Finish();
}

TEST_F(SealQueueTest, StopFinishesWhatWaits) {
  StartBusy();
  TheSealer().Enqueue(Request("b"));
  hold_ = false;
  go_on_.Open();
  TheSealer().Stop(Soon());
  EXPECT_THAT(done_, ElementsAre("first 1 sealed", "b 1 sealed"));
}

TEST_F(SealQueueTest, StopTakesOverWhatIsBeingSealed) {
  StartBusy();
  TheSealer().Enqueue(Request("b"));
  EXPECT_EQ(StopWhileSealing(Soon()), 0u);
  EXPECT_THAT(done_, ElementsAre("first 1 sealed", "b 1 sealed"));
  EXPECT_EQ(Files(), 2u);
}

TEST_F(SealQueueTest, WhoWaitsUntilAllIsSealedIsWokenByTheStop) {
  StartBusy();
  TheSealer().Enqueue(Request("b"));
  const uint64_t begin_ns = MonotonicNs();
  std::thread waiter([&] { EXPECT_TRUE(TheSealer().WaitIdle(Soon())); });
  EXPECT_EQ(StopWhileSealing(Soon()), 0u);
  waiter.join();
  EXPECT_LT(MonotonicNs() - begin_ns, 10 * kNsPerSecond);
}

TEST_F(SealQueueTest, StopPastItsTimeSaysHowManyAreLeft) {
  StartBusy();
  TheSealer().Enqueue(Request("b"));
  EXPECT_EQ(StopWhileSealing(0), 2u) << "the first was not asked about yet";
  EXPECT_THAT(done_, IsEmpty());
  EXPECT_EQ(Files(), 0u);
}

TEST_F(SealQueueTest, FolderThatTakesNoReportsIsAnErrorAndNoReasonToStop) {
  options_.dir = "/proc/self/no such folder";
  TheSealer().Start();
  TheSealer().Enqueue(Request("a"));
  TheSealer().Enqueue(Request("b"));
  EXPECT_THAT(Finish(), ElementsAre("a 1 not", "b 1 not")) << "whoever waits is told";
  EXPECT_THAT(LastError(), HasSubstr("no reports will be written"));
}

int Veto(const jankbox_incident*, void*) { return JANKBOX_INCIDENT_VETO; }

TEST_F(SealQueueTest, ListenersVetoIsCountedAndNothingIsWritten) {
  ASSERT_TRUE(IncidentListeners::Get().Add(Veto, nullptr).ok());
  TheSealer().Start();
  TheSealer().Enqueue(Request("a"));
  const std::vector<std::string> done = Finish();
  IncidentListeners::Get().Remove(Veto, nullptr);
  EXPECT_THAT(done, ElementsAre("a 1 not"));
  EXPECT_EQ(refusals_.count(RefusalReason::kVeto), 1u);
  EXPECT_EQ(Files(), 0u);
}

TEST_F(SealQueueTest, RepeatIsCountedAndNotWritten) {
  options_.repeats.every_incident = false;
  TheSealer().Start();
  TheSealer().Enqueue(Request("same"));
  SealRequest shorter = Request("same");
  shorter.id = "01890a5d-ac96-774b-bcce-fffffffffffe";  // whose draw is not to be the random one
  shorter.end_ns = shorter.begin_ns + kNsPerMs;
  TheSealer().Enqueue(shorter);
  const std::vector<std::string> done = Finish();
  ASSERT_THAT(done, SizeIs(2));
  EXPECT_EQ(done[0], "same 1 sealed");
  EXPECT_EQ(Files(), 2u - refusals_.count(RefusalReason::kFingerprint));
}

TEST_F(SealQueueTest, KnownRepeatIsOnlyCountedOnceTheBudgetIsUsedUp) {
  options_.repeats.every_incident = false;
  options_.cpu_budget_permille = 10;
  std::atomic<uint64_t> used_ns{0};
  TheSealer().KeepWithin([&] { return used_ns.load(); });
  TheSealer().Start();
  const auto seal = [&](const std::string& what, uint64_t ms) {
    // Ids that are never the random one.
    static int number = 0;
    SealRequest request =
        Request(what, 1, "01890a5d-ac96-774b-bc" + std::to_string(10 + number++) + "-000000000001");
    request.end_ns = request.begin_ns + ms * kNsPerMs;
    ASSERT_TRUE(TheSealer().Enqueue(std::move(request)));
    ASSERT_TRUE(TheSealer().WaitIdle(Soon()));
  };
  seal("draw", 1000);
  seal("draw", 900);
  EXPECT_EQ(refusals_.count(RefusalReason::kFingerprint), 1u);
  seal("draw", 900);
  EXPECT_EQ(nices_.size(), 3u) << "there is time: it is looked at";
  used_ns = kNsPerSecond;
  seal("draw", 900);
  EXPECT_EQ(nices_.size(), 3u) << "its window was read";
  seal("something else", 900);
  seal("draw", 10'000);
  EXPECT_THAT(Finish(), ElementsAre("draw 1 sealed", "draw 1 not", "draw 1 not", "draw 1 not",
                                    "something else 1 sealed", "draw 1 sealed"));
  EXPECT_EQ(refusals_.count(RefusalReason::kOverBudget), 1u);
  EXPECT_EQ(refusals_.count(RefusalReason::kFingerprint), 2u);
  EXPECT_EQ(Counted("draw"), 5u);
  EXPECT_EQ(Counted(kOtherKey), 0u);
}

TEST_F(SealQueueTest, ReportThatHasNoRoomIsCounted) {
  options_.min_free_bytes = uint64_t{1} << 59;  // more than any disk has
  TheSealer().Start();
  TheSealer().Enqueue(Request("a"));
  EXPECT_THAT(Finish(), ElementsAre("a 1 not"));
  EXPECT_EQ(Files(), 0u);
}

TEST_F(SealQueueTest, RingsOfDeadProcessesAreRecoveredBeforeItIsIdle) {
  FakeRing dead;
  dead.header()->process_start_ticks += 1;  // a process that is no more
  const uint64_t start_ns = dead.header()->clock_at_start.monotonic_ns;
  dead.Watch(0, 55);
  dead.BeginDispatch(0, "died in it", start_ns);
  dead.header()->heartbeat_ticks.store(start_ns + 3 * kNsPerSecond);
  const std::string rings = RingFolder(folder_.path()).value();
  std::ofstream(rings + "/ring-1-1" + kRingFileSuffix, std::ios::binary)
      .write(reinterpret_cast<const char*>(dead.file()->base()),
             static_cast<std::streamsize>(dead.file()->bytes()));
  TheSealer().Start();
  EXPECT_THAT(Finish(), IsEmpty()) << "it is no request";
  EXPECT_EQ(Files(), 1u);
  std::filesystem::remove_all(rings);
}

TEST_F(SealQueueTest, EveryIncidentIsCountedAndSnapshotsAreNot) {
  options_.repeats.every_incident = false;
  TheSealer().Start();
  for (int i = 0; i < 5; ++i) TheSealer().Enqueue(Request("tap"));
  SealRequest snapshot = Request("asked for");
  snapshot.kind = ReportKind::kManual;
  TheSealer().Enqueue(snapshot);
  Finish();
  EXPECT_EQ(Counted("tap"), 5u);
  EXPECT_EQ(Counted("asked for"), 0u);
  const ReportCountBook book = CountBook::Read(folder_.path()).value();
  EXPECT_TRUE(book.closed) << "at the stop, for a power cut";
  EXPECT_THAT(book.counted_ids, IsEmpty());
}

TEST_F(SealQueueTest, IncidentThatGrowsIsCountedWhenItIsOver) {
  StartBusy();
  const std::string id = NewUuid(1);
  SealRequest growing = Request("anr", 1, id);
  growing.ongoing = true;
  TheSealer().Enqueue(growing);
  TheSealer().Enqueue(Request("between"));
  hold_ = false;
  go_on_.Open();
  ASSERT_TRUE(TheSealer().WaitIdle(Soon()));
  EXPECT_EQ(Counted("anr"), 0u);
  TheSealer().Enqueue(Request("anr", 2, id));
  Finish();
  EXPECT_EQ(Counted("anr"), 1u);
}

TEST_F(SealQueueTest, WhatWaitsIsInTheRingUntilItIsCounted) {
  StartBusy();
  TheSealer().Enqueue(Request("b"));
  SealRequest growing = Request("grows");
  growing.ongoing = true;
  TheSealer().Enqueue(growing);
  const std::vector<UncountedIncident> waiting = UncountedIncidents::Of(*ring_.header());
  ASSERT_THAT(waiting, SizeIs(2)) << "the first, and b: what grows is not over";
  EXPECT_EQ(waiting[1].what, "b");
  EXPECT_EQ(waiting[1].total_ns, kNsPerSecond);
  Finish();
  EXPECT_TRUE(ring_.file()->uncounted().empty());
}

TEST_F(SealQueueTest, WhatFindsNoPlaceInTheQueueIsCountedTogether) {
  StartBusy();
  for (size_t i = 0; i < Sealer::kMaxQueued; ++i) TheSealer().Enqueue(Request("waits"));
  EXPECT_FALSE(TheSealer().Enqueue(Request("too many")));
  EXPECT_FALSE(TheSealer().Enqueue(Request("too many")));
  SealRequest by_app = Request("by the app");
  by_app.kind = ReportKind::kCustom;
  EXPECT_FALSE(TheSealer().Enqueue(by_app)) << "the app is told that it was not taken";
  Finish();
  EXPECT_EQ(Counted("waits"), Sealer::kMaxQueued);
  EXPECT_EQ(Counted(kOtherKey), 2u);
}

TEST_F(SealQueueTest, WhatAStopLeavesIsLeftInTheRing) {
  StartBusy();
  TheSealer().Enqueue(Request("b"));
  EXPECT_EQ(StopWhileSealing(0), 2u);
  EXPECT_THAT(UncountedIncidents::Of(*ring_.header()), SizeIs(2));
  EXPECT_EQ(Counted("b"), 0u);
}

TEST_F(SealQueueTest, VetoedIncidentIsCounted) {
  ASSERT_TRUE(IncidentListeners::Get().Add(Veto, nullptr).ok());
  TheSealer().Start();
  TheSealer().Enqueue(Request("a"));
  Finish();
  IncidentListeners::Get().Remove(Veto, nullptr);
  EXPECT_EQ(Counted("a"), 1u);
}

TEST_F(SealQueueTest, CpuTimeOfTheThreadIsKnown) {
  EXPECT_EQ(TheSealer().cpu_ns(), 0u);
  TheSealer().Start();
  TheSealer().Enqueue(Request("a"));
  ASSERT_TRUE(TheSealer().WaitIdle(Soon()));
  EXPECT_GT(TheSealer().cpu_ns(), 0u);
  Finish();
}

}  // namespace
}  // namespace jankbox
