#include "uploader/spool/spool.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <fstream>
#include <optional>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/uploader/few_descriptors.h"
#include "tests/uploader/spool/spool_fixture.h"

namespace jankbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr uint64_t kDayNs = 86'400 * kNsPerSecond;

mode_t ModeOf(const std::string& path) {
  struct stat st {};
  EXPECT_EQ(stat(path.c_str(), &st), 0) << path;
  return st.st_mode & 0777;
}

TEST_F(SpoolTest, SealedReportIsKeptWholeAndPrivate) {
  const mode_t mask = umask(0);
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  umask(mask);
  EXPECT_EQ(ReadReportFile(dir() + "/" + id + ".pftrace.zst")->id(), id);
  EXPECT_EQ(ModeOf(dir()), 0700u);
  for (const std::string& name : ListDirectory(dir()).value()) {
    EXPECT_EQ(ModeOf(JoinPath(dir(), name)), 0600u) << name;
  }
  EXPECT_THAT(ListDirectory(dir()).value(),
              UnorderedElementsAre(".lock", ".state", id + ".pftrace.zst"));
}

TEST_F(SpoolTest, FolderThatWasRemovedIsMadeAgain) {
  Spool spool = OpenSpool();
  Seal(&spool);
  std::filesystem::remove_all(dir());
  const std::string id = Seal(&spool);
  EXPECT_EQ(ReadReportFile(dir() + "/" + id + ".pftrace.zst")->id(), id);
  EXPECT_EQ(ModeOf(dir()), 0700u);
}

TEST_F(SpoolTest, OpenedWithoutADescriptorItTakesTheNextReport) {
  for (rlim_t more = 0; more < 3; ++more) {
    std::optional<Spool> spool;
    {
      const FewDescriptors few(more);
      spool.emplace(OpenSpool());
      EXPECT_TRUE(more != 0 || !spool->NewReport(NewUuid(1), 1000).ok());
    }
    EXPECT_TRUE(spool->NewReport(NewUuid(1), 1000).ok()) << more;
  }
}

TEST_F(SpoolTest, ListIsOldestFirst) {
  Spool spool = OpenSpool();
  const std::string first = Seal(&spool);
  Advance(kNsPerSecond);
  const std::string second = Seal(&spool);
  Advance(kNsPerSecond);
  const std::string third = Seal(&spool);
  EXPECT_THAT(Ids(&spool), ElementsAre(first, second, third));
  const SpoolEntry entry = spool.List()->front();
  EXPECT_EQ(entry.path, dir() + "/" + first + ".pftrace.zst");
  EXPECT_EQ(entry.file.size_bytes, ReadFile(entry.path, 1 << 20)->size());
  EXPECT_EQ(entry.age_ns, 2 * kNsPerSecond);
}

TEST_F(SpoolTest, UnsealedReportLeavesNothing) {
  Spool spool = OpenSpool();
  {
    Result<SpoolWriter> writer = spool.NewReport(NewUuid(1), 1000);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Write("half").ok());
    EXPECT_THAT(Ids(&spool), IsEmpty());
  }
  EXPECT_THAT(ListDirectory(dir()).value(), UnorderedElementsAre(".lock"));
  EXPECT_EQ(spool.Counts()->written, 0u);
}

TEST_F(SpoolTest, FileHasWhatWasWrittenWhateverWasExpected) {
  Spool spool = OpenSpool();
  for (const uint64_t expected : {0, 1, 5'000, 500'000}) {
    const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
    Result<SpoolWriter> writer = spool.NewReport(id, expected);
    ASSERT_TRUE(writer.ok());
    std::string all;
    for (int i = 0; i < 300; ++i) {
      const std::string piece = SealedBytesOfSize(id, 1000);
      ASSERT_TRUE(writer->Write(piece).ok());
      all += piece;
    }
    EXPECT_EQ(writer->written_bytes(), all.size());
    ASSERT_TRUE(writer->Seal().ok());
    EXPECT_EQ(ReadFile(dir() + "/" + id + ".pftrace.zst", 1 << 20).value(), all) << expected;
  }
}

