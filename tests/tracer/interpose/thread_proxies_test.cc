// Creations, names and ends of threads: reported by the threads, written by the recorder.
#include "tracer/interpose/thread_proxies.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "diagnosis/symbols/symbolizer.h"
#include "tests/tracer/interpose/interpose_test.h"
#include "tracer/interpose/thread_recorder.h"
#include "tracer/sampling/sample_event.h"

namespace jankbox {
namespace {

using CreateFn = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
using ExitFn = void(void*);
using SetNameFn = int(pthread_t, const char*);
using PrctlFn = int(int, ...);

class ThreadProxiesTest : public SourceTest {
 protected:
  void SetUp() override {
    SourceTest::SetUp();
    ThreadRecorder(UINT64_MAX).Look();  // what other tests left
    ThreadRecorder::Prepare();
    recorder_ = std::make_unique<ThreadRecorder>(NowTicks());
    create_ = Proxy<CreateFn>(HookId::kPthreadCreate);
  }

  std::vector<StackSample> Samples(const RingWindow& window) {
    std::vector<StackSample> samples;
    for (const EventRecord& record : Events(window, CurrentTid())) {
      if (record.kind != EventKind::kStackSample) continue;
      StackSample sample;
      EXPECT_TRUE(DecodeSample(Words(record), &sample));
      samples.push_back(sample);
    }
    return samples;
  }

  std::unique_ptr<ThreadRecorder> recorder_;
  CreateFn* create_ = nullptr;
};

struct Told {
  int32_t tid = 0;
  int error = 0;
};

void* TellTid(void* told) {
  static_cast<Told*>(told)->tid = CurrentTid();
  return told;
}

__attribute__((noinline)) int CreateFromHere(CreateFn* create, pthread_t* thread, Told* told) {
  const int error = create(thread, nullptr, TellTid, told);
  asm volatile("" ::: "memory");  // no tail call: the frame stays
  return error;
}

TEST_F(ThreadProxiesTest, CreationHasParentChildStackAndEnd) {
  Told told;
  pthread_t thread;
  ASSERT_EQ(CreateFromHere(create_, &thread, &told), 0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, &told);
  recorder_->Look();
  const RingWindow window = Window();
  const std::vector<ThreadEvent> events = ThreadEvents(window);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].step, ThreadStep::kCreated);
  EXPECT_EQ(events[0].tid, told.tid);
  EXPECT_EQ(events[0].parent_tid, CurrentTid());
  EXPECT_GE(events[0].started_ticks, events[0].ticks);
  EXPECT_EQ(events[1].step, ThreadStep::kEnded);
  EXPECT_EQ(events[1].tid, told.tid);
  EXPECT_GE(events[1].ticks, events[0].started_ticks);
  const std::vector<StackSample> samples = Samples(window);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].source, SampleSource::kCreation);
  EXPECT_EQ(samples[0].tid, CurrentTid());
  EXPECT_FALSE(samples[0].truncated);
  ASSERT_GT(samples[0].depth, 1u);
  const FrameTable frames =
      ResolveAddresses(ModuleMap::Load(), {samples[0].pcs, samples[0].pcs + samples[0].depth});
  EXPECT_NE(frames.at(samples[0].pcs[0]).function.find("CreateFromHere"), std::string::npos)
      << frames.at(samples[0].pcs[0]).function;
  EXPECT_EQ(recorder_->lost().events, 0u);
}

TEST_F(ThreadProxiesTest, BothKindsOfRenameAndOfEndAreReported) {
  static SetNameFn* set_name;
  static ExitFn* leave;
  static PrctlFn* control;
  set_name = Proxy<SetNameFn>(HookId::kPthreadSetname);
  leave = Proxy<ExitFn>(HookId::kPthreadExit);
  control = Proxy<PrctlFn>(HookId::kPrctl);
  Told told;
  pthread_t thread;
  ASSERT_EQ(create_(
                &thread, nullptr,
                [](void* given) -> void* {
                  auto* mine = static_cast<Told*>(given);
                  mine->tid = CurrentTid();
                  mine->error |= set_name(pthread_self(), "first name");
                  mine->error |= control(PR_SET_NAME, "second name that is too long", 0, 0, 0);
                  leave(given);
                  return nullptr;
                },
                &told),
            0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, &told);
  EXPECT_EQ(told.error, 0);
  recorder_->Look();
  std::string steps;
  for (const ThreadEvent& event : ThreadEvents(Window())) {
    EXPECT_EQ(event.tid, told.tid);
    if (event.step == ThreadStep::kCreated) steps += "created;";
    if (event.step == ThreadStep::kNamed) steps += std::string(event.name) + ";";
    if (event.step == ThreadStep::kEnded) steps += "ended;";
  }
  EXPECT_EQ(steps, "created;first name;second name tha;ended;");
}

