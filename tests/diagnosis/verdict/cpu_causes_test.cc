// What kept a thread that was able to run from a CPU.
#include "diagnosis/verdict/cpu_causes.h"

#include <gmock/gmock.h>

#include "base/clock.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kMs = kNsPerMs;

Verdict Of(uint64_t runnable_ms, uint64_t running_ms) {
  Verdict verdict;
  verdict.Add({.cause = VerdictCause::kRunnable,
               .source = VerdictSource::kFtrace,
               .ns = runnable_ms * kMs});
  verdict.Add(
      {.cause = VerdictCause::kRunning, .source = VerdictSource::kFtrace, .ns = running_ms * kMs});
  return verdict;
}

CpuShortage Quota(uint64_t throttled_ms) {
  return {.known = true,
          .throttled_ns = throttled_ms * kMs,
          .quota_permille = 200,
          .cgroup = "x.slice",
          .pressure_known = true};
}

CpuShortage Overload() {
  return {.known = true,
          .pressure_known = true,
          .waiting_permille = 956,
          .idle_known = true,
          .idle_permille = 3};
}

TEST(ExplainRunnable, QuotaIsNamedInsteadOfThoseThatRanMeanwhile) {
  const CpuShortage quota = Quota(540);
  Verdict verdict = Of(560, 140);
  ExplainRunnable(quota, &verdict);
  EXPECT_EQ(verdict.total_ns(), 700 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kRunnable), 560 * kMs);
  EXPECT_EQ(VerdictSentence(verdict, {.rivals = "'sh' of another"}),
            "77 % throttled by the CPU quota of cgroup x.slice (20 % of one CPU): 540 of 700 ms "
            "(estimate) and 20 % on the CPU");
  EXPECT_STREQ(KeyCause(verdict), "running") << "other devices have another quota";
  EXPECT_THAT(verdict.Sources(), ElementsAre("cpu.stat", "ftrace"));
}

// The counter is the cgroup's, of all its CPUs and threads.
TEST(ExplainRunnable, QuotaExplainsNoMoreThanTheThreadWaited) {
  const CpuShortage quota = Quota(5000);
  Verdict verdict = Of(300, 400);
  ExplainRunnable(quota, &verdict);
  EXPECT_EQ(verdict.total_ns(), 700 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kRunnable), 300 * kMs);
}

TEST(ExplainRunnable, QuotaUnderAThreadThatSeemsToRunIsNamed) {
  const CpuShortage quota = Quota(1700);
  Verdict verdict = Of(20, 2300);
  verdict.uncounted_ns = 1600 * kMs;
  ExplainRunnable(quota, &verdict);
  EXPECT_EQ(verdict.Of(VerdictCause::kRunning), 700 * kMs) << "its own CPU time is not taken";
  EXPECT_EQ(verdict.Of(VerdictCause::kRunnable), 1620 * kMs);
  EXPECT_THAT(VerdictSentence(verdict, {}), HasSubstr("70 % throttled by the CPU quota"));
}

TEST(ExplainRunnable, QuotaThatDidNotThrottleExplainsNothing) {
  const CpuShortage quota = Quota(0);
  Verdict verdict = Of(560, 140);
  ExplainRunnable(quota, &verdict);
  EXPECT_EQ(VerdictSentence(verdict, {.rivals = "'sh' of another"}),
            "80 % ready to run while others had the CPU: 'sh' of another and 20 % on the CPU");
}

TEST(ExplainRunnable, OverloadedMachineIsNamedWithThoseThatHadTheCpu) {
  const CpuShortage overload = Overload();
  Verdict verdict = Of(560, 140);
  ExplainRunnable(overload, &verdict);
  EXPECT_EQ(
      VerdictSentence(verdict, {.rivals = "'gcc' of another"}),
      "80 % waiting for a CPU of an overloaded machine: 'gcc' of another and 20 % on the CPU");
  EXPECT_STREQ(KeyCause(verdict), "running") << "the load is another one in each run";
  EXPECT_THAT(CpuNote(overload, verdict), HasSubstr("in 96 % of the time"));
}

TEST(ExplainRunnable, HostThatTookTheCpuIsNamedWhereNoWaitWasSeen) {
  const CpuShortage stolen = {.known = true, .stolen_ns = 120 * kMs, .pressure_known = true};
  Verdict verdict = Of(15, 150);
  verdict.Add(
      {.cause = VerdictCause::kBlocked, .source = VerdictSource::kSchedstat, .ns = 125 * kMs});
  verdict.Add({.cause = VerdictCause::kBlocked,
               .source = VerdictSource::kSystemCall,
               .ns = 10 * kMs,
               .call = "poll"});
  ExplainRunnable(stolen, &verdict);
  EXPECT_EQ(verdict.total_ns(), 300 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kRunnable), 135 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kBlocked), 15 * kMs);
  EXPECT_EQ(VerdictSentence(verdict, {.rivals = "'sh' of another"}),
            "50 % on the CPU and 45 % without its virtual CPU, which the host of this machine had "
            "taken (estimate)");
  EXPECT_STREQ(KeyCause(verdict), "running") << "the host is another one in each run";
}

TEST(ExplainRunnable, HostThatTookTheCpuUnderARunningThreadIsNamed) {
  const CpuShortage stolen = {.known = true, .stolen_ns = 60 * kMs, .pressure_known = true};
  Verdict verdict = Of(20, 180);
  verdict.uncounted_ns = 40 * kMs;
  ExplainRunnable(stolen, &verdict);
  EXPECT_EQ(verdict.Of(VerdictCause::kRunning), 140 * kMs);
  EXPECT_EQ(verdict.Of(VerdictCause::kRunnable), 60 * kMs);
  Verdict longer = Of(20, 180);
  longer.uncounted_ns = 100 * kMs;
  ExplainRunnable(stolen, &longer);
  EXPECT_EQ(longer.Of(VerdictCause::kRunning), 120 * kMs) << "no more than the host took";
}

TEST(ExplainRunnable, UnknownCountersChangeNothing) {
  Verdict verdict = Of(560, 140);
  ExplainRunnable({}, &verdict);
  EXPECT_EQ(VerdictSentence(verdict, {}),
            "80 % ready to run while others had the CPU and 20 % on the CPU");
  EXPECT_EQ(CpuNote({}, verdict), "");
}

TEST(CpuNote, MissingPressureIsSaidOnlyIfTheThreadWaitedForACpu) {
  const CpuShortage unknown = {.known = true};
  EXPECT_THAT(CpuNote(unknown, Of(560, 140)), HasSubstr("does not report CPU"));
  EXPECT_EQ(CpuNote(unknown, Of(50, 650)), "");
  const CpuShortage quota = {.known = true, .throttled_ns = 560 * kMs, .quota_permille = 200};
  Verdict throttled = Of(560, 140);
  ExplainRunnable(quota, &throttled);
  EXPECT_EQ(CpuNote(quota, throttled), "") << "the quota explains it";
}

}  // namespace
}  // namespace jankbox
