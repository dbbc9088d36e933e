// Usage and resets in the files of counts: kills, copies, damage, and what is left to send under
// the old ids.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/app_text.h"
#include "base/checked_bytes.h"
#include "report/report_encoder.h"
#include "tests/uploader/counts/counted_incident.h"
#include "tests/uploader/counts/process_usage.h"
#include "tests/uploader/temporary_folder.h"
#include "uploader/counts/count_book.h"
#include "uploader/spool/spool_folder.h"

namespace jankbox {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CountUsageTest : public testing::Test {
 protected:
  CountBook Book() {
    return CountBook(folder_.path(), [this] { return now_; });
  }
  ReportCountBook Now() const { return CountBook::Read(folder_.path()).value(); }
  uint64_t Messages() const {
    uint64_t messages = 0;
    for (const ReportBookedUsage& booked : Now().usage) messages += booked.usage.messages;
    return messages;
  }
  void Count(const std::string& key) { ASSERT_TRUE(Book().Count(Incident(key)).ok()); }
  void Use(const ProcessUsage& usage) {
    CountBook book = Book();
    book.NoteUsage(usage);
    ASSERT_TRUE(book.WriteUsage().ok());
  }
  // Sends what is unsent, and has it acknowledged.
  ReportCounts Send() {
    const ReportCounts sent = Book().Unsent().value();
    EXPECT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq, .usage_seq = sent.usage_seq}).ok());
    return sent;
  }
  bool Has(const std::string& name) const { return fs::exists(folder_ / name); }
  void Boot() { now_ = {now_.realtime_ns, kNsPerSecond, now_.boot_id + " again"}; }

  TemporaryFolder folder_;
  SpoolInstant now_{1'700'000'000 * kNsPerSecond, 1000 * kNsPerSecond, "boot"};
  const std::string id_ = NewUuid(1);
};

TEST_F(CountUsageTest, OutlivesTheProcessAndIsAddedOnce) {
  Use(Used(5, id_));
  Use(Used(5, id_));
  Use(Used(9, id_));
  Use(Used(1));
  EXPECT_EQ(Messages(), 10u);
  EXPECT_EQ(Now().begun, "new");
}

TEST_F(CountUsageTest, GoesIntoTheWriteOfAnIncident) {
  CountBook book = Book();
  book.NoteUsage(Used(5, id_));
  ASSERT_TRUE(book.Count(Incident("a")).ok());
  EXPECT_EQ(Now().generation, 1u);
  EXPECT_EQ(Messages(), 5u);
}

TEST_F(CountUsageTest, IncidentThatWaitsGoesIntoTheWriteOfUsage) {
  const std::string path = folder_ / "spool";
  CountBook book(path, [this] { return now_; });
  EXPECT_FALSE(book.Count(Incident("a")).ok());
  fs::create_directory(path);
  book.NoteUsage(Used(5));
  EXPECT_TRUE(book.WriteUsage().ok());
  EXPECT_TRUE(book.all_written());
  EXPECT_EQ(SumOfKey(CountBook::Read(path).value(), "a").incidents, 1u);
}

TEST_F(CountUsageTest, DoesNotWaitForTheDisk) {
  Use(Used(5));
  EXPECT_FALSE(Has(kCountsName)) << "that one is synced";
  EXPECT_TRUE(Has(kRecentCountsName));
  CountBook book = Book();
  book.NoteUsage(Used(1));
  EXPECT_TRUE(book.Close().ok());
  EXPECT_FALSE(Has(kCountsName));
  Boot();
  Use(Used(1));
  EXPECT_EQ(Messages(), 7u);
  EXPECT_EQ(Now().unsure_stops, 0u) << "no incident may be missing";
  Count("a");
  EXPECT_TRUE(Has(kCountsName)) << "an incident is worth it";
}

TEST_F(CountUsageTest, NothingUsedIsNoFile) {
  CountBook book = Book();
  book.NoteUsage(Used(0));
  EXPECT_TRUE(book.WriteUsage().ok());
  EXPECT_TRUE(book.Close().ok());
  EXPECT_TRUE(book.Reset().ok());
  EXPECT_TRUE(book.ForgetUsage("Gallery").ok());
  EXPECT_FALSE(Has(kCountsName));
  EXPECT_FALSE(Has(kRecentCountsName));
}

TEST_F(CountUsageTest, RecordingIsForgottenOnceItsRingIsGone) {
  CountBook recovery = Book();
  recovery.CountEndedUsage(Used(5, id_));
  EXPECT_THAT(Now().processes, SizeIs(1));
  recovery.Settle();
  recovery.CountEndedUsage(Used(7));
  recovery.Settle();
  ASSERT_TRUE(recovery.Close().ok());
  EXPECT_THAT(Now().processes, IsEmpty());
  EXPECT_EQ(Messages(), 12u);
}

