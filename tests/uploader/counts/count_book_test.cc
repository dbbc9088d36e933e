// The files of counts: kills and power cuts between two writes, copies, damage, and what a server
// acknowledges.
#include "uploader/counts/count_book.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "report/report_encoder.h"
#include "tests/uploader/counts/counted_incident.h"
#include "tests/uploader/few_descriptors.h"
#include "tests/uploader/temporary_folder.h"
#include "uploader/counts/file_birth.h"
#include "uploader/spool/spool.h"
#include "uploader/spool/spool_lock.h"

namespace jankbox {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kNoBirths[] = "this file system does not say when a file was created";

class CountBookTest : public testing::Test {
 protected:
  CountBook Book() {
    return CountBook(folder_.path(), [this] { return now_; });
  }
  ReportCountBook Now() const { return CountBook::Read(folder_.path()).value(); }
  uint64_t CountOf(const std::string& key) const { return SumOfKey(Now(), key).incidents; }
  void Count(const std::string& key) { ASSERT_TRUE(Book().Count(Incident(key)).ok()); }
  void Pass(uint64_t seconds) {
    now_.boottime_ns += seconds * kNsPerSecond;
    now_.realtime_ns += seconds * kNsPerSecond;
  }
  void Boot() { now_ = {now_.realtime_ns, kNsPerSecond, now_.boot_id + " again"}; }
  bool Has(const std::string& name) const { return fs::exists(folder_ / name); }
  std::string Bytes(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // In place: the file stays the same.
  void Overwrite(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << bytes;
  }
  uint64_t BirthOfANewFile() const {
    const std::string path = folder_ / "probe";
    const ScopedFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const uint64_t born_ns = FileBirthNs(fd.get());
    unlink(path.c_str());
    return born_ns;
  }
  // Until a file that is created has another birth than those that exist: the kernel counts in
  // ticks of some milliseconds. False if the file system keeps none.
  bool WaitForTheNextBirth() const {
    const uint64_t born_ns = BirthOfANewFile();
    while (born_ns != 0 && BirthOfANewFile() == born_ns) usleep(1000);
    return born_ns != 0;
  }
  void CopyFolder(const std::string& from, const std::string& to) const {
    fs::remove_all(to);
    fs::copy(from, to, fs::copy_options::recursive);
  }

  TemporaryFolder folder_;
  SpoolInstant now_{1'700'000'000 * kNsPerSecond, 1000 * kNsPerSecond, "boot"};
};

// The lock gets a descriptor, and the counts do not.
TEST_F(CountBookTest, WithoutADescriptorNothingIsBegunAgain) {
  Count("a");
  const std::string epoch = Now().epoch;
  CountBook book = Book();
  for (rlim_t more = 0; more < 3; ++more) {
    const FewDescriptors few(more);
    EXPECT_FALSE(book.Count(Incident("a")).ok()) << more;
  }
  ASSERT_TRUE(book.Write().ok());
  EXPECT_EQ(Now().epoch, epoch);
  EXPECT_EQ(CountOf("a"), 4u);
}

TEST_F(CountBookTest, CountsOutliveTheProcess) {
  Count("a");
  Count("a");
  Count("b");
  EXPECT_EQ(CountOf("a"), 2u);
  EXPECT_EQ(CountOf("b"), 1u);
  EXPECT_EQ(Now().begun, "new");
  EXPECT_EQ(Now().unsure_stops, 0u);
}

TEST_F(CountBookTest, NothingCountedIsNoFile) {
  EXPECT_TRUE(Book().Close().ok());
  EXPECT_THAT(Book().Unsent()->counters, IsEmpty());
  EXPECT_FALSE(Has(kCountsName));
  EXPECT_FALSE(Has(kRecentCountsName));
  EXPECT_EQ(CountBook::Read(folder_.path()).status().code(), StatusCode::kNotFound);
}

TEST_F(CountBookTest, FirstCountAndOneAMinuteSurviveAPowerCut) {
  Count("a");
  EXPECT_TRUE(Has(kCountsName));
  EXPECT_FALSE(Has(kRecentCountsName));
  Pass(59);
  Count("a");
  EXPECT_TRUE(Has(kRecentCountsName));
  Pass(1);
  Count("a");
  EXPECT_FALSE(Has(kRecentCountsName)) << "the synced file has it";
  EXPECT_EQ(CountOf("a"), 3u);
}

TEST_F(CountBookTest, PowerCutTakesWhatWasNotSyncedAndTheBookSaysSo) {
  Count("a");
  Pass(30);
  Count("a");
  Overwrite(kRecentCountsName, "");  // its name was on the disk, its content was not
  Boot();
  Count("b");
  EXPECT_EQ(CountOf("a"), 1u);
  EXPECT_EQ(CountOf("b"), 1u);
  EXPECT_EQ(Now().unsure_stops, 1u);
  Count("b");
  EXPECT_EQ(Now().unsure_stops, 1u) << "once";
  EXPECT_EQ(Now().begun, "new") << "the epoch goes on";
}

TEST_F(CountBookTest, BootAfterAnOrderlyEndMissesNothing) {
  CountBook book = Book();
  ASSERT_TRUE(book.Count(Incident("a")).ok());
  ASSERT_TRUE(book.Count(Incident("a")).ok());
  ASSERT_TRUE(book.Close().ok());
  EXPECT_FALSE(Has(kRecentCountsName));
  Boot();
  Count("a");
  EXPECT_EQ(CountOf("a"), 3u);
  EXPECT_EQ(Now().unsure_stops, 0u);
  Boot();
  Count("a");
  EXPECT_EQ(Now().unsure_stops, 1u) << "the last one was not closed";
}

TEST_F(CountBookTest, IncidentIsCountedOnceByItsId) {
  const CountedIncident incident = Incident("a");
  ASSERT_TRUE(Book().Count(incident).ok());
  CountBook recovery = Book();
  ASSERT_TRUE(recovery.Count(incident).ok());
  EXPECT_EQ(CountOf("a"), 1u);
  recovery.Settle();
  ASSERT_TRUE(recovery.Close().ok());
  EXPECT_THAT(Now().counted_ids, IsEmpty());
}

TEST_F(CountBookTest, IdsAreForgottenOnceNoRingHasThem) {
  CountBook book = Book();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(book.Count(Incident("a")).ok());
    book.Settle();
    EXPECT_THAT(Now().counted_ids, SizeIs(1)) << i;
  }
}

TEST_F(CountBookTest, FolderThatTakesNoFileIsCountedLater) {
  const std::string path = folder_ / "spool";
  CountBook book(path, [this] { return now_; });
  EXPECT_FALSE(book.Count(Incident("a")).ok());
  EXPECT_FALSE(book.Count(Incident("b")).ok());
  fs::create_directory(path);
  EXPECT_TRUE(book.Count(Incident("a")).ok());
  const ReportCountBook counted = CountBook::Read(path).value();
  EXPECT_EQ(SumOfKey(counted, "a").incidents, 2u);
  EXPECT_EQ(SumOfKey(counted, "b").incidents, 1u);
  EXPECT_EQ(counted.lost_incidents, 0u);
}

TEST_F(CountBookTest, WhatNeverFindsRoomIsToldAsLost) {
  const std::string path = folder_ / "spool";
  CountBook book(path, [this] { return now_; });
  for (size_t i = 0; i < CountBook::kMaxUnwritten + 3; ++i) {
    EXPECT_FALSE(book.Count(Incident("a")).ok());
  }
  fs::create_directory(path);
  EXPECT_TRUE(book.Close().ok());
  const ReportCountBook counted = CountBook::Read(path).value();
  EXPECT_EQ(SumOfKey(counted, "a").incidents, CountBook::kMaxUnwritten);
  EXPECT_EQ(counted.lost_incidents, 3u);
}

TEST_F(CountBookTest, LockedBookIsCountedLaterAndNotOverwritten) {
  CountBook book = Book();
  {
    const Result<SpoolLock> lock = SpoolLock::Acquire(folder_ / kCountsLockName, 0);
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(book.Count(Incident("a")).code(), StatusCode::kBusy);
  }
  EXPECT_TRUE(book.Count(Incident("a")).ok());
  EXPECT_EQ(CountOf("a"), 2u);
}

// Every byte and every length of a damaged file: begun again, or the synced file counts.
TEST_F(CountBookTest, DamageIsFoundAndBeginsAnEpoch) {
  Count("a");
  const std::string epoch = Now().epoch;
  const std::string whole = Bytes(kCountsName);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    Overwrite(kCountsName, damaged);
    EXPECT_EQ(CountBook::Read(folder_.path()).status().code(), StatusCode::kCorrupt) << at;
    Overwrite(kCountsName, whole.substr(0, at));
    EXPECT_EQ(CountBook::Read(folder_.path()).status().code(), StatusCode::kCorrupt) << at;
  }
  Count("a");
  EXPECT_EQ(Now().begun, "damaged");
  EXPECT_NE(Now().epoch, epoch);
  EXPECT_EQ(CountOf("a"), 1u);
}

TEST_F(CountBookTest, CopyOfAFolderCountsInAnEpochOfItsOwn) {
  Count("a");
  Count("a");
  if (!WaitForTheNextBirth()) GTEST_SKIP() << kNoBirths;
  const std::string epoch = Now().epoch;
  const TemporaryFolder copy;
  CopyFolder(folder_.path(), copy.path());
  CountBook other(copy.path(), [this] { return now_; });
  ASSERT_TRUE(other.Count(Incident("a")).ok());
  const ReportCountBook copied = CountBook::Read(copy.path()).value();
  EXPECT_EQ(copied.begun, "copy");
  EXPECT_NE(copied.epoch, epoch);
  EXPECT_EQ(SumOfKey(copied, "a").incidents, 1u) << "the original sends the rest";
  Count("a");
  EXPECT_EQ(Now().epoch, epoch) << "and goes on";
  EXPECT_EQ(CountOf("a"), 3u);
}

TEST_F(CountBookTest, BackupThatIsRestoredInPlaceBeginsAnEpoch) {
  Count("a");
  Count("a");
  if (!WaitForTheNextBirth()) GTEST_SKIP() << kNoBirths;
  const std::string backup = Bytes(kRecentCountsName);
  Count("a");
  Overwrite(kRecentCountsName, backup);  // an older content in the file of a later one
  Count("a");
  EXPECT_EQ(Now().begun, "copy");
  EXPECT_EQ(CountOf("a"), 1u);
}

TEST_F(CountBookTest, RenamedFolderIsNoCopy) {
  Count("a");
  const std::string epoch = Now().epoch;
  const std::string moved = folder_.path() + "-moved";
  fs::rename(folder_.path(), moved);
  CountBook book(moved, [this] { return now_; });
  EXPECT_TRUE(book.Count(Incident("a")).ok());
  EXPECT_EQ(CountBook::Read(moved)->epoch, epoch);
  EXPECT_EQ(SumOfKey(CountBook::Read(moved).value(), "a").incidents, 2u);
  fs::rename(moved, folder_.path());
}

TEST_F(CountBookTest, WipedFolderHasAnEpochOfItsOwn) {
  Count("a");
  const std::string epoch = Now().epoch;
  Result<Spool> spool = Spool::Open(folder_.path(), {.min_free_bytes = 0});
  ASSERT_TRUE(spool.ok());
  ASSERT_TRUE(spool->Wipe().ok());
  EXPECT_FALSE(Has(kCountsName));
  EXPECT_FALSE(Has(kRecentCountsName));
  Count("b");
  EXPECT_NE(Now().epoch, epoch);
  EXPECT_EQ(CountOf("a"), 0u);
}

TEST_F(CountBookTest, WhatIsSentSurvivesAPowerCut) {
  Count("a");
  Count("a");
  EXPECT_TRUE(Has(kRecentCountsName));
  const ReportCounts sent = Book().Unsent().value();
  EXPECT_FALSE(Has(kRecentCountsName));
  ASSERT_THAT(sent.counters, SizeIs(1));
  EXPECT_EQ(sent.counters[0].incidents, 2u);
  EXPECT_EQ(EncodeCounts(Book().Unsent().value()), EncodeCounts(sent)) << "a retry is the same";
}

TEST_F(CountBookTest, AcknowledgedIsNotSentAgain) {
  Count("a");
  const ReportCounts sent = Book().Unsent().value();
  Count("b");  // while it is under way
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq}).ok());
  const ReportCounts rest = Book().Unsent().value();
  ASSERT_THAT(rest.counters, SizeIs(1));
  EXPECT_EQ(rest.counters[0].key, "b");
  EXPECT_EQ(rest.base_seq, sent.seq);
}

