#include "uploader/counts/counters.h"

#include <gmock/gmock.h>

#include "base/uuid.h"
#include "report/duration_buckets.h"
#include "tests/uploader/counts/counted_incident.h"
#include "uploader/counts/count_epoch.h"

namespace jankbox {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

uint64_t Incidents(const ReportCountBook& book) {
  uint64_t incidents = 0;
  for (const ReportBookedCounter& booked : book.counters) incidents += booked.counter.incidents;
  return incidents;
}

TEST(Counters, OneKeyOfOneVersionIsOneCounter) {
  ReportCountBook book = NewCountBook("new");
  EXPECT_TRUE(AddIncident(Incident("a", 100), &book));
  EXPECT_TRUE(AddIncident(Incident("a", 300), &book));
  EXPECT_TRUE(AddIncident(Incident("a", 200, "2.0"), &book));
  EXPECT_TRUE(AddIncident(Incident("b", 5), &book));
  ASSERT_THAT(book.counters, SizeIs(3));
  const ReportCounter& first = book.counters[0].counter;
  EXPECT_EQ(first.incidents, 2u);
  EXPECT_EQ(first.total_ns, 400 * kNsPerMs);
  EXPECT_EQ(first.max_ns, 300 * kNsPerMs);
  ASSERT_THAT(first.buckets, SizeIs(2));
  EXPECT_EQ(first.buckets[0].index, DurationBucket(100 * kNsPerMs));
  EXPECT_EQ(first.buckets[1].index, DurationBucket(300 * kNsPerMs));
  EXPECT_EQ(first.blamed_function, "Feed::Bind");
  const ReportCounter sum = SumOfKey(book, "a");
  EXPECT_EQ(sum.incidents, 3u);
  EXPECT_EQ(sum.total_ns, 600 * kNsPerMs);
  EXPECT_EQ(sum.max_ns, 300 * kNsPerMs);
  EXPECT_EQ(SumOfKey(book, "c").key, "");
  EXPECT_TRUE(IsPlausible(book));
}

TEST(Counters, SameIncidentIsCountedOnce) {
  ReportCountBook book = NewCountBook("new");
  const CountedIncident incident = Incident("a");
  EXPECT_TRUE(AddIncident(incident, &book));
  EXPECT_FALSE(AddIncident(incident, &book));
  EXPECT_EQ(book.seq, 1u);
  EXPECT_EQ(book.counters[0].counter.incidents, 1u);
  ForgetId(incident.id, &book);
  EXPECT_THAT(book.counted_ids, IsEmpty());
}

TEST(Counters, SeveralAtOnceHaveTheirMeanInTheHistogram) {
  ReportCountBook book = NewCountBook("new");
  CountedIncident seven = Incident(kOtherKey);
  seven.counter.incidents = 7;
  seven.counter.total_ns = 700 * kNsPerMs;
  EXPECT_TRUE(AddIncident(seven, &book));
  ASSERT_THAT(book.counters, SizeIs(1));
  EXPECT_EQ(book.counters[0].counter.incidents, 7u);
  EXPECT_EQ(book.counters[0].counter.message, "") << "they have no cause in common";
  ASSERT_THAT(book.counters[0].counter.buckets, SizeIs(1));
  EXPECT_EQ(book.counters[0].counter.buckets[0].index, DurationBucket(100 * kNsPerMs));
  EXPECT_EQ(book.counters[0].counter.buckets[0].incidents, 7u);
  EXPECT_TRUE(IsPlausible(book));
}

TEST(Counters, BeyondFiveHundredIsOther) {
  ReportCountBook book = NewCountBook("new");
  for (size_t i = 0; i < kMaxCounters + 50; ++i) {
    AddIncident(Incident("key " + std::to_string(i)), &book);
  }
  ASSERT_THAT(book.counters, SizeIs(kMaxCounters + 1));
  EXPECT_EQ(book.counters.back().counter.key, kOtherKey);
  EXPECT_EQ(book.counters.back().counter.version, "") << "versions are not bounded";
  EXPECT_EQ(book.counters.back().counter.incidents, 50u);
  AddIncident(Incident("key 0"), &book);
  EXPECT_EQ(book.counters[0].counter.incidents, 2u) << "a known key keeps its counter";
  EXPECT_EQ(Incidents(book), kMaxCounters + 51);
  EXPECT_THAT(book.counted_ids, SizeIs(kMaxCountedIds));
  EXPECT_TRUE(IsPlausible(book));
}

TEST(Counters, LongTextsAreTheSameCounterAgain) {
  ReportCountBook book = NewCountBook("new");
  const std::string longest(5000, 'v');
  AddIncident(Incident(longest, 1, longest), &book);
  AddIncident(Incident(longest, 1, longest), &book);
  ASSERT_THAT(book.counters, SizeIs(1));
  EXPECT_LE(book.counters[0].counter.version.size(), 64u);
  EXPECT_TRUE(IsPlausible(book));
}

TEST(Counters, WhatChangedSinceTheAcknowledgementIsUnsent) {
  ReportCountBook book = NewCountBook("new");
  AddIncident(Incident("a"), &book);
  AddIncident(Incident("b"), &book);
  ReportCounts counts = UnsentCounts(book);
  EXPECT_EQ(counts.format, 1u);
  EXPECT_EQ(counts.epoch, book.epoch);
  EXPECT_EQ(counts.seq, 2u);
  EXPECT_EQ(counts.base_seq, 0u);
  EXPECT_THAT(counts.counters, SizeIs(2));
  book.acknowledged_seq = 2;
  EXPECT_THAT(UnsentCounts(book).counters, IsEmpty());
  AddIncident(Incident("a"), &book);
  counts = UnsentCounts(book);
  EXPECT_EQ(counts.seq, 3u);
  EXPECT_EQ(counts.base_seq, 2u);
  ASSERT_THAT(counts.counters, SizeIs(1));
  EXPECT_EQ(counts.counters[0].key, "a");
  EXPECT_EQ(counts.counters[0].incidents, 2u) << "its state, not the difference";
}

TEST(Counters, NumbersThatDoNotFitTogetherAreNotPlausible) {
  ReportCountBook whole = NewCountBook("new");
  AddIncident(Incident("a"), &whole);
  ASSERT_TRUE(IsPlausible(whole));
  const auto broken = [&](const std::function<void(ReportCountBook*)>& change) {
    ReportCountBook book = whole;
    change(&book);
    return !IsPlausible(book);
  };
  EXPECT_TRUE(broken([](ReportCountBook* book) { book->epoch = "../../etc"; }));
  EXPECT_TRUE(broken([](ReportCountBook* book) { book->acknowledged_seq = 2; }));
  EXPECT_TRUE(broken([](ReportCountBook* book) { book->counters[0].seq = 2; }));
  EXPECT_TRUE(broken([](ReportCountBook* book) { book->counters[0].counter.incidents = 2; }));
  EXPECT_TRUE(broken([](ReportCountBook* book) { book->counters[0].counter.max_ns *= 2; }));
  EXPECT_TRUE(broken([](ReportCountBook* book) { book->counters[0].counter.key = ""; }));
  EXPECT_TRUE(broken([](ReportCountBook* book) {
    book->counters[0].counter.buckets.push_back({kDurationBuckets, 0});
  }));
}

TEST(DurationBuckets, EachHoldsItsOwnBeginAndEndsBeforeTheNext) {
  for (uint32_t bucket = 0; bucket < kDurationBuckets; ++bucket) {
    EXPECT_EQ(DurationBucket(BucketBeginNs(bucket)), bucket);
    EXPECT_EQ(DurationBucket(BucketMiddleNs(bucket)), bucket);
    if (bucket + 1 == kDurationBuckets) break;
    EXPECT_EQ(DurationBucket(BucketBeginNs(bucket + 1) - 1), bucket);
    if (bucket != 0) {
      EXPECT_LE(static_cast<double>(BucketBeginNs(bucket + 1)),
                1.26 * static_cast<double>(BucketBeginNs(bucket)));
    }
  }
  EXPECT_EQ(DurationBucket(UINT64_MAX), kDurationBuckets - 1);
}

}  // namespace
}  // namespace jankbox
