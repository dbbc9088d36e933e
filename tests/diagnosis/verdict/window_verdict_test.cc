// The verdict over a whole window: readings, the kernel's switches, calls, holds and owners put
// together, and random evidence, whose shares must sum to the incident's time.
#include "diagnosis/verdict/window_verdict.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <cstring>
#include <numeric>
#include <random>

#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kUi = 7;
constexpr int32_t kOwner = 42;
constexpr uint64_t kMs = kNsPerMs;
constexpr uint64_t kBoottimeOffset = 5 * kNsPerSecond;

ThreadReading Reading(uint64_t run_ms, WaitReason wait, int32_t owner_tid = 0) {
  ThreadReading reading;
  reading.sched_known = true;
  reading.run_ns = run_ms * kMs;
  reading.wait = wait;
  reading.lock_owner_tid = owner_tid;
  if (wait == WaitReason::kLock) reading.syscall = SYS_futex;
  return reading;
}

class WindowVerdictTest : public testing::Test {
 protected:
  WindowVerdictTest() {
    window_.to_ticks = 2000 * kMs;
    window_.threads.reserve(4);
    ui_.emplace(AddThread(&window_, kUi, "main"));
    request_.tid = kUi;
    request_.begin_ns = 100 * kMs;
    request_.end_ns = 1100 * kMs;
  }
  void Read(uint64_t at_ms, const ThreadReading& reading) {
    request_.readings.Add(at_ms * kMs, reading);
  }
  VerdictWindow Window() {
    lives_.emplace(window_, ThreadNames{{kOwner, "worker"}, {kUi, "main"}});
    VerdictWindow source;
    source.window = &window_;
    source.kernel = kernel_ ? &*kernel_ : nullptr;
    source.clock = FakeClock(kBoottimeOffset);
    source.lives = &*lives_;
    source.frames = &frames_;
    source.methods = &methods_;
    return source;
  }
  Verdict Split() {
    const Verdict verdict = WindowVerdict(Window(), request_);
    EXPECT_EQ(verdict.total_ns(), request_.end_ns - request_.begin_ns - request_.held_ns);
    return verdict;
  }
  ReportVerdict Describe(const std::string& place = "") {
    return DescribeVerdict(Window(), request_, Split(), place);
  }
  // The window of the thread's own switches: off the CPU in these stretches.
  void OffCpuAt(std::initializer_list<std::pair<uint64_t, uint64_t>> stretches_ms) {
    kernel_.emplace();
    kernel_->source = KernelWindow::Source::kOwnSwitches;
    kernel_->from_ns = kBoottimeOffset;
    kernel_->to_ns = kBoottimeOffset + 2000 * kMs;
    for (const auto& [from, to] : stretches_ms) {
      kernel_->off_cpu.push_back(
          {kUi, kBoottimeOffset + from * kMs, kBoottimeOffset + to * kMs, false});
    }
  }

  RingWindow window_;
  std::optional<FakeThread> ui_;
  SealRequest request_;
  std::optional<KernelWindow> kernel_;
  FrameTable frames_;
  MethodNames methods_;
  std::optional<ThreadLives> lives_;
};

TEST_F(WindowVerdictTest, WithoutAnySourceAllIsUnknown) {
  const Verdict verdict = Split();
  EXPECT_EQ(verdict.Of(VerdictCause::kUnknown), 1000 * kMs);
  EXPECT_THAT(verdict.Sources(), IsEmpty());
}

TEST_F(WindowVerdictTest, ReadingsAlone) {
  Read(100, Reading(0, WaitReason::kBlocked));
  Read(1100, Reading(300, WaitReason::kSleeping));
  const Verdict verdict = Split();
  EXPECT_EQ(verdict.Of(VerdictCause::kRunning), 300 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kSleeping), 700 * kMs) << "as it was seen last";
  EXPECT_EQ(verdict.Of(VerdictCause::kBlocked), 0u);
}

TEST_F(WindowVerdictTest, CallsThatTheThreadRecordedArePartOfIt) {
  Read(100, Reading(0, WaitReason::kBlocked));
  Read(1100, Reading(200, WaitReason::kBlocked));
  ui_->Wait({.what = WaitClass::kMutex, .owner_tid = kOwner}, 300 * kMs);
  ui_->Wait({.what = WaitClass::kMutex, .end = true}, 900 * kMs);
  const Verdict verdict = Split();
  EXPECT_EQ(verdict.Of(VerdictCause::kRunning), 200 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kLock), 600 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kBlocked), 200 * kMs);
}