TEST_F(CountUsageTest, RecordingWhoseRingStaysIsRemembered) {
  CountBook recovery = Book();
  recovery.CountEndedUsage(Used(5, id_));
  recovery.Keep();
  recovery.CountEndedUsage(Used(7));
  recovery.Settle();
  ASSERT_TRUE(recovery.Close().ok());
  ASSERT_THAT(Now().processes, SizeIs(1));
  EXPECT_EQ(Now().processes[0].id, id_);
  Book().CountEndedUsage(Used(5, id_));
  EXPECT_EQ(Messages(), 12u);
}

TEST_F(CountUsageTest, DamagedBookBeginsWithWhatIsNew) {
  CountBook book = Book();
  book.NoteUsage(Used(5, id_));
  ASSERT_TRUE(book.WriteUsage().ok());
  const std::string installation = Now().installation;
  std::ofstream(folder_ / kRecentCountsName, std::ios::binary | std::ios::trunc) << "damaged";
  book.NoteUsage(Used(6, id_));
  ASSERT_TRUE(book.WriteUsage().ok());
  EXPECT_EQ(Now().begun, "damaged");
  EXPECT_EQ(Messages(), 1u);
  EXPECT_NE(Now().installation, installation);
}

TEST_F(CountUsageTest, CopyIsAnotherInstallation) {
  Use(Used(5, id_));
  const ReportCounts sent = Book().Unsent().value();
  const std::string installation = Now().installation;
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq, .forked = true}).ok());
  Use(Used(7, id_));
  EXPECT_EQ(Now().begun, "copy");
  EXPECT_NE(Now().installation, installation);
  EXPECT_EQ(Messages(), 2u) << "the other device has the rest";
}

TEST_F(CountUsageTest, AcknowledgedIsNotSentAgain) {
  Use(Used(5, id_));
  Count("a");
  const ReportCounts first = Send();
  ASSERT_THAT(first.usage, SizeIs(1));
  EXPECT_THAT(first.counters, SizeIs(1));
  EXPECT_EQ(first.installation, Now().installation);
  EXPECT_THAT(Book().Unsent()->usage, IsEmpty());
  Use(Used(6, id_));
  const ReportCounts second = Book().Unsent().value();
  ASSERT_THAT(second.usage, SizeIs(1));
  EXPECT_EQ(second.usage[0].messages, 6u) << "its state, not the difference";
  EXPECT_THAT(second.counters, IsEmpty());
  EXPECT_EQ(second.usage_base_seq, first.usage_seq);
}

TEST_F(CountUsageTest, UsageThatWasLeftOutIsNotAcknowledged) {
  Use(Used(5));
  Count("a");
  const ReportCounts sent = Book().Unsent(0).value();
  EXPECT_THAT(sent.usage, IsEmpty());
  EXPECT_THAT(sent.counters, SizeIs(1));
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq}).ok());
  EXPECT_THAT(Book().Unsent(0)->counters, IsEmpty());
  EXPECT_THAT(Book().Unsent()->usage, SizeIs(1));
}

TEST_F(CountUsageTest, ServerThatTakesNoUsageGetsItsCounters) {
  Use(Used(5));
  Count("a");
  const ReportCounts sent = Book().Unsent().value();
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq}).ok());
  EXPECT_THAT(Book().Unsent()->counters, IsEmpty());
  EXPECT_THAT(Book().Unsent()->usage, SizeIs(1));
}

TEST_F(CountUsageTest, ServerThatLostItsStoreGetsAllUsage) {
  Use(Used(5, id_, kDay));
  Send();
  Use(Used(6, id_, kDay + 1));
  const ReportCounts sent = Book().Unsent().value();
  EXPECT_THAT(sent.usage, SizeIs(1));
  ASSERT_TRUE(Book()
                  .Acknowledge(sent, {.seq = sent.seq, .usage_seq = sent.usage_seq, .resend = true})
                  .ok());
  EXPECT_THAT(Book().Unsent()->usage, SizeIs(2));
  EXPECT_EQ(Book().Unsent()->usage_base_seq, 0u);
}

TEST_F(CountUsageTest, FullEpochEndsWhenAllIsSentAndKeepsTheInstallation) {
  for (uint32_t day = 0; day < kFullUsage; ++day) Use(Used(day + 1, id_, kDay + day));
  const std::string epoch = Now().epoch;
  const std::string installation = Now().installation;
  Send();
  EXPECT_NE(Now().epoch, epoch);
  EXPECT_EQ(Now().begun, "full");
  EXPECT_EQ(Now().installation, installation);
  Use(Used(kFullUsage + 1, id_, kDay));
  EXPECT_EQ(Messages(), 1u) << "the recording goes on";
}