TEST_F(CountBookTest, LateAcknowledgementTakesNothingBack) {
  Count("a");
  const ReportCounts first = Book().Unsent().value();
  Count("a");
  const ReportCounts second = Book().Unsent().value();
  ASSERT_TRUE(Book().Acknowledge(second, {.seq = second.seq}).ok());
  ASSERT_TRUE(Book().Acknowledge(first, {.seq = second.seq}).ok());
  EXPECT_THAT(Book().Unsent()->counters, IsEmpty());
}

TEST_F(CountBookTest, ServerThatKnowsMoreThanTheDeviceTellsACopy) {
  Count("a");
  const ReportCounts sent = Book().Unsent().value();
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq + 5}).ok());
  EXPECT_EQ(Now().begun, "copy");
  EXPECT_NE(Now().epoch, sent.epoch);
  EXPECT_THAT(Now().counters, IsEmpty());
  Count("a");
  const ReportCounts other = Book().Unsent().value();
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = 1, .forked = true}).ok());
  EXPECT_EQ(Now().epoch, other.epoch) << "that was about an epoch that is over";
  ASSERT_TRUE(Book().Acknowledge(other, {.seq = 1, .forked = true}).ok());
  EXPECT_NE(Now().epoch, other.epoch);
}

TEST_F(CountBookTest, ServerThatLostItsStoreGetsAllCounters) {
  Count("a");
  ReportCounts sent = Book().Unsent().value();
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq}).ok());
  Count("b");
  sent = Book().Unsent().value();
  ASSERT_TRUE(Book().Acknowledge(sent, {.seq = sent.seq, .resend = true}).ok());
  EXPECT_THAT(Book().Unsent()->counters, SizeIs(2));
  EXPECT_EQ(Book().Unsent()->base_seq, 0u);
}

TEST_F(CountBookTest, FullEpochEndsWhenAllOfItIsSent) {
  CountBook book = Book();
  for (size_t i = 0; i < kFullCounters; ++i) {
    ASSERT_TRUE(book.Count(Incident("key " + std::to_string(i))).ok());
  }
  const ReportCounts sent = book.Unsent().value();
  EXPECT_THAT(sent.counters, SizeIs(kFullCounters));
  ASSERT_TRUE(book.Count(Incident("key 0")).ok());
  ASSERT_TRUE(book.Acknowledge(sent, {.seq = sent.seq}).ok());
  EXPECT_EQ(Now().epoch, sent.epoch) << "one is not sent yet";
  const ReportCounts rest = book.Unsent().value();
  ASSERT_TRUE(book.Acknowledge(rest, {.seq = rest.seq}).ok());
  EXPECT_NE(Now().epoch, sent.epoch);
  EXPECT_EQ(Now().begun, "full");
  EXPECT_THAT(Now().counters, IsEmpty());
  EXPECT_FALSE(Now().counted_ids.empty()) << "a ring may have a note of the last one";
}

}  // namespace
}  // namespace jankbox
