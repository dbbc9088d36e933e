#include "diagnosis/seal/repeat_policy.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace jankbox {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kDay = 86'400'000 * kMs;
constexpr uint64_t kNotRandom = 1;  // divisible by nothing but 1

Exemplar Count(const RepeatLimits& limits, const std::string& fingerprint, uint64_t ms,
               RepeatState* state, bool severe = false) {
  return CountIncident(limits, fingerprint, ms * kMs, severe, kNotRandom, state).exemplar;
}

TEST(RepeatPolicy, FirstAndWorstAreWrittenTheRestIsCounted) {
  RepeatState state;
  EXPECT_EQ(Count({}, "a", 100, &state), Exemplar::kFirst);
  EXPECT_EQ(Count({}, "a", 100, &state), Exemplar::kNone);
  EXPECT_EQ(Count({}, "a", 150, &state), Exemplar::kNone);  // not by more than half
  EXPECT_EQ(Count({}, "b", 10, &state), Exemplar::kFirst);
  const RepeatAnswer worst = CountIncident({}, "a", 151 * kMs, false, kNotRandom, &state);
  EXPECT_EQ(worst.exemplar, Exemplar::kWorst);
  EXPECT_EQ(worst.count, 4u);
  EXPECT_EQ(worst.unreported, 2u);
  EXPECT_EQ(CountIncident({}, "a", 1, false, kNotRandom, &state).unreported, 0u);
  EXPECT_EQ(state.written_today, 3u);
}

// Which of 20 incidents was the last one chosen by chance: all alike.
TEST(RepeatPolicy, RandomExemplarIsAnyOfThem) {
  std::mt19937_64 random(7);
  std::map<int, int> last;
  constexpr int kRounds = 20'000;
  for (int round = 0; round < kRounds; ++round) {
    RepeatState state;
    int chosen = 0;
    for (int i = 0; i < 20; ++i) {
      const RepeatAnswer answer =
          CountIncident({.reports_a_day = 0}, "a", kMs, false, random(), &state);
      if (answer.exemplar != Exemplar::kNone) chosen = i;
    }
    ++last[chosen];
  }
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(last[i], kRounds / 20, kRounds / 20 / 4) << i;
}

TEST(RepeatPolicy, DayHasACapAndSevereIncidentsAQuarterMore) {
  RepeatState state;
  const RepeatLimits limits = {.reports_a_day = 8};
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(Count(limits, std::to_string(i), 1, &state), Exemplar::kFirst);
  const RepeatAnswer refused = CountIncident(limits, "x", kMs, false, kNotRandom, &state);
  EXPECT_EQ(refused.exemplar, Exemplar::kNone);
  EXPECT_EQ(refused.reason, RefusalReason::kDailyCap);
  EXPECT_EQ(Count(limits, "anr", 1, &state, true), Exemplar::kFirst);
  EXPECT_EQ(Count(limits, "anr 2", 1, &state, true), Exemplar::kFirst);
  EXPECT_EQ(Count(limits, "anr 3", 1, &state, true), Exemplar::kNone);
  PassTime(limits, kDay - 1, &state);
  EXPECT_EQ(Count(limits, "x", 1, &state), Exemplar::kNone);
  PassTime(limits, 1, &state);
  EXPECT_EQ(Count(limits, "x", 1, &state), Exemplar::kFirst);
}

TEST(RepeatPolicy, FingerprintIsNewAgainAfterSevenDays) {
  RepeatState state;
  EXPECT_EQ(Count({}, "a", 100, &state), Exemplar::kFirst);
  PassTime({}, 7 * kDay - 1, &state);
  EXPECT_EQ(Count({}, "a", 100, &state), Exemplar::kNone);
  PassTime({}, 1, &state);
  const RepeatAnswer again = CountIncident({}, "a", 1, false, kNotRandom, &state);
  EXPECT_EQ(again.exemplar, Exemplar::kFirst);
  EXPECT_EQ(again.count, 3u);
  EXPECT_EQ(again.unreported, 1u);
}

TEST(RepeatPolicy, RevisionsAreNotCountedAgain) {
  RepeatState state;
  EXPECT_EQ(Count({}, "a", 5000, &state), Exemplar::kFirst);
  EXPECT_NE(ReviseIncident({}, "a", 9000 * kMs, true, true, &state).exemplar, Exemplar::kNone);
  EXPECT_EQ(state.written_today, 1u);
  EXPECT_EQ(state.records[0].count, 1u);
  EXPECT_EQ(state.records[0].worst_ns, 9000 * kMs);
  // One that was refused, and grew into the worst.
  EXPECT_EQ(Count({}, "a", 5000, &state), Exemplar::kNone);
  EXPECT_EQ(ReviseIncident({}, "a", 9001 * kMs, true, false, &state).exemplar, Exemplar::kNone);
  EXPECT_EQ(ReviseIncident({}, "a", 20'000 * kMs, true, false, &state).exemplar, Exemplar::kWorst);
  EXPECT_EQ(state.records[0].count, 2u);
}

TEST(RepeatPolicy, WhatCouldNotBeWrittenIsTakenBack) {
  RepeatState state;
  EXPECT_EQ(Count({}, "a", 1, &state), Exemplar::kFirst);
  TakeBack("a", &state);
  EXPECT_EQ(state.written_today, 0u);
  EXPECT_EQ(state.records[0].unreported, 1u);
  EXPECT_EQ(Count({}, "a", 1, &state), Exemplar::kFirst);
}

TEST(RepeatPolicy, ForgetsWhatWasNotSeenForLongestAndSaysHowMuch) {
  RepeatState state;
  for (size_t i = 0; i < RepeatState::kMaxRecords; ++i) Count({}, std::to_string(i), 1, &state);
  Count({}, "0", 1, &state);
  Count({}, "new", 1, &state);
  EXPECT_EQ(state.records.size(), RepeatState::kMaxRecords);
  EXPECT_EQ(state.forgotten, 1u);
  EXPECT_EQ(state.records.front().fingerprint, "2");
  EXPECT_EQ(CountIncident({}, "0", 1, false, kNotRandom, &state).count, 3u);
}

TEST(RepeatPolicy, EveryIncidentWhereThatIsAskedFor) {
  RepeatState state;
  const RepeatLimits limits = {.reports_a_day = 3, .every_incident = true};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Count(limits, "a", 1, &state), Exemplar::kEvery);
  EXPECT_EQ(Count(limits, "a", 1, &state), Exemplar::kNone);
}

}  // namespace
}  // namespace jankbox
