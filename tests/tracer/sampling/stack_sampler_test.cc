#include "tracer/sampling/stack_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iostream>

#include "base/own_thread.h"
#include "base/scoped_fd.h"
#include "tests/tracer/sampling/call_chains.h"
#include "tests/tracer/sampling/sampled_thread.h"
#include "tracer/sampling/perf_source.h"

namespace jankbox {
namespace {

// What libc's poll() calls.
#if defined(SYS_poll)
constexpr int32_t kPoll = SYS_poll;
#else
constexpr int32_t kPoll = SYS_ppoll;
#endif

using Mode = StackSampler::Mode;
using Names = std::vector<std::string>;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    read_end.Reset(ends[0]);
    write_end.Reset(ends[1]);
  }
  void Wake() { EXPECT_EQ(write(write_end.get(), "x", 1), 1); }

  ScopedFd read_end;
  ScopedFd write_end;
};

// Lets a thread go on that was declared before it, also if an assertion ends the test: the
// thread is joined next.
template <typename Release>
class AtEnd {
 public:
  explicit AtEnd(Release release) : release_(release) {}
  ~AtEnd() { release_(); }

 private:
  Release release_;
};

std::unique_ptr<StackSampler> MakeSampler(int tid, Mode mode) {
  StackSampler::Options options;
  options.mode = mode;
  auto sampler = StackSampler::Create(tid, options);
  EXPECT_TRUE(sampler.ok()) << sampler.status().message();
  return std::move(sampler.value());
}

bool PerfWorks() { return PerfSource::Open(CurrentTid()).ok(); }

#define SKIP_WITHOUT_PERF() \
  if (!PerfWorks()) GTEST_SKIP() << "perf_event_open is refused on this machine"

// Every sample: blocked, unwound through `chain`, to the thread's first function.
void ExpectBlockedIn(const StackSampler& sampler, const std::vector<StackSample>& samples,
                     long system_call, const Names& chain) {
  ASSERT_FALSE(samples.empty()) << sampler.Notes();
  for (const StackSample& sample : samples) {
    const Names names = NamesOf(sampler, sample);
    EXPECT_TRUE(IsOrderedSubsequence(chain, names)) << Join(names);
    EXPECT_EQ(sample.syscall, system_call);
    EXPECT_EQ(sample.state, 'S');
    EXPECT_EQ(sample.source, SampleSource::kProc);
    EXPECT_FALSE(sample.running);
    EXPECT_FALSE(sample.truncated) << Join(names);
  }
}

// Samples of a thread in BusyInner: nearly all of them, whole and by name.
void ExpectBusy(const StackSampler& sampler, const std::vector<StackSample>& samples,
                size_t count) {
  EXPECT_GE(samples.size(), count) << sampler.Notes();
  size_t named = 0;
  for (const StackSample& sample : samples) {
    EXPECT_TRUE(sample.running);
    named += !sample.truncated && !sample.uncertain &&
             IsOrderedSubsequence({"BusyInner", "BusyOuter"}, NamesOf(sampler, sample));
  }
  EXPECT_GE(named * 10, samples.size() * 9);
}

TEST(StackSampler, RunningThreadIsNamedByPerf) {
  SKIP_WITHOUT_PERF();
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  auto sampler = MakeSampler(thread.tid(), Mode::kAuto);
  ExpectBusy(*sampler, CollectFrom(sampler.get(), SampleSource::kPerf, 50), 50);
  EXPECT_THAT(sampler->SourcesUsed(), testing::HasSubstr("perf"));
}

TEST(StackSampler, SamplesAreInTimeOrder) {
  SampledThread thread([](const std::atomic<bool>& stop) {
    while (!stop) SleepOuter(64, 7);
  });
  auto sampler = MakeSampler(thread.tid(), Mode::kAuto);
  const std::vector<StackSample> samples = CollectTimes(sampler.get(), 60);
  ASSERT_FALSE(samples.empty());
  EXPECT_TRUE(std::is_sorted(samples.begin(), samples.end(),
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; }));
}

class BlockedFrame : public testing::TestWithParam<size_t> {};

TEST_P(BlockedFrame, SleepIsUnwound) {
  const size_t frame_bytes = GetParam();
  SampledThread thread([&](const std::atomic<bool>& stop) {
    while (!stop) SleepOuter(frame_bytes, 300);
  });
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  ExpectBlockedIn(*sampler, CollectTimes(sampler.get(), 5), SYS_clock_nanosleep,
                  {"SleepInner", "SleepOuter"});
}

TEST_P(BlockedFrame, MutexIsUnwound) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  SampledThread thread([&](const std::atomic<bool>&) { LockOuter(GetParam(), &mutex); });
  const AtEnd unlock([&] { pthread_mutex_unlock(&mutex); });
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  ExpectBlockedIn(*sampler, CollectTimes(sampler.get(), 5), SYS_futex, {"LockInner", "LockOuter"});
}