TEST_F(WindowVerdictTest, OtherThreadsCallsAreNot) {
  AddThread(&window_, kOwner, "worker")
      .Wait({.what = WaitClass::kMutex}, 200 * kMs)
      .Wait({.what = WaitClass::kMutex, .end = true}, 1000 * kMs);
  EXPECT_EQ(Split().Of(VerdictCause::kLock), 0u);
}

TEST_F(WindowVerdictTest, KernelsSwitchesAreOnBoottime) {
  OffCpuAt({{300, 500}, {700, 800}});
  const Verdict verdict = Split();
  EXPECT_EQ(verdict.Of(VerdictCause::kRunning), 700 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kBlocked), 300 * kMs);
  EXPECT_THAT(verdict.Sources(), ElementsAre("perf switches"));
  EXPECT_EQ(verdict.switches, 2u) << "came back to a CPU twice";
}

TEST_F(WindowVerdictTest, SpansAreCutAtTheIncident) {
  OffCpuAt({{0, 200}, {1000, 1500}});
  const Verdict verdict = Split();
  EXPECT_EQ(verdict.Of(VerdictCause::kBlocked), 200 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kRunning), 800 * kMs);
}

TEST_F(WindowVerdictTest, PageFaultsAreCarvedOutOfTheRunningTime) {
  kernel_.emplace();
  kernel_->source = KernelWindow::Source::kFtrace;
  kernel_->from_ns = kBoottimeOffset;
  kernel_->to_ns = kBoottimeOffset + 2000 * kMs;
  kernel_->page_fault_cost_ns = 10 * kMs;
  KernelEvent arrives;
  arrives.time = kBoottimeOffset + 50 * kMs;
  arrives.kind = KernelEventKind::kSwitch;
  arrives.sched.next_pid = kUi;
  kernel_->events.push_back(arrives);
  for (const auto& [ms, tid] : {std::pair{60, kUi}, {200, kUi}, {300, kOwner}, {400, kUi}}) {
    KernelEvent fault;
    fault.time = kBoottimeOffset + static_cast<uint64_t>(ms) * kMs;
    fault.kind = KernelEventKind::kPageFault;
    fault.tid = tid;
    kernel_->events.push_back(fault);
  }
  const Verdict verdict = Split();
  EXPECT_EQ(verdict.Of(VerdictCause::kFault), 20 * kMs) << "two of its own within the incident";
  EXPECT_EQ(verdict.Of(VerdictCause::kRunning), 980 * kMs);
}

TEST_F(WindowVerdictTest, FaultsOfALossyWindowAreThoseOfTheReadings) {
  kernel_.emplace();
  kernel_->source = KernelWindow::Source::kFtrace;
  kernel_->lost_events = 1;
  kernel_->page_fault_cost_ns = 1 * kMs;
  KernelEvent fault;
  fault.time = kBoottimeOffset + 200 * kMs;
  fault.kind = KernelEventKind::kPageFault;
  fault.tid = kUi;
  kernel_->events = {fault};
  Read(100, Reading(0, WaitReason::kBlocked));
  ThreadReading last = Reading(1000, WaitReason::kBlocked);
  last.minor_faults = 50;
  Read(1100, last);
  EXPECT_EQ(Split().Of(VerdictCause::kFault), 50 * kMs);
}

TEST_F(WindowVerdictTest, HeldTimeIsNoPartOfTheVerdict) {
  request_.held_ns = 400 * kMs;
  request_.free = {{100 * kMs, 300 * kMs}, {700 * kMs, 1100 * kMs}};
  Read(100, Reading(0, WaitReason::kBlocked));
  Read(300, Reading(200, WaitReason::kBlocked));
  Read(700, Reading(200, WaitReason::kSleeping));
  Read(1100, Reading(200, WaitReason::kSleeping));
  const Verdict verdict = Split();
  EXPECT_EQ(verdict.Of(VerdictCause::kRunning), 200 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kSleeping), 400 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kUnknown), 0u);
}

TEST_F(WindowVerdictTest, IncidentThatWasHeldWhollyHasNoShares) {
  request_.held_ns = 1000 * kMs;
  const Verdict verdict = Split();
  EXPECT_THAT(verdict.shares, IsEmpty());
  EXPECT_EQ(DescribeVerdict(Window(), request_, verdict, "f").summary, "");
}

