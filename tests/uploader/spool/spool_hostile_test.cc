// What a spool folder may hold after a crash, a careless user or an attack.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "tests/uploader/spool/spool_fixture.h"

namespace jankbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class SpoolHostileTest : public SpoolTest {
 protected:
  std::string ReportName(const std::string& id) { return dir() + "/" + id + ".pftrace.zst"; }
  bool Exists(const std::string& path) {
    struct stat st {};
    return lstat(path.c_str(), &st) == 0;
  }
};

TEST_F(SpoolHostileTest, ForeignNamesAreNeverTouched) {
  Spool spool = OpenSpool({.max_bytes = 10'000, .max_reports = 1});
  const std::string names[] = {
      "notes.txt",
      "report.pftrace.zst",
      "01890A5D-AC96-774B-BCCE-B302099A8057.pftrace.zst",
      "01890a5d-ac96-774b-bcce-b302099a8057.pftrace.zst.part",
      "01890a5d-ac96-774b-bcce-b302099a8057",
      "\xff\xfe\n.pftrace.zst",
      "-rf",
  };
  for (const std::string& name : names)
    std::ofstream(dir() + "/" + name) << std::string(20'000, 'x');
  Seal(&spool);
  const std::string id = Seal(&spool);
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  for (const std::string& name : names) EXPECT_TRUE(Exists(dir() + "/" + name)) << name;
  EXPECT_EQ(spool.Counts()->written, 2u);
}

TEST_F(SpoolHostileTest, LinksFifosSocketsAndFoldersArePassedOver) {
  Spool spool = OpenSpool();
  const std::string target = folder_ / "target";
  std::ofstream(target) << SealedBytesOfSize(NewUuid(1), 100);
  const std::string link = ReportName(NewUuid(2));
  const std::string fifo = ReportName(NewUuid(3));
  const std::string subfolder = ReportName(NewUuid(4));
  const std::string dangling = dir() + "/" + NewUuid(5) + ".bad";
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  ASSERT_EQ(mkdir(subfolder.c_str(), 0700), 0);
  ASSERT_EQ(symlink("/nonexistent", dangling.c_str()), 0);
  EXPECT_THAT(Ids(&spool), IsEmpty());
  EXPECT_EQ(spool.Counts()->written, 0u);
  Spool again = OpenSpool();
  EXPECT_TRUE(Exists(link) && Exists(fifo) && Exists(subfolder) && Exists(target));
}

TEST_F(SpoolHostileTest, ReportThatBecameALinkIsNotOpened) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  const SpoolEntry entry = spool.List()->front();
  ASSERT_EQ(unlink(entry.path.c_str()), 0);
  ASSERT_EQ(symlink("/etc/passwd", entry.path.c_str()), 0);
  EXPECT_EQ(spool.BeginUpload(entry).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Fate(&spool, SpoolFate::kRemoved), 1u);
  // And a new revision takes the link's place without following it.
  ASSERT_TRUE(WriteReport(&spool, id, SealedBytesOfSize(id, 500)).ok());
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  ExpectBalanced(&spool);
}

TEST_F(SpoolHostileTest, EmptyReportIsDroppedAsCorrupt) {
  Spool spool = OpenSpool();
  const std::string path = ReportName(NewUuid(1));
  std::ofstream{path};
  EXPECT_THAT(Ids(&spool), IsEmpty());
  EXPECT_FALSE(Exists(path));
  EXPECT_EQ(Fate(&spool, SpoolFate::kCorrupt), 1u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolHostileTest, ContentThatIsNoReportIsQuarantinedWhenItsTurnComes) {
  Spool spool = OpenSpool();
  for (int i = 0; i < 6; ++i) {
    std::ofstream(ReportName(NewUuid(static_cast<uint64_t>(i)))) << "<html>";
  }
  for (const SpoolEntry& entry : spool.List().value()) {
    EXPECT_EQ(spool.BeginUpload(entry).status().code(), StatusCode::kCorrupt);
  }
  EXPECT_EQ(Fate(&spool, SpoolFate::kCorrupt), 6u);
  EXPECT_THAT(Ids(&spool), IsEmpty());
  EXPECT_EQ(ScanSpoolFolder(dir())->quarantined.size(), 4u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolHostileTest, QuarantineMakesRoomFirst) {
  Spool spool = OpenSpool({.max_bytes = 10'000});
  Seal(&spool, 6000);
  ASSERT_TRUE(spool.Drop(spool.List()->front(), SpoolFate::kPoison).ok());
  EXPECT_EQ(ScanSpoolFolder(dir())->quarantined.size(), 1u);
  const std::string id = Seal(&spool, 6000);
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  EXPECT_EQ(ScanSpoolFolder(dir())->quarantined.size(), 0u);
}

TEST_F(SpoolHostileTest, QuarantineDoesNotLastForEver) {
  Spool spool = OpenSpool();
  Seal(&spool);
  ASSERT_TRUE(spool.Drop(spool.List()->front(), SpoolFate::kPoison).ok());
  Advance(8 * 86'400 * kNsPerSecond);
  Ids(&spool);
  EXPECT_EQ(ScanSpoolFolder(dir())->quarantined.size(), 0u);
}

TEST_F(SpoolHostileTest, SparseFilesOfAnySizeAreJustTooLarge) {
  Spool spool = OpenSpool();
  for (uint64_t i = 0; i < 4; ++i) {
    const std::string path = ReportName(NewUuid(i));
    std::ofstream{path};
    ASSERT_EQ(truncate(path.c_str(), off_t{1} << 42), 0);
  }
  const std::string id = Seal(&spool);
  EXPECT_THAT(Ids(&spool), ElementsAre(id));
  EXPECT_EQ(Fate(&spool, SpoolFate::kQuotaBytes), 4u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolHostileTest, ThousandsOfReportsAreBroughtBelowTheLimits) {
  std::filesystem::create_directory(dir());
  const std::string bytes = SealedBytesOfSize(NewUuid(1), 100);
  for (uint64_t i = 0; i < 3000; ++i) std::ofstream(ReportName(NewUuid(i))) << bytes;
  Spool spool = OpenSpool();
  EXPECT_EQ(Ids(&spool).size(), 64u);
  EXPECT_EQ(spool.Counts()->written, 3000u);
  EXPECT_EQ(Fate(&spool, SpoolFate::kQuotaCount), 2936u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolHostileTest, DamagedAccountsStartAgain) {
  std::string id;
  {
    Spool spool = OpenSpool();
    id = Seal(&spool);
  }
  for (const char* garbage :
       {"", "garbage", "JBXSPL01\1\2\3\4\5\6\7\10garbage", "JBXSPL02\1\2\3\4garbage"}) {
    std::ofstream(dir() + "/.state") << garbage;
    Spool spool = OpenSpool();
    EXPECT_THAT(Ids(&spool), ElementsAre(id));
    EXPECT_EQ(spool.Counts()->written, 1u);
    ExpectBalanced(&spool);
  }
}

TEST_F(SpoolHostileTest, ReportRemovedByHandIsCounted) {
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  ASSERT_EQ(unlink(ReportName(id).c_str()), 0);
  EXPECT_THAT(Ids(&spool), IsEmpty());
  EXPECT_EQ(Fate(&spool, SpoolFate::kRemoved), 1u);
  ExpectBalanced(&spool);
}

TEST_F(SpoolHostileTest, SettledFileThatCameBackIsRemovedAndCountedOnce) {
  // A kill between the fate in the accounts and the unlink, or a power cut that undid the unlink.
  Spool spool = OpenSpool();
  const std::string id = Seal(&spool);
  const SpoolEntry entry = spool.List()->front();
  ASSERT_EQ(link(entry.path.c_str(), (folder_ / "saved").c_str()), 0);
  ASSERT_TRUE(spool.MarkSent(entry).ok());
  ASSERT_EQ(rename((folder_ / "saved").c_str(), entry.path.c_str()), 0);
  EXPECT_THAT(Ids(&spool), IsEmpty());
  EXPECT_FALSE(Exists(entry.path));
  EXPECT_EQ(spool.Counts()->sent, 1u);
  EXPECT_EQ(spool.Counts()->written, 1u);
  ExpectBalanced(&spool);
}

}  // namespace
}  // namespace jankbox