TEST_P(BlockedFrame, ReadIsUnwoundAndItsPipeIsKnown) {
  Pipe pipe;
  SampledThread thread(
      [&](const std::atomic<bool>&) { ReadOuter(GetParam(), pipe.read_end.get()); });
  const AtEnd wake([&] { pipe.Wake(); });
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  const std::vector<StackSample> samples = CollectTimes(sampler.get(), 5);
  ExpectBlockedIn(*sampler, samples, SYS_read, {"ReadInner", "ReadOuter"});
  for (const StackSample& s : samples) EXPECT_EQ(s.fd_class, StackSample::FdClass::kPipe);
}

TEST_P(BlockedFrame, PollIsUnwound) {
  Pipe pipe;
  SampledThread thread(
      [&](const std::atomic<bool>&) { PollOuter(GetParam(), pipe.read_end.get(), 60'000); });
  const AtEnd wake([&] { pipe.Wake(); });
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  ExpectBlockedIn(*sampler, CollectTimes(sampler.get(), 5), kPoll, {"PollInner", "PollOuter"});
}

INSTANTIATE_TEST_SUITE_P(Bytes, BlockedFrame, testing::Values(16, 1000, 20'000));

TEST(StackSampler, RepairedFrameIsMarkedUncertain) {
  Pipe pipe;
  SampledThread thread([&](const std::atomic<bool>&) { ReadOuter(4096, pipe.read_end.get()); });
  const AtEnd wake([&] { pipe.Wake(); });
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  for (const StackSample& sample : CollectTimes(sampler.get(), 3)) {
    EXPECT_TRUE(sample.uncertain);
  }
}

// No direct call leads to the frame: nothing proves where it is, so the stack ends there.
TEST(StackSampler, FrameCalledThroughPointerIsTruncatedNotGuessed) {
  Pipe pipe;
  SampledThread thread(
      [&](const std::atomic<bool>&) { ReadThroughPointerOuter(4096, pipe.read_end.get()); });
  const AtEnd wake([&] { pipe.Wake(); });
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  const std::vector<StackSample> samples = CollectTimes(sampler.get(), 3);
  ASSERT_FALSE(samples.empty());
  for (const StackSample& sample : samples) {
    const Names names = NamesOf(*sampler, sample);
    EXPECT_TRUE(sample.truncated) << Join(names);
    EXPECT_EQ(names.back(), "ReadInner") << Join(names);
  }
  EXPECT_EQ(sampler->counters().truncated, sampler->counters().taken);
}

// It has a CPU or waits for one: nothing was unwound, so nothing failed.
TEST(StackSampler, RunningThreadWithoutAStackIsNotTruncated) {
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  size_t running = 0;
  for (const StackSample& sample : CollectTimes(sampler.get(), 5)) {
    if (!sample.running) continue;
    ++running;
    EXPECT_EQ(sample.depth, 0u);
    EXPECT_FALSE(sample.truncated);
  }
  EXPECT_GT(running, 0u);
}

// Code with frame pointers: the prologue says where a fixed frame is, whoever called it.
TEST(StackSampler, FixedFramesWithFramePointersAreUnwound) {
  for (int depth : {0, 3}) {
    Pipe pipe;
    SampledThread thread([&](const std::atomic<bool>&) { FixedOuter(depth, pipe.read_end.get()); });
    const AtEnd wake([&] { pipe.Wake(); });
    ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
    auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
    Names chain(static_cast<size_t>(depth) + 1, "FixedInner");
    chain.push_back("FixedOuter");
    ExpectBlockedIn(*sampler, CollectTimes(sampler.get(), 3), SYS_read, chain);
  }
}

// A thread that has not run is not unwound again: here it has.
TEST(StackSampler, NextWaitReplacesTheLastOne) {
  Pipe first;
  Pipe second;
  SampledThread thread([&](const std::atomic<bool>&) {
    PollOuter(16, first.read_end.get(), 60'000);
    ReadOuter(16, second.read_end.get());
  });
  const AtEnd wake([&] { second.Wake(); });
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  ExpectBlockedIn(*sampler, CollectTimes(sampler.get(), 3), kPoll, {"PollInner", "PollOuter"});
  first.Wake();
  std::vector<StackSample> samples;
  for (int i = 0; i < 2000 && (samples.empty() || samples.back().syscall != SYS_read); ++i) {
    samples = CollectTimes(sampler.get(), 1);
    usleep(1000);
  }
  ExpectBlockedIn(*sampler, CollectTimes(sampler.get(), 3), SYS_read, {"ReadInner", "ReadOuter"});
}

TEST(StackSampler, RemainsOfAnEarlierCallAreNotTaken) {
  Pipe ready;
  Pipe pipe;
  ready.Wake();
  SampledThread thread(
      [&](const std::atomic<bool>&) { StaleOuter(ready.read_end.get(), pipe.read_end.get()); });
  const AtEnd wake([&] { pipe.Wake(); });
  // The first read returns at once: the thread comes to rest in the second.
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  for (const StackSample& sample : CollectTimes(sampler.get(), 5)) {
    const Names names = NamesOf(*sampler, sample);
    EXPECT_FALSE(IsOrderedSubsequence({"StaleInner"}, names)) << Join(names);
    EXPECT_FALSE(IsOrderedSubsequence({"StaleMiddle"}, names)) << Join(names);
  }
}

TEST(StackSampler, DeepRecursionIsCutAndSaysSo) {
  Pipe pipe;
  SampledThread thread(
      [&](const std::atomic<bool>&) { RecurseThenRead(300, pipe.read_end.get()); });
  const AtEnd wake([&] { pipe.Wake(); });
  ASSERT_TRUE(WaitForState(thread.tid(), 'S'));
  auto sampler = MakeSampler(thread.tid(), Mode::kProcOnly);
  const std::vector<StackSample> samples = CollectTimes(sampler.get(), 3);
  ASSERT_FALSE(samples.empty());
  for (const StackSample& sample : samples) {
    EXPECT_TRUE(sample.truncated);
    ASSERT_EQ(sample.depth, StackSample::kMaxDepth);
    const Names names = NamesOf(*sampler, sample);
    for (size_t i = 1; i < names.size(); ++i) EXPECT_EQ(names[i], "RecurseThenRead");
  }
}

TEST(StackSampler, SignalReplacesPerfAndIsDisclosed) {
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  auto sampler = MakeSampler(thread.tid(), Mode::kSignalOnly);
  ExpectBusy(*sampler, CollectFrom(sampler.get(), SampleSource::kSignal, 30), 30);
  EXPECT_THAT(sampler->Notes(), testing::HasSubstr("SIGRTMIN+"));
  EXPECT_THAT(sampler->SourcesUsed(), testing::HasSubstr("signal"));
}

// From here on the kernel refuses this thread perf_event_open, as containers do.
bool RefusePerf() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(StackSamplerDeathTest, RefusedPerfIsReplacedBySignalAndNoted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
        if (!RefusePerf()) _exit(2);
        auto sampler = MakeSampler(thread.tid(), Mode::kAuto);
        ExpectBusy(*sampler, CollectFrom(sampler.get(), SampleSource::kSignal, 10), 10);
        const std::string notes = sampler->Notes();
        std::cerr << notes;
        const bool noted = notes.find("does not permit perf") != std::string::npos;
        _exit(noted && !testing::Test::HasFailure() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "SIGRTMIN\\+");
}

TEST(StackSampler, ThreadThatBlocksAllSignalsIsReportedAsLost) {
  auto blocked = std::make_unique<ScopedSignalBlock>();  // inherited
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  blocked.reset();
  auto sampler = MakeSampler(thread.tid(), Mode::kSignalOnly);
  const std::vector<StackSample> samples = CollectTimes(sampler.get(), 20);
  EXPECT_EQ(samples.size(), 20u);
  EXPECT_EQ(sampler->counters().lost, 20u);
  for (const StackSample& sample : samples) {
    EXPECT_TRUE(sample.running);
    EXPECT_EQ(sample.depth, 0u);
  }
}

TEST(StackSampler, ThreadThatIsGoneGivesNoSamples) {
  auto thread = std::make_unique<SampledThread>([](const std::atomic<bool>&) {});
  const int tid = thread->tid();
  thread.reset();
  for (Mode mode : {Mode::kAuto, Mode::kProcOnly, Mode::kSignalOnly}) {
    auto sampler = MakeSampler(tid, mode);
    EXPECT_TRUE(CollectTimes(sampler.get(), 2, 1).empty());
  }
}

TEST(StackSampler, NothingIsTakenBeforeStart) {
  SKIP_WITHOUT_PERF();
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  auto sampler = MakeSampler(thread.tid(), Mode::kPerfOnly);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  size_t samples = 0;
  sampler->Collect([&samples](const StackSample&) { ++samples; });
  EXPECT_EQ(samples, 0u);
}

// More samples between two looks than perf's ring holds.
TEST(StackSampler, SamplesThatPerfDropsAreCounted) {
  SKIP_WITHOUT_PERF();
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  auto sampler = MakeSampler(thread.tid(), Mode::kPerfOnly);
  sampler->Start(1);
  for (int round = 0; round < 2; ++round) {
    // 5 ms a sample, 64 KiB each: 150 ms of running are three times the ring.
    const uint64_t start = CpuTimeNs(thread.tid());
    while (CpuTimeNs(thread.tid()) - start < 150'000'000) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    sampler->Collect([](const StackSample&) {});
  }
  sampler->Stop();
  EXPECT_GE(sampler->counters().taken, 8u);
  EXPECT_GE(sampler->counters().lost, 8u);
}

TEST(StackSampler, InvalidThreadIsRefused) {
  EXPECT_EQ(StackSampler::Create(0, {}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace jankbox
