#include "uploader/counts/usage.h"

#include <gmock/gmock.h>

#include <map>

#include "report/report_encoder.h"
#include "tests/uploader/counts/process_usage.h"
#include "uploader/counts/count_epoch.h"
#include "uploader/counts/counters.h"
#include "uploader/policy/upload_pace.h"

namespace jankbox {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kHourMs = 3'600'000;

bool Add(const ProcessUsage& usage, ReportCountBook* book) { return AddUsage(usage, {}, book); }

uint64_t Messages(const ReportCountBook& book) {
  uint64_t messages = 0;
  for (const ReportBookedUsage& booked : book.usage) messages += booked.usage.messages;
  return messages;
}

ReportCounts Unsent(const ReportCountBook& book, size_t max_bytes = SIZE_MAX) {
  ReportCounts counts = UnsentCounts(book);
  AddUnsentUsage(book, max_bytes, &counts);
  return counts;
}

TEST(Usage, IsAddedUpByDayAppAndVersion) {
  ReportCountBook book = NewCountBook("new");
  EXPECT_TRUE(Add(Used(5), &book));
  EXPECT_TRUE(Add(Used(7), &book));
  EXPECT_TRUE(Add(Used(1, NewUuid(1), kDay, "2.0"), &book));
  EXPECT_TRUE(Add(Used(1, NewUuid(1), kDay + 1), &book));
  ASSERT_THAT(book.usage, SizeIs(3));
  const ReportUsage& first = book.usage[0].usage;
  EXPECT_EQ(first.day, kDay);
  EXPECT_EQ(first.app, "Gallery");
  EXPECT_EQ(first.version, "1.0");
  EXPECT_EQ(first.messages, 12u);
  EXPECT_EQ(first.foreground_ms, 1200u);
  EXPECT_EQ(first.sessions, 24u);
  EXPECT_EQ(first.frames, 36u);
  EXPECT_FALSE(book.installation.empty());
  EXPECT_TRUE(IsPlausible(book));
}

TEST(Usage, OfOneRecordingIsAddedOnce) {
  ReportCountBook book = NewCountBook("new");
  const std::string id = NewUuid(1);
  EXPECT_TRUE(Add(Used(5, id), &book));
  EXPECT_FALSE(Add(Used(5, id), &book)) << "the same state again";
  EXPECT_TRUE(Add(Used(8, id, kDay + 1), &book));
  EXPECT_FALSE(Add(Used(6, id), &book)) << "an earlier state";
  ASSERT_THAT(book.usage, SizeIs(2));
  EXPECT_EQ(book.usage[0].usage.messages, 5u);
  EXPECT_EQ(book.usage[1].usage.messages, 3u) << "what was new on the second day";
  ForgetProcess(id, &book);
  EXPECT_THAT(book.processes, IsEmpty());
}

// A book that begins again has nothing of a recording that goes on.
TEST(Usage, WhatTheCallerKnowsToBeAddedIsNotAddedAgain) {
  ReportCountBook book = NewCountBook("damaged");
  const std::string id = NewUuid(1);
  EXPECT_TRUE(AddUsage(Used(9, id), Used(7).total, &book));
  EXPECT_EQ(Messages(book), 2u);
  EXPECT_FALSE(Add(Used(9, id), &book)) << "as recovery does";
}

TEST(Usage, ProcessWithoutAUserInterfaceIsNotCounted) {
  ReportCountBook book = NewCountBook("new");
  ProcessUsage usage = Used(0);
  usage.total.sessions = 1;
  usage.total.foreground_ms = 1000;
  EXPECT_FALSE(Add(usage, &book));
  EXPECT_THAT(book.usage, IsEmpty());
  EXPECT_EQ(book.installation, "") << "nothing to identify";
  usage.total.frames = 1;
  EXPECT_TRUE(Add(usage, &book)) << "all of it once it shows one";
  EXPECT_EQ(book.usage[0].usage.foreground_ms, 1000u);
}

TEST(Usage, NumbersThatCannotBeTrueAreNotCounted) {
  ReportCountBook book = NewCountBook("new");
  ProcessUsage usage = Used(1);
  usage.total.frames = UINT64_MAX;
  EXPECT_FALSE(Add(usage, &book));
  usage = Used(1, NewUuid(1), kMaxUsageDay + 1);
  EXPECT_FALSE(Add(usage, &book));
  for (int i = 0; i < 3; ++i) {
    usage = Used(1);
    usage.total.frames = kMaxUsageNumber;
    EXPECT_TRUE(Add(usage, &book));
  }
  EXPECT_EQ(book.usage[0].usage.frames, kMaxUsageNumber);
  EXPECT_TRUE(IsPlausible(book));
}

TEST(Usage, RecordingsThatAreRememberedAreTheLatest) {
  ReportCountBook book = NewCountBook("new");
  const std::string lives = NewUuid(1);
  for (size_t i = 0; i < 2 * kMaxCountedProcesses; ++i) {
    Add(Used(1 + i, lives), &book);
    Add(Used(1), &book);
  }
  EXPECT_THAT(book.processes, SizeIs(kMaxCountedProcesses));
  EXPECT_EQ(Messages(book), 4 * kMaxCountedProcesses);
}

TEST(Usage, AppsBeyondTheDaysRoomAreOneRow) {
  ReportCountBook book = NewCountBook("new");
  for (int i = 0; i < 40; ++i) {
    ProcessUsage usage = Used(1);
    usage.total.app = "app " + std::to_string(i);
    EXPECT_TRUE(Add(usage, &book));
  }
  EXPECT_LT(book.usage.size(), 20u);
  EXPECT_EQ(book.usage.back().usage.app, kOtherKey);
  EXPECT_EQ(book.usage.back().usage.day, kDay);
  EXPECT_EQ(Messages(book), 40u);
  EXPECT_LE(UsageBytes(Unsent(book)), kUsageBytesADay) << "a day's usage fits one message";
}

TEST(Usage, DaysBeyondTheBooksRoomAreOneRow) {
  ReportCountBook book = NewCountBook("new");
  for (uint32_t day = 0; day < 300; ++day) EXPECT_TRUE(Add(Used(1, NewUuid(1), kDay + day), &book));
  EXPECT_THAT(book.usage, SizeIs(kMaxUsage + 1));
  EXPECT_EQ(book.usage.back().usage.day, 0u);
  EXPECT_EQ(book.usage.back().usage.app, kOtherKey);
  EXPECT_EQ(Messages(book), 300u);
  EXPECT_TRUE(IsPlausible(book));
}

TEST(Usage, MessageHasWhatFitsAndTheRestLater) {
  ReportCountBook book = NewCountBook("new");
  for (uint32_t day = 0; day < 30; ++day) Add(Used(1, NewUuid(1), kDay + day), &book);
  uint64_t messages = 0;
  int sent = 0;
  for (; HasUnsentUsage(book); ++sent) {
    const ReportCounts counts = Unsent(book, 500);
    ASSERT_FALSE(counts.usage.empty());
    EXPECT_LE(UsageBytes(counts), 500u);
    EXPECT_EQ(counts.usage_base_seq, book.acknowledged_usage_seq);
    EXPECT_EQ(counts.installation, book.installation);
    for (const ReportUsage& usage : counts.usage) messages += usage.messages;
    book.acknowledged_usage_seq = counts.usage_seq;
  }
  EXPECT_EQ(messages, 30u);
  EXPECT_GT(sent, 2);
  const ReportCounts none = Unsent(book);
  EXPECT_THAT(none.usage, IsEmpty());
  EXPECT_EQ(none.installation, "") << "the id goes with usage only";
  EXPECT_EQ(UsageBytes(none), 0u);
}

TEST(Usage, NoRoomIsNoUsage) {
  ReportCountBook book = NewCountBook("new");
  Add(Used(1), &book);
  EXPECT_THAT(Unsent(book, 0).usage, IsEmpty());
  EXPECT_THAT(Unsent(book, 100).usage, IsEmpty());
  EXPECT_EQ(Unsent(book, 0).usage_seq, 0u);
}

TEST(Usage, OptingOutForgetsTheApp) {
  ReportCountBook book = NewCountBook("new");
  Add(Used(1), &book);
  ProcessUsage other = Used(2);
  other.total.app = "Music";
  Add(other, &book);
  EXPECT_TRUE(ForgetUsageOf("Gallery", &book));
  EXPECT_FALSE(ForgetUsageOf("Gallery", &book));
  ASSERT_THAT(book.usage, SizeIs(1));
  EXPECT_EQ(book.usage[0].usage.app, "Music");
}

// Ten days of an app and a device that do their worst: the longest names, four versions a day, and
// an upload every minute of which most are lost.
TEST(Usage, IsAtMostOneKibibyteADay) {
  ReportCountBook book = NewCountBook("damaged");
  book.unsure_stops = book.lost_incidents = 12'345'678;
  UploadPace pace;
  std::map<uint64_t, uint64_t> sent;  // bytes by day
  const std::string id = NewUuid(1);
  uint64_t counted = 0;
  for (uint64_t minute = 0; minute < 10 * 24 * 60; ++minute) {
    const uint64_t now_ms = kDay * 24 * kHourMs + minute * 60'000;
    const auto day = static_cast<uint32_t>(now_ms / (24 * kHourMs));
    ProcessUsage usage = Used(1'000'000 * (minute + 1), id, day);
    usage.total.app = std::string(300, 'a');
    usage.total.version = std::string(299, 'v') + std::to_string(minute / 360);
    Add(usage, &book);
    counted = usage.total.messages;
    const ReportCounts counts = Unsent(book, UsageAllowance(pace, now_ms));
    const uint64_t bytes = UsageBytes(counts);
    if (bytes == 0) continue;
    EXPECT_EQ(bytes, EncodeCounts(counts).size());
    NoteUsageSent(&pace, now_ms, bytes);
    sent[day] += bytes;
    if (minute % 3 == 0) book.acknowledged_usage_seq = counts.usage_seq;
  }
  EXPECT_THAT(sent, SizeIs(10));
  for (const auto& [day, bytes] : sent) EXPECT_LE(bytes, 1024u) << day;
  EXPECT_EQ(Messages(book), counted);
}

}  // namespace
}  // namespace jankbox