TEST_F(SpoolTest, IdThatIsNoUuidIsRefused) {
  Spool spool = OpenSpool();
  EXPECT_EQ(spool.NewReport("../evil", 1).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(SpoolTest, CountQuotaGivesUpTheOldest) {
  Spool spool = OpenSpool({.max_reports = 3});
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(Seal(&spool));
    Advance(kNsPerSecond);
  }
  EXPECT_THAT(Ids(&spool), ElementsAre(ids[2], ids[3], ids[4]));
  EXPECT_EQ(Fate(&spool, SpoolFate::kQuotaCount), 2u);
  EXPECT_EQ(spool.given_up_here(), 2u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolTest, ByteQuotaIsKeptAtEveryInstant) {
  constexpr uint64_t kMaxBytes = 100'000;
  Spool spool = OpenSpool({.max_bytes = kMaxBytes});
  for (int i = 0; i < 40; ++i) {
    const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
    const std::string bytes = SealedBytesOfSize(id, 9000);
    Result<SpoolWriter> writer = spool.NewReport(id, 1000);  // expects too little
    ASSERT_TRUE(writer.ok());
    for (size_t at = 0; at < bytes.size(); at += 500) {
      ASSERT_TRUE(writer->Write(std::string_view(bytes).substr(at, 500)).ok());
      const SpoolFolder folder = ScanSpoolFolder(dir()).value();
      uint64_t used = folder.in_flight_bytes;
      for (const FoundReport& report : folder.reports) used += report.file.size_bytes;
      ASSERT_LE(used, kMaxBytes);
    }
    ASSERT_TRUE(writer->Seal().ok());
    Advance(kNsPerSecond);
  }
  EXPECT_EQ(Ids(&spool).size(), 11u);
  EXPECT_EQ(Fate(&spool, SpoolFate::kQuotaBytes), 29u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolTest, ReportLargerThanTheQuotaIsRefusedAndCounted) {
  Spool spool = OpenSpool({.max_bytes = 100'000});
  const std::string kept = Seal(&spool);
  EXPECT_EQ(spool.NewReport(NewUuid(1), 200'000).status().code(), StatusCode::kNoSpace);
  Result<SpoolWriter> writer = spool.NewReport(NewUuid(2), 1000);
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(writer->Write(std::string(200'000, 'x')).code(), StatusCode::kNoSpace);
  EXPECT_THAT(Ids(&spool), ElementsAre(kept));
  EXPECT_EQ(spool.Counts()->not_written, 1u);
  EXPECT_EQ(spool.given_up_here(), 1u);
}

TEST_F(SpoolTest, WritersShareTheQuota) {
  Spool spool = OpenSpool({.max_bytes = 100'000});
  Result<SpoolWriter> first = spool.NewReport(NewUuid(1), 60'000);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(spool.NewReport(NewUuid(2), 60'000).status().code(), StatusCode::kNoSpace);
  EXPECT_TRUE(spool.NewReport(NewUuid(3), 40'000).ok());
}

TEST_F(SpoolTest, TooOldReportsAreDroppedByTheNextLook) {
  std::string young;
  {
    Spool spool = OpenSpool();
    Seal(&spool);
    Advance(3 * kDayNs);
    young = Seal(&spool);
  }
  Advance(4 * kDayNs);
  Spool spool = OpenSpool();
  EXPECT_THAT(Ids(&spool), ElementsAre(young));
  EXPECT_EQ(Fate(&spool, SpoolFate::kAge), 1u);
}

TEST_F(SpoolTest, ClockThatIsSetDropsNothing) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  now_.realtime_ns += 3650 * kDayNs;
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  now_.realtime_ns -= 2 * 3650 * kDayNs;
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  // And back: the age has gone on all the while.
  now_.realtime_ns += 3650 * kDayNs;
  Advance(7 * kDayNs);
  EXPECT_THAT(Ids(&spool), IsEmpty());
}

TEST_F(SpoolTest, RebootWithAWrongClockDropsNothing) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  now_ = {.realtime_ns = now_.realtime_ns + 3650 * kDayNs, .boottime_ns = 1, .boot_id = "next"};
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  EXPECT_EQ(spool.List()->front().age_ns, kDayNs);
}

TEST_F(SpoolTest, ForeignReportIsEnteredWithTheAgeOfItsFile) {
  Spool spool = OpenSpool();
  const std::string old_id = NewUuid(1);
  const std::string new_id = NewUuid(2);
  const std::string future_id = NewUuid(3);
  const time_t now_s = static_cast<time_t>(now_.realtime_ns / kNsPerSecond);
  for (const auto& [id, mtime_s] :
       {std::pair(old_id, now_s - 8 * 86'400), {new_id, now_s - 86'400}, {future_id, now_s * 2}}) {
    const std::string path = dir() + "/" + id + ".pftrace.zst";
    std::ofstream(path) << SealedBytesOfSize(id, 1000);
    const timeval times[2] = {{mtime_s, 0}, {mtime_s, 0}};
    ASSERT_EQ(utimes(path.c_str(), times), 0);
  }
  EXPECT_THAT(Ids(&spool), ElementsAre(new_id, future_id));
  EXPECT_EQ(Fate(&spool, SpoolFate::kAge), 1u);
  EXPECT_EQ(spool.Counts()->written, 3u);
}

TEST_F(SpoolTest, LaterRevisionReplacesTheEarlierOne) {
  Spool spool = OpenSpool({.max_reports = 1});
  const std::string id = Seal(&spool);
  const std::string later = SealedBytesOfSize(id, 2000);
  ASSERT_TRUE(WriteReport(&spool, id, later).ok());
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  EXPECT_EQ(ReadFile(spool.List()->front().path, 1 << 20).value(), later);
  EXPECT_EQ(spool.Counts()->written, 2u);
  EXPECT_EQ(Fate(&spool, SpoolFate::kReplaced), 1u);
  EXPECT_EQ(spool.given_up_here(), 0u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolTest, SentReportGoes) {
  Spool spool = OpenSpool();
  Seal(&spool);
  const SpoolEntry entry = spool.List()->front();
  ASSERT_TRUE(spool.BeginUpload(entry).ok());
  ASSERT_TRUE(spool.MarkSent(entry).ok());
  EXPECT_THAT(Ids(&spool), IsEmpty());
  EXPECT_EQ(spool.Counts()->sent, 1u);
  ASSERT_TRUE(spool.MarkSent(entry).ok());  // a second drain's word changes nothing
  EXPECT_EQ(spool.Counts()->sent, 1u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolTest, LaterRevisionOutlivesTheAckOfTheEarlierOne) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  const SpoolEntry entry = spool.List()->front();
  Result<ScopedFd> fd = spool.BeginUpload(entry);
  ASSERT_TRUE(fd.ok());
  ASSERT_TRUE(WriteReport(&spool, id, SealedBytesOfSize(id, 2000)).ok());
  ASSERT_TRUE(spool.MarkSent(entry).ok());
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  EXPECT_EQ(spool.Counts()->sent, 1u);
  EXPECT_EQ(Fate(&spool, SpoolFate::kReplaced), 0u);
  EXPECT_EQ(spool.BeginUpload(entry).status().code(), StatusCode::kNotFound);
  ExpectBalanced(&spool);
}

TEST_F(SpoolTest, RefusedReportIsDroppedByReason) {
  Spool spool = OpenSpool();
  Seal(&spool);
  ASSERT_TRUE(spool.Drop(spool.List()->front(), SpoolFate::kRefused).ok());
  Seal(&spool);
  ASSERT_TRUE(spool.Drop(spool.List()->front(), SpoolFate::kTooLarge).ok());
  EXPECT_EQ(Fate(&spool, SpoolFate::kRefused), 1u);
  EXPECT_EQ(Fate(&spool, SpoolFate::kTooLarge), 1u);
  EXPECT_THAT(ListDirectory(dir()).value(), UnorderedElementsAre(".lock", ".state"));
  ExpectBalanced(&spool);
}

TEST_F(SpoolTest, AccountsOutliveTheProcess) {
  {
    Spool spool = OpenSpool();
    Seal(&spool);
    Seal(&spool);
    ASSERT_TRUE(spool.MarkSent(spool.List()->front()).ok());
  }
  Spool spool = OpenSpool();
  EXPECT_EQ(spool.Counts()->written, 2u);
  EXPECT_EQ(spool.Counts()->sent, 1u);
  EXPECT_EQ(spool.Counts()->kept, 1u);
}

TEST_F(SpoolTest, ThirdUploadThatNeverEndsIsTheLast) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  const SpoolEntry entry = spool.List()->front();
  ASSERT_TRUE(spool.BeginUpload(entry).ok());
  ASSERT_TRUE(spool.EndUpload(entry).ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(spool.BeginUpload(entry).ok()) << i;
  EXPECT_EQ(spool.BeginUpload(entry).status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(Ids(&spool), IsEmpty());
  EXPECT_EQ(Fate(&spool, SpoolFate::kPoison), 1u);
  EXPECT_THAT(ListDirectory(dir()).value(), UnorderedElementsAre(".lock", ".state", id + ".bad"));
  ExpectBalanced(&spool);
}

TEST_F(SpoolTest, WipeLeavesNoReport) {
  Spool spool = OpenSpool();
  Seal(&spool);
  ASSERT_TRUE(spool.Drop(spool.List()->front(), SpoolFate::kCorrupt).ok());
  Seal(&spool);
  Result<SpoolWriter> writer = spool.NewReport(NewUuid(1), 1000);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Write("half").ok());
  std::ofstream(dir() + "/keep.txt") << "not ours";
  ASSERT_TRUE(spool.Wipe().ok());
  EXPECT_THAT(ListDirectory(dir()).value(), UnorderedElementsAre(".lock", ".state", "keep.txt"));
  EXPECT_FALSE(writer->Seal().ok());
  EXPECT_THAT(ListDirectory(dir()).value(), UnorderedElementsAre(".lock", ".state", "keep.txt"));
  EXPECT_EQ(Fate(&spool, SpoolFate::kWiped), 1u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolTest, BelowTheFloorIsRefusedWithTheFix) {
  Spool open = OpenSpool();
  const SpoolLimits limits{.min_free_bytes = uint64_t{1} << 62};
  const Status status = Spool::Open(dir(), limits).status();
  EXPECT_EQ(status.code(), StatusCode::kNoSpace);
  EXPECT_THAT(status.message(), HasSubstr(dir()));
  EXPECT_THAT(status.message(), HasSubstr("No space left on device"));
  EXPECT_THAT(status.message(), HasSubstr(std::to_string((uint64_t{1} << 62) >> 20) + " MiB"));
  EXPECT_THAT(status.message(), HasSubstr(" MiB free"));
  EXPECT_THAT(status.message(), HasSubstr("--min-free-mib"));
}

TEST_F(SpoolTest, FolderThatCannotBeMadeIsNamed) {
  const Status status = Spool::Open("/sys/jankbox-spool").status();
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr("/sys/jankbox-spool"));
}

TEST_F(SpoolTest, UnwritableFolderIsNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  ASSERT_EQ(mkdir(dir().c_str(), 0500), 0);
  const Status status = Spool::Open(dir()).status();
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(status.message(), HasSubstr(dir()));
}

TEST_F(SpoolTest, FileInPlaceOfTheFolderIsRefused) {
  std::ofstream(dir()) << "a file";
  const Status status = Spool::Open(dir()).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr(dir()));
}

}  // namespace
}  // namespace jankbox