TEST_F(WindowVerdictTest, SharesAreDescribedTheLargestFirst) {
  Read(100, Reading(0, WaitReason::kLock));
  Read(1100, Reading(300, WaitReason::kLock));
  const ReportVerdict out = Describe("Feed::Bind");
  ASSERT_THAT(out.shares, SizeIs(2));
  EXPECT_EQ(out.shares[0].name, "lock");
  EXPECT_EQ(out.shares[0].ns, 700 * kMs);
  EXPECT_EQ(out.shares[0].source, "system calls");
  EXPECT_EQ(out.shares[1].name, "running");
  EXPECT_EQ(out.lock_ns, 700 * kMs);
  EXPECT_EQ(out.running_ns, 300 * kMs);
  EXPECT_EQ(out.unknown_ns, 0u);
  EXPECT_THAT(out.sources, ElementsAre("system calls", "schedstat"));
  EXPECT_EQ(out.summary, "70 % waiting for a lock (futex) and 30 % on the CPU, in Feed::Bind");
}

TEST_F(WindowVerdictTest, OwnerOfTheLockIsDescribedWithItsStack) {
  Read(100, Reading(0, WaitReason::kLock, kOwner));
  Read(1100, Reading(0, WaitReason::kLock, kOwner));
  frames_[1] = {.function = "ImageCache::Decode", .module = "libapp.so"};
  frames_[2] = {.function = "earlier", .module = "libapp.so"};
  FakeThread watcher = AddThread(&window_, 100, "jankbox-watch");
  for (uint64_t ms : {10, 20, 30, 40, 50}) watcher.Sample(FakeSample(kOwner, {2}), ms * kMs);
  watcher.Sample(FakeSample(kOwner, {1}), 500 * kMs);
  const ReportVerdict out = Describe();
  EXPECT_EQ(out.lock_owner_tid, kOwner);
  EXPECT_EQ(out.lock_owner, "worker");
  ASSERT_THAT(out.lock_owner_frames, SizeIs(1)) << "of the incident's time";
  EXPECT_EQ(out.lock_owner_frames[0].function, "ImageCache::Decode");
  EXPECT_EQ(out.summary,
            "100 % waiting for a lock held by 'worker' (tid 42) in ImageCache::Decode");
}

TEST_F(WindowVerdictTest, OwnerIsTheOneThatWasWaitedForLongest) {
  for (const auto& [owner, from, to] : {std::tuple{8, 100, 400}, {kOwner, 400, 1000}}) {
    ui_->Wait({.what = WaitClass::kMutex, .owner_tid = owner}, static_cast<uint64_t>(from) * kMs);
    ui_->Wait({.what = WaitClass::kMutex, .end = true}, static_cast<uint64_t>(to) * kMs);
  }
  EXPECT_EQ(Describe().lock_owner_tid, kOwner);
}

TEST_F(WindowVerdictTest, DeepStackOfAnOwnerIsCut) {
  Read(100, Reading(0, WaitReason::kLock, kOwner));
  Read(1100, Reading(0, WaitReason::kLock, kOwner));
  StackSample deep = FakeSample(kOwner, {});
  deep.depth = 40;
  for (uint32_t i = 0; i < deep.depth; ++i) {
    deep.pcs[i] = 1 + i;
    frames_[1 + i] = {.function = "f" + std::to_string(i), .module = "libapp.so"};
  }
  AddThread(&window_, 100, "jankbox-watch").Sample(deep, 500 * kMs);
  const ReportVerdict out = Describe();
  ASSERT_THAT(out.lock_owner_frames, SizeIs(16));
  EXPECT_EQ(out.lock_owner_frames[0].function, "f0") << "the innermost stay";
}

TEST_F(WindowVerdictTest, RivalsForTheCpuAreNamedOnBoottime) {
  kernel_.emplace();
  kernel_->source = KernelWindow::Source::kOwnSwitches;
  kernel_->from_ns = kBoottimeOffset;
  kernel_->to_ns = kBoottimeOffset + 2000 * kMs;
  kernel_->off_cpu = {{kUi, kBoottimeOffset + 200 * kMs, kBoottimeOffset + 1000 * kMs, true}};
  CpuRival rival;
  rival.from_ns = kBoottimeOffset + 200 * kMs;
  rival.to_ns = kBoottimeOffset + 1000 * kMs;
  rival.tid = kUi;
  rival.rival_tid = 999;
  strcpy(rival.name, "gcc");
  kernel_->rivals = {rival};
  const ReportVerdict out = Describe();
  EXPECT_EQ(out.runnable_ns, 800 * kMs);
  EXPECT_THAT(out.summary, HasSubstr("ready to run while others had the CPU: 'gcc' of another"));
}