TEST_F(ThreadProxiesTest, AnotherThreadsNameIsThatThreads) {
  std::atomic<int> tid{0};
  std::atomic<bool> done{false};
  std::thread other([&] {
    tid = CurrentTid();
    while (!done) usleep(100);
  });
  while (tid == 0) usleep(100);
  EXPECT_EQ(Proxy<SetNameFn>(HookId::kPthreadSetname)(other.native_handle(), "worker-7"), 0);
  done = true;
  other.join();
  recorder_->Look();
  const std::vector<ThreadEvent> events = ThreadEvents(Window());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].tid, tid);
  EXPECT_EQ(std::string(events[0].name), "worker-7");
}

TEST_F(ThreadProxiesTest, FailuresAreTheCallersAndLeaveNothing) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  sched_param priority{};
  priority.sched_priority = 1;
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &priority);
  cpu_set_t nowhere;
  CPU_ZERO(&nowhere);
  pthread_attr_setaffinity_np(&attributes, sizeof(nowhere), &nowhere);
  pthread_t thread;
  const auto fail = [&](CreateFn* create) {
    return RunCall([&] { return create(&thread, &attributes, TellTid, nullptr); });
  };
  const Outcome real = fail(Real<CreateFn>(HookId::kPthreadCreate));
  ASSERT_NE(real.result, 0);
  for (size_t i = 0; i < 2 * ThreadJournal::kNotes; ++i) {
    ASSERT_EQ(fail(create_).result, real.result);
  }
  pthread_attr_destroy(&attributes);
  auto* set_name = Proxy<SetNameFn>(HookId::kPthreadSetname);
  EXPECT_EQ(RunCall([&] { return set_name(pthread_self(), "a name of more than 15"); }),
            (Outcome{ERANGE, kUntouchedErrno}));
  auto* control = Proxy<PrctlFn>(HookId::kPrctl);
  EXPECT_EQ(RunCall([&] { return control(-1, 0, 0, 0, 0); }), (Outcome{-1, EINVAL}));
  EXPECT_EQ(RunCall([&] { return control(PR_GET_DUMPABLE, 0, 0, 0, 0); }).error, kUntouchedErrno);
  recorder_->Look();
  EXPECT_TRUE(ThreadEvents(Window()).empty());
  EXPECT_EQ(recorder_->lost().events, 0u);
}

TEST_F(ThreadProxiesTest, FloodIsRecordedOrCountedNeverWaitedFor) {
  constexpr int kThreads = 2'000;
  std::vector<Told> told(kThreads);
  int created = 0;
  uint64_t stacks = 0;
  for (int i = 0; i < kThreads; ++i) {
    pthread_t thread;
    if (create_(&thread, nullptr, TellTid, &told[static_cast<size_t>(i)]) != 0) continue;
    ++created;
    pthread_join(thread, nullptr);
    if (i % 700 == 699) recorder_->Look();
  }
  recorder_->Look();
  const RingWindow window = Window();
  uint64_t recorded = 0;
  for (const ThreadEvent& event : ThreadEvents(window)) {
    recorded += event.step == ThreadStep::kCreated ? 1 : 0;
    recorded += event.step == ThreadStep::kEnded ? 1 : 0;
  }
  for (const StackSample& sample : Samples(window)) stacks += sample.depth != 0 ? 1 : 0;
  const ThreadRecorder::Lost lost = recorder_->lost();
  EXPECT_GT(lost.events, 0u);
  // A thread whose creation found no place may still say its end, and the other way round: a
  // creation that is not reported has no child of ours that could say an end.
  EXPECT_LE(recorded + lost.events, static_cast<uint64_t>(2 * created));
  EXPECT_GE(recorded + 2 * lost.events, static_cast<uint64_t>(2 * created));
  EXPECT_LE(stacks, static_cast<uint64_t>(CreationStacks::kPerSecond));
  EXPECT_GT(lost.stacks, 0u);
  for (const Told& one : told) EXPECT_NE(one.tid, 0);
}

TEST_F(ThreadProxiesTest, WhatAnEarlierRecordingLeftIsNotThisOnes) {
  Told told;
  pthread_t thread;
  ASSERT_EQ(create_(&thread, nullptr, TellTid, &told), 0);
  pthread_join(thread, nullptr);
  ThreadRecorder later(NowTicks());
  later.Look();
  EXPECT_TRUE(ThreadEvents(Window()).empty());
}

TEST_F(ThreadProxiesTest, WithoutARecordingThreadsAreCreatedAsEver) {
  Recorder::Close();
  Told told;
  pthread_t thread;
  ASSERT_EQ(create_(&thread, nullptr, TellTid, &told), 0);
  pthread_join(thread, nullptr);
  EXPECT_NE(told.tid, 0);
  size_t notes = 0;
  ThreadJournal::Drain([&](const ThreadNote&) { ++notes; });
  EXPECT_EQ(notes, 0u);
}

}  // namespace
}  // namespace jankbox
