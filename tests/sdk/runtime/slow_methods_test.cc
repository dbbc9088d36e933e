// From the calls of a real ring to requests to seal. What /proc and the samplers say is the test's.
#include "sdk/runtime/slow_methods.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "base/own_thread.h"
#include "base/uuid.h"
#include "monitors/looper/dispatch_monitor.h"
#include "sdk/api/foreground.h"
#include "tests/fakes/fake_ring.h"
#include "tests/fakes/fake_thread_source.h"
#include "tests/fakes/fake_window.h"
#include "tests/fakes/latch.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/method_registry.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

enum Method : uint32_t { kFirst = 1, kSlow };

constexpr uint64_t kThresholdNs = 20 * kNsPerMs;

void Begin(uint32_t id) { RecordEvent(EventKind::kBegin, id); }
void End(uint32_t id) { RecordEvent(EventKind::kEnd, id); }
void PassHalf() { usleep(kThresholdNs / 2 / 1000); }

class SlowMethodsTest : public testing::Test {
 protected:
  SlowMethodsTest() {
    options_.slow_method_ns = kThresholdNs;
    options_.sample_interval_ms = 5;
    state_.reading.wait = WaitReason::kSleeping;
    state_.reading.state = 'S';
    g_in_front_since_ns.store(1, std::memory_order_relaxed);
    EXPECT_TRUE(Recorder::Open(ring_->file()).ok());
    Begin(kFirst);
  }
  ~SlowMethodsTest() override {
    methods_.reset();
    Recorder::Close();
    static auto* closed = new std::vector<std::unique_ptr<FakeRing>>();  // stays mapped
    closed->push_back(std::move(ring_));
  }
  SlowMethods& Methods() {
    if (methods_ == nullptr) {
      methods_ = std::make_unique<SlowMethods>(
          options_, ring_->file(), &refusals_,
          [this](SealRequest request) { sealed_.push_back(std::move(request)); },
          [this](int32_t tid) {
            followed_.push_back(tid);
            return std::make_unique<FakeThreadSource>(&state_);
          });
    }
    return *methods_;
  }
  void Poll() { Methods().Poll(MonotonicNs(), FakeClock()); }
  const FakeSamplerState& Sampler() { return *state_.sampler_of.at(CurrentTid()); }

  std::unique_ptr<FakeRing> ring_ = std::make_unique<FakeRing>();
  Options options_;
  Refusals refusals_;
  FakeThreadState state_;
  std::vector<int32_t> followed_;
  std::vector<SealRequest> sealed_;
  std::unique_ptr<SlowMethods> methods_;
};

TEST_F(SlowMethodsTest, SlowMethodIsARequestWithWhatIsKnownOfTheThread) {
  Begin(kSlow);
  Poll();
  PassHalf();
  Poll();  // overdue
  state_.sampler_of.at(CurrentTid())->notes = "a note of the sampler's";
  state_.sampler_of.at(CurrentTid())->counters.lost = 3;
  PassHalf();
  Poll();
  EXPECT_THAT(sealed_, IsEmpty()) << "it has not ended";
  End(kSlow);
  Poll();
  Poll();
  ASSERT_THAT(sealed_, SizeIs(1)) << "once";
  const SealRequest& request = sealed_[0];
  EXPECT_EQ(request.kind, ReportKind::kSlowMethod);
  EXPECT_TRUE(IsUuid(request.id));
  EXPECT_EQ(request.revision, 1u);
  EXPECT_FALSE(request.ongoing);
  EXPECT_EQ(request.tid, CurrentTid());
  EXPECT_EQ(request.watched_index, kMaxWatchedThreads) << "it has no note in the ring";
  ASSERT_TRUE(request.method);
  EXPECT_EQ(request.method->id, kSlow);
  EXPECT_EQ(request.begin_ns, request.method->begin_ticks);
  EXPECT_EQ(request.end_ns, request.method->end_ticks);
  EXPECT_GE(request.end_ns - request.begin_ns, kThresholdNs);
  EXPECT_GE(request.readings.points().size(), 3u);
  EXPECT_EQ(request.sampler, "fake");
  EXPECT_EQ(request.lost_samples, 3u);
  EXPECT_THAT(request.notes, ElementsAre("a note of the sampler's"));
  EXPECT_FALSE(request.background);
  EXPECT_EQ(request.held_ns, 0u);
}

TEST_F(SlowMethodsTest, CallIsSampledFromHalfTheThresholdUntilItsEnd) {
  Begin(kSlow);
  options_.slow_method_ns = 3600 * kNsPerSecond;
  Poll();
  EXPECT_THAT(state_.sampler_of, IsEmpty());
  EXPECT_TRUE(Methods().active());
  Thresholds sooner = options_;
  sooner.slow_method_ns = kNsPerMs;
  Methods().SetThresholds(sooner);
  usleep(1000);
  Poll();
  EXPECT_EQ(Sampler().starts, 1u);
  EXPECT_EQ(Sampler().options.interval_ms, 5u);
  EXPECT_EQ(Sampler().options.mode, StackSampler::Mode::kAuto);
  EXPECT_LE(Methods().NextPollNs(), 5 * kNsPerMs);
  Poll();
  EXPECT_EQ(Sampler().collects, 1u);
  End(kSlow);
  Poll();
  EXPECT_GE(Sampler().stops, 1u);
}

