#include "monitors/incident/verdict.h"

#include <gtest/gtest.h>

#include <random>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr uint64_t kMs = kNsPerMs;

ThreadReading At(uint64_t run_ms, uint64_t runnable_ms, WaitClass wait) {
  ThreadReading reading;
  reading.sched_known = true;
  reading.run_ns = run_ms * kMs;
  reading.runnable_ns = runnable_ms * kMs;
  reading.wait = wait;
  return reading;
}

TEST(VerdictTimeline, SplitsEachStretchBySchedstatAndWait) {
  VerdictTimeline timeline;
  timeline.Add(1000 * kMs, At(0, 0, WaitClass::kBlocked));  // idle in its loop
  timeline.Add(1100 * kMs, At(60, 10, WaitClass::kLock));
  timeline.Add(1900 * kMs, At(60, 10, WaitClass::kLock));
  timeline.Add(2000 * kMs, At(100, 10, WaitClass::kNone));
  const Verdict verdict = timeline.Sum(1000 * kMs, 2000 * kMs);
  EXPECT_EQ(verdict.running_ns, 100 * kMs);
  EXPECT_EQ(verdict.runnable_ns, 10 * kMs);
  EXPECT_EQ(verdict.lock_ns, (30 + 800 + 60) * kMs);
  EXPECT_EQ(verdict.total_ns(), 1000 * kMs);
  EXPECT_EQ(verdict.source, "schedstat");
}

TEST(VerdictTimeline, WhatNoReadingCoversIsUnknown) {
  VerdictTimeline timeline;
  timeline.Add(1500 * kMs, At(0, 0, WaitClass::kNone));
  timeline.Add(1600 * kMs, At(100, 0, WaitClass::kNone));
  const Verdict verdict = timeline.Sum(1000 * kMs, 2000 * kMs);
  EXPECT_EQ(verdict.running_ns, 100 * kMs);
  EXPECT_EQ(verdict.unknown_ns, 900 * kMs);
}

TEST(VerdictTimeline, BaselineFromBeforeTheDispatchCountsOnlyWhatFits) {
  VerdictTimeline timeline;
  timeline.Add(950 * kMs, At(0, 0, WaitClass::kBlocked));
  timeline.Add(1010 * kMs, At(60, 0, WaitClass::kNone));
  const Verdict verdict = timeline.Sum(1000 * kMs, 1010 * kMs);
  EXPECT_EQ(verdict.running_ns, 10 * kMs);
  EXPECT_EQ(verdict.total_ns(), 10 * kMs);
}

TEST(VerdictTimeline, WithoutSchedstatTheStatesDecide) {
  ThreadReading running, asleep;
  running.wait = WaitClass::kNone;
  asleep.wait = WaitClass::kSleeping;
  VerdictTimeline timeline;
  timeline.Add(0, running);
  timeline.Add(10 * kMs, running);
  timeline.Add(30 * kMs, asleep);
  const Verdict verdict = timeline.Sum(0, 30 * kMs);
  EXPECT_EQ(verdict.running_ns, 10 * kMs);
  EXPECT_EQ(verdict.sleeping_ns, 20 * kMs);
  EXPECT_EQ(verdict.source, "thread states");
}

TEST(VerdictTimeline, SumsExactlyWhateverTheReadings) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    VerdictTimeline timeline;
    uint64_t now = 0, run = 0, runnable = 0;
    for (int i = 0; i < 20; ++i) {
      now += random() % 1000;
      run += random() % 900;
      runnable += random() % 900;
      ThreadReading reading;
      reading.sched_known = random() % 5 != 0;
      reading.run_ns = run;
      reading.runnable_ns = runnable;
      reading.wait = static_cast<WaitClass>(random() % 6);
      timeline.Add(now, reading);
    }
    const uint64_t from = random() % 12000, to = from + random() % 12000;
    ASSERT_EQ(timeline.Sum(from, to).total_ns(), to - from);
  }
}

TEST(VerdictTimeline, RestartKeepsTheBaseline) {
  VerdictTimeline timeline;
  timeline.Add(0, At(0, 0, WaitClass::kBlocked));
  timeline.Add(100 * kMs, At(50, 0, WaitClass::kBlocked));
  timeline.Restart();
  timeline.Add(200 * kMs, At(150, 0, WaitClass::kBlocked));
  EXPECT_EQ(timeline.Sum(0, 200 * kMs).unknown_ns, 100 * kMs);
  EXPECT_EQ(timeline.Sum(100 * kMs, 200 * kMs).running_ns, 100 * kMs);
}

TEST(VerdictSentence, NamesTheLargestShareAndThePlace) {
  Verdict verdict;
  verdict.lock_ns = 880;
  verdict.running_ns = 120;
  EXPECT_EQ(VerdictSentence(verdict, "Cache::Get"),
            "88 % waiting for a lock (futex) in Cache::Get");
}

}  // namespace
}  // namespace jankbox
