#include "tracer/ring/ring_file.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "tests/tracer/ring/test_ring.h"
#include "tracer/ring/chunk_writer.h"
#include "tracer/ring/ring_place.h"
#include "tracer/ring/ring_reader.h"

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
  EXPECT_LE(st.st_blocks * 512, 480 << 10);
  EXPECT_EQ(st.st_mode & 0777, 0400u);
  ASSERT_TRUE(ring.value()->Grow().ok());
  ASSERT_EQ(stat(ring.value()->path().c_str(), &st), 0);
  EXPECT_EQ(static_cast<size_t>(st.st_size), ring.value()->bytes());
  EXPECT_GE(static_cast<size_t>(st.st_blocks) * 512,
            ring.value()->bytes() - kNamesBytes - kModulesBytes);
  EXPECT_EQ(ring.value()->header()->chunks_ready.load(), ring.value()->header()->chunk_count);
  const std::string path = ring.value()->path();
  ring.value()->RemoveFile();
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST_F(RingFileTest, MemoryIsGivenBackAndMayStillBeWritten) {
  RingOptions options;
  options.folder = folder_;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  ASSERT_TRUE(ring.ok());
  ASSERT_TRUE(ring.value()->Grow().ok());
  const ScopedFd file(open(ring.value()->path().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file.valid());
  ASSERT_TRUE(ring.value()->RemoveFile());
  ring.value()->GiveMemoryBack();
  struct stat st {};
  ASSERT_EQ(fstat(file.get(), &st), 0);
  if (st.st_blocks != 0) GTEST_SKIP() << "no tmpfs, or one that cannot punch holes";
  memset(ring.value()->base() + ring.value()->bytes() / 2, 1, 100);
  ASSERT_EQ(fstat(file.get(), &st), 0);
  EXPECT_LE(st.st_blocks * 512, 64 << 10);
}

TEST_F(RingFileTest, RecordsBeforeItIsNamed) {
  RingOptions options;
  options.reports_folder = folder_;
  Result<std::unique_ptr<RingFile>> made = RingFile::CreateToName(options, RingFolder);
  ASSERT_TRUE(made.ok());
  RingFile& ring = *made.value();
  if (ring.is_named()) GTEST_SKIP() << "no tmpfs that takes files without a name";
  EXPECT_GT(ring.header()->chunks_ready.load(), 0u);
  EXPECT_EQ(ring.header()->pid, getpid());
  EXPECT_EQ(ring.Name(folder_ + "/not there").code(), StatusCode::kNotFound);
  EXPECT_FALSE(ring.is_named());
  const Result<std::string> folder = RingFolder(folder_);
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(ring.Name(folder.value()).ok());
  EXPECT_TRUE(ring.is_named());
  struct stat st {};
  ASSERT_EQ(stat(ring.path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0400u);
  EXPECT_EQ(ring.path(),
            JoinPath(folder.value(), RingFileName(getpid(), CurrentProcess().start_ticks)));
  ring.Touch();
  ASSERT_TRUE(ring.Grow().ok());
  EXPECT_TRUE(RingReader::IsOurs(*ring.header()));
  EXPECT_TRUE(ring.RemoveFile());
  EXPECT_NE(access(ring.path().c_str(), F_OK), 0);
}

TEST_F(RingFileTest, StaysForRecoveryWhileAnIncidentIsNotSealed) {
  RingOptions options;
  options.folder = folder_;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  ASSERT_TRUE(ring.ok());
  const std::string path = ring.value()->path();
  ring.value()->incident_note(0).Write({.id = "id", .kind = 1, .begin_ticks = 1, .end_ticks = 2});
  EXPECT_FALSE(ring.value()->RemoveFile());
  EXPECT_NE(access(path.c_str(), F_OK), 0) << "the process's next ring has that name";
  const auto files = std::filesystem::directory_iterator(folder_);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  EXPECT_EQ(ring.value()->header()->closed.load(), static_cast<uint32_t>(RingEnd::kUnsealed));
}

int DescriptorOf(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path) {
      return atoi(entry.path().filename().c_str());
    }
  }
  return -1;
}

// The app closed all that it had not opened itself, as closefrom() does.
TEST_F(RingFileTest, FileThatTheAppOpenedUnderItsNumberIsNotTouched) {
  RingOptions options;
  options.folder = folder_;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  ASSERT_TRUE(ring.ok());
  const int number = DescriptorOf(ring.value()->path());
  ASSERT_GE(number, 0);
  close(number);
  const std::string file = folder_ + "/of-the-app";
  ASSERT_EQ(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), number);
  EXPECT_FALSE(ring.value()->Grow().ok());
  ring.value()->HasSpaceForNames(kNamesBytes);
  ring.value()->RemoveFile();
  ring.value().reset();
  struct stat st {};
  ASSERT_EQ(fstat(number, &st), 0);
  EXPECT_EQ(st.st_size, 0);
  close(number);
}

