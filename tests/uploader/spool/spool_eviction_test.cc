#include "uploader/spool/spool_eviction.h"

#include <gmock/gmock.h>

#include "base/clock.h"

namespace jankbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kHourNs = 3600 * kNsPerSecond;

SpoolRecord Record(char name, uint64_t age_hours, uint64_t size_bytes) {
  return {.id = std::string(1, name),
          .file = {.inode = 1, .mtime_ns = 1, .size_bytes = size_bytes},
          .age_ns = age_hours * kHourNs};
}

// "a quota_bytes", … in the order of the plan.
std::vector<std::string> Names(const std::vector<SpoolRecord>& records, const EvictionPlan& plan) {
  std::vector<std::string> names;
  for (const SpoolEviction& eviction : plan.evictions) {
    names.push_back(records[eviction.record].id + " " + SpoolFateName(eviction.why));
  }
  return names;
}

SpoolDemand Incoming(uint64_t bytes) { return {.incoming_count = 1, .incoming_bytes = bytes}; }

TEST(PlanEvictions, NothingGoesWhileTheLimitsHold) {
  const std::vector<SpoolRecord> records = {Record('a', 1, 4 * kKiB), Record('b', 2, 4 * kKiB)};
  const SpoolLimits limits{.max_bytes = 10 * kKiB, .max_reports = 3};
  const EvictionPlan plan = PlanEvictions(records, limits, Incoming(2 * kKiB));
  EXPECT_TRUE(plan.fits);
  EXPECT_THAT(plan.evictions, IsEmpty());
}

TEST(PlanEvictions, BytesGoOldestFirst) {
  const std::vector<SpoolRecord> records = {Record('a', 1, 4 * kKiB), Record('b', 9, 4 * kKiB),
                                            Record('c', 5, 4 * kKiB)};
  const SpoolLimits limits{.max_bytes = 12 * kKiB};
  EXPECT_THAT(Names(records, PlanEvictions(records, limits, Incoming(5 * kKiB))),
              ElementsAre("b quota_bytes", "c quota_bytes"));
}

TEST(PlanEvictions, CountGoesOldestFirst) {
  const std::vector<SpoolRecord> records = {Record('a', 3, 1), Record('b', 2, 1),
                                            Record('c', 1, 1)};
  const SpoolLimits limits{.max_reports = 3};
  EXPECT_THAT(Names(records, PlanEvictions(records, limits, Incoming(1))),
              ElementsAre("a quota_count"));
  EXPECT_THAT(PlanEvictions(records, limits, {}).evictions, IsEmpty());
}

TEST(PlanEvictions, SameAgeGoesByTimeOrderedId) {
  const std::vector<SpoolRecord> records = {Record('b', 3, 1), Record('a', 3, 1)};
  const SpoolLimits limits{.max_reports = 2};
  EXPECT_THAT(Names(records, PlanEvictions(records, limits, Incoming(1))),
              ElementsAre("a quota_count"));
}

TEST(PlanEvictions, TooOldOnesGoWithoutNeed) {
  const std::vector<SpoolRecord> records = {Record('a', 7 * 24 - 1, 1), Record('b', 7 * 24, 1),
                                            Record('c', 24 * 365, 1)};
  EXPECT_THAT(Names(records, PlanEvictions(records, {}, {})), ElementsAre("c age", "b age"));
}

TEST(PlanEvictions, ReplacedRevisionCountsOnceAndStays) {
  const std::vector<SpoolRecord> records = {Record('a', 9, 4 * kKiB), Record('b', 1, 4 * kKiB)};
  const SpoolLimits limits{.max_bytes = 8 * kKiB, .max_reports = 2};
  SpoolDemand demand = Incoming(4 * kKiB);
  demand.replaces_id = "a";
  EXPECT_THAT(PlanEvictions(records, limits, demand).evictions, IsEmpty());
}

