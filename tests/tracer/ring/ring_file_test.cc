#include "tracer/ring/ring_file.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/tracer/ring/test_ring.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {
namespace {

using RingFileTest = RingTest;

TEST_F(RingFileTest, CreateAllocatesLittleAndGrowAllocatesAll) {
  RingOptions options;
  options.folder = folder_;
  options.bytes = 8 << 20;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  ASSERT_TRUE(ring.ok());
  struct stat st {};
  ASSERT_EQ(stat(ring.value()->path().c_str(), &st), 0);
  EXPECT_LT(st.st_blocks * 512, 1 << 20);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  ASSERT_TRUE(ring.value()->Grow().ok());
  ASSERT_EQ(stat(ring.value()->path().c_str(), &st), 0);
  EXPECT_EQ(static_cast<size_t>(st.st_size), ring.value()->bytes());
  EXPECT_GE(static_cast<size_t>(st.st_blocks) * 512, ring.value()->bytes());
  EXPECT_EQ(ring.value()->header()->chunks_ready.load(), ring.value()->header()->chunk_count);
  const std::string path = ring.value()->path();
  ring.value()->RemoveFile();
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST_F(RingFileTest, WithoutAFolderItRecordsInMemoryAndSaysSo) {
  RingOptions options;
  options.folder = "/proc/no-such-folder";
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  ASSERT_TRUE(ring.ok());
  EXPECT_FALSE(ring.value()->in_memory_reason().empty());
  ASSERT_TRUE(ring.value()->Grow().ok());
  ASSERT_TRUE(Recorder::Open(ring.value().get()).ok());
  RecordEvent(EventKind::kInstant, 1);
  Recorder::Close();
  ring_ = std::move(ring.value());
  EXPECT_EQ(Events(Window(), CurrentTid()).size(), 1u);
}

TEST_F(RingFileTest, FullTmpfsIsAnAnswerAndNoSigbus) {
  if (mount("none", folder_.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "mounting a 1 MiB tmpfs needs root: " << strerror(errno);
  }
  RingOptions options;
  options.folder = folder_;
  options.bytes = 8 << 20;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  ASSERT_TRUE(ring.ok());
  const Status grown = ring.value()->Grow();
  EXPECT_EQ(grown.code(), StatusCode::kNoSpace) << grown.message();
  ASSERT_TRUE(Recorder::Open(ring.value().get()).ok());
  for (int i = 0; i < 500000; ++i) RecordEvent(EventKind::kInstant, 1);  // laps what was allocated
  Recorder::Close();
  ring_ = std::move(ring.value());
  EXPECT_GT(Events(Window(), CurrentTid()).size(), 1000u);
  EXPECT_EQ(umount2(folder_.c_str(), MNT_DETACH), 0);
}

TEST(RingFolder, SpellingsOfOnePathAgreeAndOthersDiffer) {
  char name[] = "/tmp/jankbox-place-test-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::string dir = name;
  const std::string link = dir + "-link";
  ASSERT_EQ(symlink(dir.c_str(), link.c_str()), 0);
  const std::string place = RingFolder(dir + "/spool").value();
  EXPECT_EQ(RingFolder(link + "/spool").value(), place);
  EXPECT_NE(RingFolder(dir + "/other").value(), place);
  struct stat st {};
  ASSERT_EQ(stat(place.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700u);
  rmdir(place.c_str());
  unlink(link.c_str());
  rmdir(dir.c_str());
}

}  // namespace
}  // namespace jankbox