TEST_F(CountUsageTest, FullCountersDoNotWaitForAServerThatTakesNoUsage) {
  Use(Used(5, id_));
  for (size_t i = 0; i < kFullCounters; ++i) Count(std::to_string(i));
  const std::string installation = Now().installation;
  const ReportCounts sent = Book().Unsent().value();
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq}).ok());
  EXPECT_EQ(Now().begun, "full");
  EXPECT_THAT(Now().counters, IsEmpty());
  EXPECT_EQ(Now().installation, installation);
  const ReportCounts rest = Send();
  EXPECT_EQ(rest.epoch, sent.epoch);
  EXPECT_THAT(rest.counters, IsEmpty());
  EXPECT_EQ(rest.usage[0].messages, 5u);
  EXPECT_EQ(Now().ended.epoch, "");
}

// A session that is counted with nothing else would be missing once there is a message.
TEST_F(CountUsageTest, WhatComesBeforeTheFirstMessageCountsWithIt) {
  CountBook book = Book();
  ProcessUsage usage = Used(0, id_);
  usage.total.sessions = 1;
  book.NoteUsage(usage);
  ASSERT_TRUE(book.Count(Incident("slow start")).ok());
  EXPECT_THAT(Now().usage, IsEmpty());
  usage.total.messages = 3;
  book.NoteUsage(usage);
  ASSERT_TRUE(book.WriteUsage().ok());
  ASSERT_THAT(Now().usage, SizeIs(1));
  EXPECT_EQ(Now().usage[0].usage.sessions, 1u);
}

TEST_F(CountUsageTest, LongTextsAreOneRow) {
  ProcessUsage usage = Used(5, id_);
  usage.total.app = std::string(62, 'a') + "\u00e9\u00e9";
  Use(usage);
  usage.total.app = AppText(usage.total.app);  // as the ring's header has it
  usage.total.messages = 7;
  Use(usage);
  ASSERT_THAT(Now().usage, SizeIs(1));
  EXPECT_EQ(Messages(), 7u);
  ASSERT_TRUE(Book().ForgetUsage(std::string(62, 'a') + "\u00e9\u00e9").ok());
  EXPECT_THAT(Now().usage, IsEmpty());
}

TEST_F(CountUsageTest, ResetOfWhatNobodySawRenamesIt) {
  Use(Used(5, id_));
  Count("a");
  const ReportCountBook before = Now();
  ASSERT_TRUE(Book().Reset().ok());
  const ReportCountBook after = Now();
  EXPECT_NE(after.epoch, before.epoch);
  EXPECT_NE(after.installation, before.installation);
  EXPECT_EQ(after.begun, "reset");
  EXPECT_EQ(after.ended.epoch, "");
  EXPECT_EQ(Messages(), 5u);
  EXPECT_EQ(SumOfKey(after, "a").incidents, 1u);
}

TEST_F(CountUsageTest, ResetSendsTheRestUnderTheOldIds) {
  Use(Used(5, id_));
  Count("a");
  Send();
  Use(Used(7, id_));
  Count("b");
  const ReportCountBook before = Now();
  ASSERT_TRUE(Book().Reset().ok());
  Use(Used(8, id_));
  Count("b");
  const ReportCounts rest = Send();
  EXPECT_EQ(rest.epoch, before.epoch);
  EXPECT_EQ(rest.installation, before.installation);
  ASSERT_THAT(rest.counters, SizeIs(1));
  EXPECT_EQ(rest.counters[0].key, "b");
  EXPECT_EQ(rest.counters[0].incidents, 1u);
  ASSERT_THAT(rest.usage, SizeIs(1));
  EXPECT_EQ(rest.usage[0].messages, 7u);
  const ReportCounts next = Send();
  EXPECT_EQ(next.epoch, Now().epoch);
  EXPECT_NE(next.epoch, before.epoch);
  EXPECT_NE(next.installation, before.installation);
  ASSERT_THAT(next.usage, SizeIs(1));
  EXPECT_EQ(next.usage[0].messages, 1u);
  EXPECT_EQ(next.counters[0].incidents, 1u);
  EXPECT_THAT(Book().Unsent()->counters, IsEmpty());
}

TEST_F(CountUsageTest, ResetWhileAMessageIsUnderWaySendsItAgain) {
  Count("a");
  const ReportCounts sent = Book().Unsent().value();
  Count("a");
  ASSERT_TRUE(Book().Reset().ok());
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq}).ok());
  const ReportCounts rest = Send();
  EXPECT_EQ(rest.epoch, sent.epoch);
  EXPECT_EQ(rest.counters[0].incidents, 2u);
  EXPECT_THAT(Book().Unsent()->counters, IsEmpty());
}