TEST_F(RingFileTest, NamesGetTheirSpaceAsTheyCome) {
  RingOptions options;
  options.folder = folder_;
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  ASSERT_TRUE(ring.ok());
  const auto blocks = [&ring] {
    struct stat st {};
    return stat(ring.value()->path().c_str(), &st) == 0 ? st.st_blocks * 512 : -1;
  };
  const auto before = blocks();
  EXPECT_TRUE(ring.value()->HasSpaceForNames(1));
  EXPECT_EQ(blocks(), before + (16 << 10));
  EXPECT_TRUE(ring.value()->HasSpaceForNames(16 << 10));
  EXPECT_EQ(blocks(), before + (16 << 10));
  EXPECT_TRUE(ring.value()->HasSpaceForNames((16 << 10) + 1));
  EXPECT_EQ(blocks(), before + (32 << 10));
  EXPECT_TRUE(ring.value()->HasSpaceForNames(kNamesBytes));
  EXPECT_FALSE(ring.value()->HasSpaceForNames(kNamesBytes + 1));
}

// Half a step before a chunk of the window is reused, and never for what is older than the window.
TEST_F(RingFileTest, ChunksAreWantedOnlyForWhatTheWindowNeeds) {
  RingOptions options;
  options.folder = folder_;
  options.tick_source = ChooseTickSource();
  Result<std::unique_ptr<RingFile>> created = RingFile::Create(options);
  ASSERT_TRUE(created.ok() && Recorder::Open(created.value().get()).ok());
  ring_ = std::move(created.value());
  const auto start_chunks = [](int count) {
    for (int i = 0; i < count * int{kChunkBytes / 8}; ++i) RecordEvent(EventKind::kInstant, 1);
  };
  const uint32_t first = ring_->header()->chunks_ready.load();
  RecordEvent(EventKind::kInstant, 1);  // the first of the nine that this thread may have
  EXPECT_FALSE(WantsChunks(*ring_, 0));
  start_chunks(3);
  EXPECT_FALSE(WantsChunks(*ring_, 0));
  start_chunks(3);
  EXPECT_TRUE(WantsChunks(*ring_, 0));
  EXPECT_FALSE(WantsChunks(*ring_, NowTicks()));
  ASSERT_TRUE(ring_->Grow(RingFile::kChunksPerStep).ok());
  EXPECT_EQ(ring_->header()->chunks_ready.load(), first + RingFile::kChunksPerStep);
  EXPECT_FALSE(WantsChunks(*ring_, 0));
  start_chunks(40);
  EXPECT_TRUE(WantsChunks(*ring_, 0));
  ASSERT_TRUE(ring_->Grow().ok());
  EXPECT_FALSE(WantsChunks(*ring_, 0));
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

// What a process of the same user could do to the file while it is mapped; 0 if nothing of it
// works.
int TryToCut(const std::string& path) {
  if (truncate(path.c_str(), 0) == 0) return 1;
  if (open(path.c_str(), O_RDWR) >= 0) return 2;
  if (open(path.c_str(), O_RDONLY | O_TRUNC) >= 0) return 3;
  const std::string by_descriptor = "/proc/" + std::to_string(getppid()) + "/fd/";
  for (int fd = 3; fd < 64; ++fd) {
    char target[PATH_MAX] = {};
    const std::string link = by_descriptor + std::to_string(fd);
    if (readlink(link.c_str(), target, sizeof(target) - 1) < 0 || path != target) continue;
    if (truncate(link.c_str(), 0) == 0) return 4;
  }
  return 0;
}

// Makes a ring, has another process try to cut it, and records over all of it.
int RecordWhileAnotherCuts(const std::string& folder) {
  RingOptions options;
  options.folder = folder;
  options.bytes = 1 << 20;
  options.tick_source = ChooseTickSource();
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  if (!ring.ok() || !ring.value()->in_memory_reason().empty()) return 10;
  if (!ring.value()->Grow().ok() || !Recorder::Open(ring.value().get()).ok()) return 11;
  const pid_t other = fork();
  if (other == 0) _exit(TryToCut(ring.value()->path()));
  int status = 0;
  if (waitpid(other, &status, 0) != other || status != 0) return 20 + WEXITSTATUS(status);
  for (int i = 0; i < 500000; ++i) RecordEvent(EventKind::kInstant, 1);
  Recorder::Close();
  return 0;
}

TEST_F(RingFileTest, NoOtherProcessOfTheUserCanCutItUnderTheMapping) {
  constexpr uid_t kSomebody = 65534;  // root may do anything to any file
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder_.c_str(), kSomebody, kSomebody), 0);
  }
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(kSomebody) != 0 || setuid(kSomebody) != 0)) _exit(30);
    prctl(PR_SET_DUMPABLE, 1);
    _exit(RecordWhileAnotherCuts(folder_));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
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