// Evidence of any kind, also such that contradicts itself.
class RandomEvidence : public WindowVerdictTest, public testing::WithParamInterface<uint32_t> {
 protected:
  uint64_t Any(uint64_t from, uint64_t to) {
    return std::uniform_int_distribution<uint64_t>(from, to)(random_);
  }
  void AddReadings() {
    uint64_t at = Any(0, 300), run = 0, runnable = 0;
    while (at < 1300) {
      ThreadReading reading = Reading(0, static_cast<WaitReason>(Any(0, 7)));
      reading.sched_known = Any(0, 9) != 0;
      reading.run_ns = run * kMs;
      reading.runnable_ns = runnable * kMs;
      reading.switches = at;
      reading.minor_faults = run / 3;
      Read(at, reading);
      const uint64_t step = Any(1, 120);
      at += step;
      run += Any(0, step + 5);
      runnable += Any(0, step);
    }
  }
  void AddCalls() {
    uint64_t at = Any(0, 200);
    while (at < 1200) {
      const auto what = static_cast<WaitClass>(Any(0, 1) == 0 ? Any(1, 7) : Any(16, 25));
      const auto owner = static_cast<int32_t>(what < WaitClass::kCondition ? Any(0, 50) : 0);
      ui_->Wait({.what = what, .fd_class = static_cast<uint8_t>(Any(0, 5)), .owner_tid = owner},
                at * kMs);
      at += Any(1, 200);
      if (Any(0, 9) != 0) ui_->Wait({.what = what, .end = true}, at * kMs);
      at += Any(1, 100);
    }
  }
  void AddSwitches() {
    OffCpuAt({});
    kernel_->page_fault_cost_ns = Any(0, 2) * 100'000;
    uint64_t at = Any(0, 300);
    while (at < 1300) {
      const uint64_t to = at + Any(1, 150);
      kernel_->off_cpu.push_back(
          {kUi, kBoottimeOffset + at * kMs, kBoottimeOffset + to * kMs, Any(0, 1) == 0});
      at = to + Any(1, 150);
    }
  }
  void AddHolds() {
    uint64_t at = request_.begin_ns;
    request_.held_ns = 0;
    while (at < request_.end_ns) {
      const uint64_t to = std::min(request_.end_ns, at + Any(1, 400) * kMs);
      request_.free.push_back({at, to});
      at = std::min(request_.end_ns, to + Any(0, 100) * kMs);
      request_.held_ns += at - to;
    }
  }

  std::mt19937 random_{GetParam()};
};

TEST_P(RandomEvidence, SharesSumToTheTimeThatWasNotHeld) {
  for (int round = 0; round < 40; ++round) {
    window_ = RingWindow();
    window_.to_ticks = 1100 * kMs;
    ui_.emplace(AddThread(&window_, kUi, "main"));
    request_.readings = VerdictTimeline();
    request_.free.clear();
    request_.held_ns = 0;
    kernel_.reset();
    request_.begin_ns = Any(1, 400) * kMs;
    request_.end_ns = request_.begin_ns + Any(0, 700) * kMs + Any(0, 5);
    if (Any(0, 3) != 0) AddReadings();
    if (Any(0, 1) == 0) AddCalls();
    if (Any(0, 1) == 0) AddSwitches();
    if (Any(0, 2) == 0) AddHolds();
    const Verdict verdict = Split();  // checks the sum
    for (const VerdictShare& share : verdict.shares) {
      EXPECT_GT(share.ns, 0u);
      EXPECT_LE(share.ns, request_.end_ns - request_.begin_ns) << "no share went below zero";
    }
    const ReportVerdict out = Describe();
    const uint64_t told = std::accumulate(
        out.shares.begin(), out.shares.end(), uint64_t{0},
        [](uint64_t sum, const ReportVerdict::Share& share) { return sum + share.ns; });
    EXPECT_EQ(told, verdict.total_ns());
    EXPECT_EQ(out.running_ns + out.runnable_ns + out.lock_ns + out.disk_ns + out.fault_ns +
                  out.ipc_ns + out.gc_ns + out.sleeping_ns + out.blocked_ns + out.unknown_ns,
              told);
    EXPECT_EQ(out.summary.empty(), verdict.total_ns() == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomEvidence, testing::Range(1u, 11u));

}  // namespace
}  // namespace jankbox
