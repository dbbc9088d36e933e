// SIGKILL at a random moment: every record that was committed is read back or counted as
// overwritten, nothing is invented.
#include <sys/mman.h>
#include <sys/wait.h>

#include <random>
#include <thread>

#include "base/file.h"
#include "tests/emulator.h"
#include "tests/tracer/ring/numbered_records.h"
#include "tests/tracer/ring/test_ring.h"
#include "tracer/ring/ring_checksums.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {
namespace {

constexpr uint32_t kWriters = 4;

// Written by the child just after each record: the oracle of what must be there.
struct Progress {
  alignas(64) std::atomic<uint64_t> written[kWriters];
};

[[noreturn]] void RunChild(const std::string& folder, Progress* progress) {
  RingOptions options;
  options.folder = folder;
  options.bytes = 1 << 20;
  options.tick_source = ChooseTickSource();
  auto* ring = new Result<std::unique_ptr<RingFile>>(RingFile::Create(options));
  if (!ring->ok() || !ring->value()->Grow().ok() || !Recorder::Open(ring->value().get()).ok())
    _exit(9);
  for (uint32_t w = 0; w < kWriters; ++w) {
    std::thread([w, progress] {
      pthread_setname_np(pthread_self(), std::string(1, static_cast<char>('0' + w)).c_str());
      if (w == 0) WatchThisThread();
      for (uint64_t n = 0;; ++n) {
        NumberedRecords::Write(w, n);
        progress->written[w].store(n + 1, std::memory_order_release);
      }
    }).detach();
  }
  while (true) {
    ChecksumClosedChunks(ring->value().get(), NowTicks());
    Recorder::ReclaimDeadThreads(ring->value().get());
  }
}

class RingKillTest : public RingTest {
 protected:
  void SetUp() override {
    RingTest::SetUp();
    void* page =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    progress_ = new (page) Progress();
  }

  void KillOne(useconds_t after_us) {
    for (std::atomic<uint64_t>& written : progress_->written) written.store(0);
    const pid_t child = fork();
    if (child == 0) RunChild(folder_, progress_);
    usleep(after_us);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    for (const std::string& name : ListDirectory(folder_).value()) {
      const std::string path = JoinPath(folder_, name);
      Result<RingReader> reader = RingReader::FromBytes(ReadFile(path, 8 << 20).value());
      unlink(path.c_str());
      if (reader.ok()) {
        CheckRing(reader.value());
      } else {  // killed before the header was whole
        for (const auto& written : progress_->written) ASSERT_EQ(written.load(), 0u);
      }
    }
  }

  void CheckRing(const RingReader& reader) {
    const RingWindow window = reader.CopyWindow(0, UINT64_MAX);
    ASSERT_EQ(window.corrupt_chunks + window.torn_chunks + window.dropped_events, 0u);
    bool seen[kWriters] = {};
    for (const WindowThread& thread : window.threads) {
      NumbersFound found;
      ASSERT_NO_FATAL_FAILURE(CheckNumbers(thread, &found));
      // By its name: all of its records may be overwritten, and its open chunk still empty.
      const auto writer = static_cast<uint32_t>(thread.name.at(0) - '0');
      ASSERT_LT(writer, kWriters);
      ASSERT_TRUE(found.decoded == 0 || found.writer == writer);
      ASSERT_FALSE(seen[writer]);
      seen[writer] = true;
      // What was told is there; at most the record whose telling was cut off comes on top.
      const uint64_t written = progress_->written[writer].load();
      ASSERT_EQ(found.decoded + found.overwritten, found.next);
      const uint64_t more = found.next - written;
      ASSERT_LE(more, 1u) << "of writer " << writer << ", which wrote " << written;
      decoded_ += found.decoded;
      overwritten_ += found.overwritten;
    }
    for (uint32_t w = 0; w < kWriters; ++w) {
      ASSERT_TRUE(seen[w] || progress_->written[w].load() == 0) << "writer " << w << " is missing";
      writers_seen_ += seen[w] ? 1 : 0;
    }
    for (size_t i = 0; i < reader.chunk_count(); ++i) {
      checksums_ += CheckChunk(reader.chunk(i)) == ChunkCheck::kRight ? 1 : 0;
    }
  }

  Progress* progress_ = nullptr;
  uint64_t decoded_ = 0, overwritten_ = 0, writers_seen_ = 0, checksums_ = 0;
};

TEST_F(RingKillTest, EveryCommittedRecordIsReadOrCountedAsOverwritten) {
  const int rounds = ByMachine(getenv("JANKBOX_SOAK") != nullptr ? 10'000 : 300, 20);
  const useconds_t longest_us = ByMachine(15'000, 400'000);
  std::mt19937 random(11);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    KillOne(random() % longest_us);
    if (HasFatalFailure()) return;
  }
  printf("%d kills: %llu records read, %llu overwritten, 0 lost; %llu checksums right\n", rounds,
         static_cast<unsigned long long>(decoded_), static_cast<unsigned long long>(overwritten_),
         static_cast<unsigned long long>(checksums_));
  // The oracle has checked something.
  EXPECT_GT(writers_seen_, 0u);
  EXPECT_GT(overwritten_, 0u);
  EXPECT_GT(checksums_, 0u);
}

}  // namespace
}  // namespace jankbox