TEST_F(CountUsageTest, ResetsWithoutANetworkLoseNothing) {
  Use(Used(5, id_));
  (void)Book().Unsent();  // tried, and lost
  const std::string first = Now().epoch;
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(Book().Reset().ok());
    Use(Used(6 + i, id_));
    EXPECT_EQ(Book().Unsent()->epoch, first) << "until that is sent";
  }
  EXPECT_EQ(Send().usage[0].messages, 5u);
  EXPECT_EQ(Send().usage[0].messages, 5u);
  EXPECT_THAT(Book().Unsent()->usage, IsEmpty());
}

TEST_F(CountUsageTest, ResetOfWhatIsAllSentLeavesNothing) {
  Use(Used(5, id_));
  Send();
  ASSERT_TRUE(Book().Reset().ok());
  EXPECT_EQ(Now().ended.epoch, "");
  EXPECT_THAT(Now().usage, IsEmpty());
  EXPECT_EQ(Now().installation, "");
}

TEST_F(CountUsageTest, OptingOutSendsNoUsageOfTheApp) {
  Use(Used(5, id_));
  Count("a");
  Send();
  Use(Used(6, id_));
  Count("a");
  const std::string epoch = Now().epoch;
  ASSERT_TRUE(Book().ForgetUsage("Gallery").ok());
  const ReportCounts rest = Send();
  EXPECT_EQ(rest.epoch, epoch) << "incidents are not lost";
  EXPECT_EQ(rest.counters[0].incidents, 2u);
  EXPECT_THAT(rest.usage, IsEmpty());
  EXPECT_THAT(Now().usage, IsEmpty());
  EXPECT_EQ(Now().installation, "");
  EXPECT_NE(Now().epoch, epoch) << "its rows would begin again";
}

TEST_F(CountUsageTest, OptingOutAfterAResetHoldsNothingUp) {
  Use(Used(5, id_));
  (void)Book().Unsent();  // tried, and lost
  ASSERT_TRUE(Book().Reset().ok());
  ASSERT_TRUE(Book().ForgetUsage("Gallery").ok());
  EXPECT_EQ(Now().ended.epoch, "");
  Count("a");
  EXPECT_THAT(Send().counters, SizeIs(1));
}

TEST_F(CountUsageTest, CountersOfAnEndedEpochDoNotWaitForTheDayOfItsUsage) {
  Use(Used(5, id_));
  Count("a");
  (void)Book().Unsent();  // tried, and lost
  ASSERT_TRUE(Book().Reset().ok());
  Count("b");
  const auto send = [this](size_t usage_bytes) {
    const ReportCounts sent = Book().Unsent(usage_bytes).value();
    EXPECT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq, .usage_seq = sent.usage_seq}).ok());
    return sent;
  };
  const ReportCounts first = send(0);
  EXPECT_EQ(first.counters.at(0).key, "a");
  EXPECT_THAT(first.usage, IsEmpty());
  EXPECT_EQ(first.installation, "");
  const ReportCounts second = send(0);
  EXPECT_EQ(second.counters.at(0).key, "b");
  const ReportCounts third = send(1024);
  EXPECT_EQ(third.epoch, first.epoch);
  EXPECT_THAT(third.counters, IsEmpty());
  EXPECT_EQ(third.usage.at(0).messages, 5u);
  EXPECT_EQ(Now().ended.epoch, "");
}

// Of a version without usage and resets.
TEST_F(CountUsageTest, BookOfAnEarlierVersionOpens) {
  ReportCountBook earlier;
  earlier.epoch = NewUuid(1);
  earlier.begun = "new";
  earlier.generation = 7;
  earlier.closed = true;
  earlier.boot_id = now_.boot_id;
  AddIncident(Incident("a"), &earlier);
  std::ofstream(folder_ / kCountsName, std::ios::binary)
      << AddChecksum("JBXCNT01", EncodeCountBook(earlier));
  Use(Used(5));
  EXPECT_EQ(Now().epoch, earlier.epoch);
  EXPECT_EQ(Messages(), 5u);
  ASSERT_TRUE(Book().Reset().ok());
  const ReportCounts rest = Send();
  EXPECT_EQ(rest.epoch, earlier.epoch) << "a server may know its numbers";
  EXPECT_EQ(rest.counters[0].incidents, 1u);
  EXPECT_EQ(rest.usage[0].messages, 5u);
}

}  // namespace
}  // namespace jankbox
