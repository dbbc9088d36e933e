// Several processes at one spool, kills at random instants, a disk that is full.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/uploader/spool/spool_fixture.h"

namespace jankbox {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kNoFloor = 0;

class SpoolProcessTest : public SpoolTest {
 protected:
  // Runs `body` in a child; its result is the exit code.
  template <typename Body>
  static pid_t Child(Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    return child;
  }

  static int ExitCode(pid_t child) {
    int wait_status = 0;
    EXPECT_EQ(waitpid(child, &wait_status, 0), child);
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  }

  static void KillAndWait(pid_t child) {
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
  }

  // Every visible report is whole.
  void ExpectNoPartialReport() {
    for (const std::string& name : ListDirectory(dir()).value()) {
      if (name.starts_with(".") || !name.ends_with(kReportFileSuffix)) continue;
      const Result<proto::Report> report = ReadReportFile(JoinPath(dir(), name));
      EXPECT_TRUE(report.ok()) << report.status().message();
    }
  }
};

TEST_F(SpoolProcessTest, KilledWritersLeaveNoPartialReport) {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = Child([&] {
      Result<Spool> spool = Spool::Open(dir(), {.min_free_bytes = kNoFloor});
      if (!spool.ok()) return 1;
      for (bool first = true;; first = false) {
        const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
        if (!WriteReport(&spool.value(), id, SealedBytesOfSize(id, 40'000)).ok()) return 2;
        if (first && write(ready[1], "r", 1) != 1) return 3;
      }
    });
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    usleep(random() % 5000);
    KillAndWait(child);
    close(ready[0]);
    close(ready[1]);
    ExpectNoPartialReport();
  }
  Spool spool = OpenSpool();
  ExpectBalanced(&spool);
  const SpoolCounts counts = spool.Counts().value();
  EXPECT_GE(counts.written, 100u);
  EXPECT_LE(counts.kept, 64u);
  for (const std::string& name : ListDirectory(dir()).value()) {
    EXPECT_FALSE(name.starts_with(SealedFile::kTemporaryPrefix)) << name;
  }
}

TEST_F(SpoolProcessTest, KilledDrainsCountNothingTwice) {
  constexpr int kReports = 60;
  {
    Spool spool = OpenSpool();
    for (int i = 0; i < kReports; ++i) Seal(&spool);
  }
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    const pid_t child = Child([&] {
      Result<Spool> spool = Spool::Open(dir(), {.min_free_bytes = kNoFloor});
      if (!spool.ok()) return 1;
      for (const SpoolEntry& entry : spool->List().value()) {
        if (!spool->MarkSent(entry).ok()) return 2;
      }
      return 0;
    });
    usleep(random() % 3000);
    KillAndWait(child);
  }
  Spool spool = OpenSpool();
  for (const SpoolEntry& entry : spool.List().value()) ASSERT_TRUE(spool.MarkSent(entry).ok());
  const SpoolCounts counts = spool.Counts().value();
  EXPECT_EQ(counts.written, static_cast<uint64_t>(kReports));
  EXPECT_EQ(counts.sent, static_cast<uint64_t>(kReports));
  EXPECT_EQ(counts.dropped(), 0u);
}

TEST_F(SpoolProcessTest, AccountsOfManyProcessesAddUp) {
  constexpr int kProcesses = 6;
  constexpr int kReportsEach = 30;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(Child([this] {
      Result<Spool> spool = Spool::Open(dir(), {.max_reports = 20, .min_free_bytes = kNoFloor});
      if (!spool.ok()) return 1;
      for (int i = 0; i < kReportsEach; ++i) {
        const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
        if (!WriteReport(&spool.value(), id, SealedBytesOfSize(id, 500)).ok()) return 2;
        if (i % 7 != 0) continue;
        for (const SpoolEntry& entry : spool->List().value()) {
          Result<ScopedFd> fd = spool->BeginUpload(entry);
          if (fd.ok() && !spool->MarkSent(entry).ok()) return 3;
          break;
        }
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(ExitCode(child), 0);
  Spool spool = OpenSpool({.max_reports = 20});
  const SpoolCounts counts = spool.Counts().value();
  EXPECT_EQ(counts.written, static_cast<uint64_t>(kProcesses * kReportsEach));
  EXPECT_LE(counts.kept, 20u);
  EXPECT_EQ(counts.kept, Ids(&spool).size());
  EXPECT_GT(counts.sent, 0u);
  EXPECT_EQ(counts.fates[static_cast<size_t>(SpoolFate::kQuotaCount)],
            counts.written - counts.sent - counts.kept);
  ExpectBalanced(&spool);
}

TEST_F(SpoolProcessTest, StoppedHolderOfTheLockCostsNoReport) {
  Spool spool = OpenSpool();
  const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
  const std::string bytes = SealedBytesOfSize(id, 500);
  Result<SpoolWriter> writer = spool.NewReport(id, bytes.size());
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->Write(bytes).ok());
  {
    Result<SpoolLock> lock = SpoolLock::Acquire(dir() + "/.lock", 0);
    ASSERT_TRUE(lock.ok());
    EXPECT_TRUE(writer->Seal().ok());
  }
  EXPECT_THAT(Ids(&spool), testing::ElementsAre(id));
  EXPECT_EQ(spool.Counts()->written, 1u);
}

TEST_F(SpoolProcessTest, TemporaryFileOfADeadWriterReservesNothing) {
  Spool spool = OpenSpool({.max_bytes = 100'000});
  const pid_t child = Child([&] {
    Result<SpoolWriter> writer = spool.NewReport(NewUuid(1), 90'000);
    if (!writer.ok() || !writer->Write("half").ok()) return 1;
    kill(getpid(), SIGKILL);
    return 2;
  });
  int wait_status = 0;
  ASSERT_EQ(waitpid(child, &wait_status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(wait_status));
  EXPECT_EQ(ScanSpoolFolder(dir())->in_flight_bytes, 90'000u);
  Seal(&spool, 50'000);
  EXPECT_EQ(ScanSpoolFolder(dir())->in_flight_count, 0u);
}

// A tmpfs of 1 MiB over the spool's folder.
class FullDiskTest : public SpoolProcessTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "mounting needs root";
    ASSERT_EQ(mkdir(dir().c_str(), 0700), 0);
    // In a mount namespace of the test's own, which goes with the process.
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", dir().c_str(), "tmpfs", 0, "size=1m") != 0) {
      GTEST_SKIP() << "mounting is not permitted here";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) umount2(dir().c_str(), MNT_DETACH);
  }

  void FillDisk(const std::string& name) {
    const int fd = open(JoinPath(dir(), name).c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_GE(fd, 0);
    const std::string block(4096, 'x');
    while (write(fd, block.data(), block.size()) > 0) {
    }
    close(fd);
  }

  bool mounted_ = false;
};

TEST_F(FullDiskTest, FloorIsKeptForOthers) {
  constexpr uint64_t kFloor = 512 << 10;
  Result<Spool> spool = Spool::Open(dir(), {.min_free_bytes = kFloor});
  ASSERT_TRUE(spool.ok()) << spool.status().message();
  for (int i = 0; i < 20; ++i) {
    const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
    ASSERT_TRUE(WriteReport(&spool.value(), id, SealedBytesOfSize(id, 100'000)).ok()) << i;
    EXPECT_GE(FreeBytes(dir()), kFloor - 16'384) << i;  // the accounts are beside the floor
  }
  EXPECT_GT(Fate(&spool.value(), SpoolFate::kFreeSpace), 0u);
  ExpectBalanced(&spool.value());

  FillDisk("foreign");
  const std::string before = std::to_string(Ids(&spool.value()).size());
  const std::string id = NewUuid(1);
  const Status status = WriteReport(&spool.value(), id, SealedBytesOfSize(id, 100'000));
  EXPECT_EQ(status.code(), StatusCode::kNoSpace);
  EXPECT_THAT(status.message(), HasSubstr("No space left on device"));
  EXPECT_EQ(std::to_string(Ids(&spool.value()).size()), before);
  const Status reopened = Spool::Open(dir(), {.min_free_bytes = kFloor}).status();
  EXPECT_EQ(reopened.code(), StatusCode::kNoSpace);
  EXPECT_THAT(reopened.message(), HasSubstr("0 MiB free"));
}

TEST_F(FullDiskTest, DiskThatFillsUpMidwayLeavesNoPartialReport) {
  Result<Spool> spool = Spool::Open(dir(), {.max_bytes = 4 << 20, .min_free_bytes = kNoFloor});
  ASSERT_TRUE(spool.ok());
  const std::string id = NewUuid(1);
  {
    Result<SpoolWriter> writer = spool->NewReport(id, 1000);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Write(std::string(1000, 'x')).ok());
    FillDisk("foreign");
    Status status = writer->Write(std::string(300'000, 'x'));
    EXPECT_EQ(status.code(), StatusCode::kNoSpace);
    EXPECT_THAT(status.message(), HasSubstr("No space left on device"));
  }
  for (const std::string& name : ListDirectory(dir()).value()) {
    EXPECT_FALSE(name.starts_with(SealedFile::kTemporaryPrefix)) << name;
    EXPECT_FALSE(name.ends_with(kReportFileSuffix)) << name;
  }
  ASSERT_EQ(unlink((dir() + "/foreign").c_str()), 0);
  EXPECT_TRUE(WriteReport(&spool.value(), id, SealedBytesOfSize(id, 1000)).ok());
  EXPECT_EQ(Ids(&spool.value()).size(), 1u);
}

TEST_F(FullDiskTest, SealedReportsOutliveAFullDisk) {
  Result<Spool> spool = Spool::Open(dir(), {.max_bytes = 4 << 20, .min_free_bytes = kNoFloor});
  ASSERT_TRUE(spool.ok());
  const std::string id = NewUuid(1);
  ASSERT_TRUE(WriteReport(&spool.value(), id, SealedBytesOfSize(id, 50'000)).ok());
  FillDisk("foreign");
  Result<Spool> again = Spool::Open(dir(), {.max_bytes = 4 << 20, .min_free_bytes = kNoFloor});
  ASSERT_TRUE(again.ok()) << again.status().message();
  const SpoolEntry entry = again->List()->front();
  ASSERT_EQ(entry.id, id);
  // Its attempt cannot be written down, and it is sent and removed all the same.
  EXPECT_TRUE(again->BeginUpload(entry).ok());
  EXPECT_TRUE(again->MarkSent(entry).ok());
  EXPECT_THAT(Ids(&again.value()), IsEmpty());
  EXPECT_EQ(again->Counts()->sent, 1u);
  ExpectBalanced(&again.value());
}

}  // namespace
}  // namespace jankbox