TEST_F(SlowMethodsTest, CallInWhichTheThreadWaitsForAnEventIsRuledOut) {
  state_.reading.wait = WaitReason::kDescriptor;
  state_.reading.syscall = SYS_ppoll;
  Begin(kSlow);
  Poll();
  const uint32_t reads = state_.reads;
  EXPECT_EQ(reads, 1u);
  PassHalf();
  PassHalf();
  Poll();
  EXPECT_EQ(state_.reads, reads) << "nothing of it is of interest any more";
  EXPECT_THAT(state_.sampler_of, IsEmpty());
  EXPECT_FALSE(Methods().active());
  End(kSlow);
  Poll();
  EXPECT_THAT(sealed_, IsEmpty());
}

TEST_F(SlowMethodsTest, CallInWhichADebuggerStopsTheThreadIsRuledOut) {
  state_.reading.state = 't';
  Begin(kSlow);
  Poll();
  PassHalf();
  PassHalf();
  End(kSlow);
  Poll();
  EXPECT_THAT(sealed_, IsEmpty());
}

TEST_F(SlowMethodsTest, LockOwnerOfAnOverdueCallIsSampled) {
  state_.reading.wait = WaitReason::kLock;
  state_.reading.lock_owner_tid = 77;
  Begin(kSlow);
  PassHalf();
  Poll();
  EXPECT_EQ(state_.sampler_of.count(77), 1u);
}

TEST_F(SlowMethodsTest, StopIsSubtractedAndTold) {
  const uint64_t before = MonotonicNs();
  Begin(kSlow);
  PassHalf();
  const Hold stop{RefusalReason::kStopped, before, MonotonicNs(), 0};
  PassHalf();
  PassHalf();
  End(kSlow);
  Methods().NoteHolds({&stop, 1});
  Poll();
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_GE(sealed_[0].held_ns, kThresholdNs / 2);
  EXPECT_THAT(sealed_[0].free, SizeIs(1));
  EXPECT_THAT(sealed_[0].notes, Contains(HasSubstr("stopped")));
}

TEST_F(SlowMethodsTest, WorkersAreFollowedWithoutSignalsOnRequest) {
  options_.slow_methods_of_all = true;
  options_.slow_method_ns = kThresholdNs;
  Latch begun, polled;
  int32_t tid = 0;
  std::thread worker([&] {
    tid = CurrentTid();
    Begin(kFirst);
    Begin(kSlow);
    usleep(45'000);  // younger calls of workers are passed over
    begun.Open();
    polled.Wait();
    End(kSlow);
    End(kFirst);
  });
  ASSERT_TRUE(begun.Wait());
  Poll();
  EXPECT_THAT(followed_, Contains(tid));
  EXPECT_EQ(state_.sampler_of.at(tid)->options.mode, StackSampler::Mode::kNoSignal);
  polled.Open();
  worker.join();
  Poll();
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].tid, tid);
  EXPECT_EQ(sealed_[0].sampler, "fake");
}

TEST_F(SlowMethodsTest, WorkersAreNotFollowedOtherwise) {
  Latch begun, polled;
  std::thread worker([&] {
    Begin(kFirst);
    Begin(kSlow);
    usleep(45'000);
    begun.Open();
    polled.Wait();
    End(kSlow);
  });
  ASSERT_TRUE(begun.Wait());
  Poll();
  polled.Open();
  worker.join();
  Poll();
  EXPECT_THAT(followed_, ElementsAre(CurrentTid()));
  EXPECT_THAT(sealed_, IsEmpty());
}

TEST_F(SlowMethodsTest, CallsAreNotLookedForBeforeTheFirstMethodHasAName) {
  End(kFirst);
  Poll();
  EXPECT_EQ(Methods().NextPollNs(), kNoTimeout);
  MethodRegistry::Get().Attach(ring_->file());
  MethodRegistry::Get().IdOfName("first");
  MethodRegistry::Get().Detach();
  Poll();
  EXPECT_LE(Methods().NextPollNs(), kThresholdNs / 2);
}

TEST_F(SlowMethodsTest, NothingIsDoneWhileItIsOff) {
  options_.slow_method_ns = 0;
  Begin(kSlow);
  Poll();
  PassHalf();
  End(kSlow);
  Poll();
  EXPECT_THAT(sealed_, IsEmpty());
  EXPECT_EQ(state_.reads, 0u);
  EXPECT_EQ(Methods().NextPollNs(), kNoTimeout);
}

TEST_F(SlowMethodsTest, CallThatHasJustEndedIsSealedAtTheStop) {
  Begin(kSlow);
  Poll();
  PassHalf();
  PassHalf();
  End(kSlow);
  Methods().Finish(MonotonicNs(), FakeClock(), /*process_exits=*/true);
  EXPECT_THAT(sealed_, SizeIs(1));
}

}  // namespace
}  // namespace jankbox