TEST(PlanEvictions, SettledRecordsNeitherCountNorGo) {
  std::vector<SpoolRecord> records = {Record('a', 9, 4 * kKiB), Record('b', 1, 4 * kKiB)};
  records[0].fate = SpoolFate::kSent;
  const SpoolLimits limits{.max_bytes = 8 * kKiB};
  EXPECT_THAT(PlanEvictions(records, limits, Incoming(4 * kKiB)).evictions, IsEmpty());
}

TEST(PlanEvictions, FreeSpaceFloorTakesTheOldest) {
  const std::vector<SpoolRecord> records = {Record('a', 9, 4 * kKiB), Record('b', 1, 4 * kKiB)};
  const SpoolLimits limits{.min_free_bytes = 100 * kKiB};
  SpoolDemand demand = Incoming(6 * kKiB);
  demand.free_bytes = 102 * kKiB;
  EXPECT_THAT(Names(records, PlanEvictions(records, limits, demand)), ElementsAre("a free_space"));
  demand.free_bytes = 106 * kKiB;
  EXPECT_THAT(PlanEvictions(records, limits, demand).evictions, IsEmpty());
}

TEST(PlanEvictions, NothingIsGivenUpForWhatCannotFit) {
  const std::vector<SpoolRecord> records = {Record('a', 9, 4 * kKiB), Record('b', 1, 4 * kKiB)};
  SpoolDemand demand = Incoming(4 * kKiB);
  demand.free_bytes = 10 * kKiB;
  EvictionPlan plan = PlanEvictions(records, {.min_free_bytes = 100 * kKiB}, demand);
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(plan.evictions, IsEmpty());

  plan = PlanEvictions(records, {.max_bytes = 20 * kKiB}, Incoming(21 * kKiB));
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(plan.evictions, IsEmpty());
  EXPECT_FALSE(PlanEvictions(records, {.max_reports = 0}, Incoming(1)).fits);
}

TEST(PlanEvictions, OnlyAFullDiskGivesNothingUp) {
  const std::vector<SpoolRecord> records = {Record('a', 9, 4 * kKiB)};
  const EvictionPlan plan = PlanEvictions(records, {}, {.free_bytes = 0});
  EXPECT_TRUE(plan.fits);
  EXPECT_THAT(plan.evictions, IsEmpty());
}

TEST(PlanEvictions, QuarantineGoesBeforeAnyReport) {
  const std::vector<SpoolRecord> records = {Record('a', 9, 4 * kKiB)};
  const SpoolLimits limits{.max_bytes = 10 * kKiB};
  SpoolDemand demand = Incoming(6 * kKiB);
  demand.quarantined_bytes = 4 * kKiB;
  EvictionPlan plan = PlanEvictions(records, limits, demand);
  EXPECT_TRUE(plan.drop_quarantined);
  EXPECT_THAT(plan.evictions, IsEmpty());

  demand.incoming_bytes = 2 * kKiB;
  plan = PlanEvictions(records, limits, demand);
  EXPECT_FALSE(plan.drop_quarantined);
}

TEST(PlanEvictions, ReportsBeingWrittenCountButCannotGo) {
  const std::vector<SpoolRecord> records = {Record('a', 9, 4 * kKiB)};
  const SpoolLimits limits{.max_bytes = 10 * kKiB};
  SpoolDemand demand = Incoming(4 * kKiB);
  demand.in_flight_count = 1;
  demand.in_flight_bytes = 4 * kKiB;
  EXPECT_THAT(Names(records, PlanEvictions(records, limits, demand)), ElementsAre("a quota_bytes"));
  demand.in_flight_bytes = 8 * kKiB;
  EXPECT_FALSE(PlanEvictions(records, limits, demand).fits);
}

TEST(SpoolLimits, DefaultsAreThoseOfTheTable) {
  const SpoolLimits limits;
  EXPECT_EQ(limits.max_bytes, 10u * 1024 * 1024);
  EXPECT_EQ(limits.max_reports, 64u);
  EXPECT_EQ(limits.max_age_s, 7u * 24 * 3600);
  EXPECT_EQ(limits.min_free_bytes, 64u * 1024 * 1024);
  EXPECT_EQ(limits.max_upload_bytes, 1024u * 1024);
}

}  // namespace
}  // namespace jankbox
