// Threads that come and go: cursors and chunks are used again, memory and file stay as they are.
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <barrier>
#include <fstream>
#include <thread>

#include "tests/emulator.h"
#include "tests/tracer/ring/numbered_records.h"
#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

size_t ResidentKib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

bool Soak() { return getenv("JANKBOX_SOAK") != nullptr; }

void* RecordAFew(void* writer) {
  const auto w = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(writer));
  for (uint64_t n = 0; n < 40; ++n) NumberedRecords::Write(w, n);
  return nullptr;
}

// `count` threads, one after the other, from each of four threads at once.
void Churn(int count) {
  std::vector<std::thread> spawners;
  for (uintptr_t w = 0; w < 4; ++w) {
    spawners.emplace_back([w, count] {
      for (int i = 0; i < count / 4; ++i) {
        pthread_t thread;
        ASSERT_EQ(pthread_create(&thread, nullptr, RecordAFew, reinterpret_cast<void*>(w)), 0);
        ASSERT_EQ(pthread_join(thread, nullptr), 0);
      }
    });
  }
  for (std::thread& spawner : spawners) spawner.join();
}

class ThreadChurnTest : public RingTest {
 protected:
  // Every thread that is left in the ring holds its own records and no other thread's.
  void CheckWindow() {
    const RingWindow window = Window();
    EXPECT_EQ(window.dropped_events, 0u);
    EXPECT_EQ(window.torn_chunks, 0u);
    for (const WindowThread& thread : window.threads) {
      NumbersFound found;
      ASSERT_NO_FATAL_FAILURE(CheckNumbers(thread, &found));
    }
  }
};

TEST_F(ThreadChurnTest, MemoryAndFileStayFlatAndNothingIsDropped) {
  OpenRing(2 << 20);
  const int threads = ByMachine(Soak() ? 100'000 : 10'000, 400);
  std::atomic<bool> stop{false};
  std::thread reclaimer([&] {
    while (!stop.load()) Recorder::ReclaimDeadThreads(ring_.get());
  });
  Churn(ByMachine(1000, 100));
  struct stat before {
  }, after{};
  ASSERT_EQ(stat(ring_->path().c_str(), &before), 0);
  const size_t rss_before = ResidentKib();
  Churn(threads);
  const size_t rss_after = ResidentKib();
  ASSERT_EQ(stat(ring_->path().c_str(), &after), 0);
  stop = true;
  reclaimer.join();
  EXPECT_EQ(after.st_size, before.st_size);
  EXPECT_EQ(after.st_blocks, before.st_blocks);
  EXPECT_EQ(CursorsTaken(), 0u);
  EXPECT_GE(ring_->header()->next_thread_serial.load(), static_cast<uint64_t>(threads));
  if (!kSanitized && !UnderEmulator()) {  // whose translations of the code count too
    EXPECT_LT(rss_after, rss_before + 512) << "KiB";
  }
  printf("%d threads: RSS %zu -> %zu KiB, file %lld bytes\n", threads, rss_before, rss_after,
         static_cast<long long>(after.st_size));
  CheckWindow();
}

TEST_F(ThreadChurnTest, MoreThreadsAliveThanOneBlockOfCursors) {
  constexpr int kThreads = 1100;  // three blocks
  OpenRing(48 << 20);
  std::barrier all(kThreads + 1);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&all, t] {
      RecordAFew(reinterpret_cast<void*>(uintptr_t{t % 16}));
      all.arrive_and_wait();  // all have recorded
      all.arrive_and_wait();
    });
  }
  all.arrive_and_wait();
  EXPECT_EQ(CursorsTaken(), static_cast<size_t>(kThreads));
  const RingWindow window = Window();
  EXPECT_EQ(window.threads.size(), static_cast<size_t>(kThreads));
  CheckWindow();
  all.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CursorsTaken(), 0u);
}

void* RecordAndVanish(void* writer) {
  RecordAFew(writer);
  syscall(SYS_exit, 0);  // no destructor runs
  return nullptr;
}

TEST_F(ThreadChurnTest, ThreadsThatDieWithoutDestructorsAreReclaimed) {
  if (kSanitized) GTEST_SKIP() << "sanitizers lose count of threads that end so";
  OpenRing(2 << 20);
  constexpr size_t kThreads = 30;
  for (uintptr_t t = 0; t < kThreads; ++t) {
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, nullptr, RecordAndVanish, reinterpret_cast<void*>(t % 16)),
              0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
  }
  ring_->NoteAlive(NowTicks());
  while (CursorsTaken() > 0) Recorder::ReclaimDeadThreads(ring_.get());
  size_t closed = 0;
  for (uint32_t i = 0; i < ring_->header()->chunks_ready.load(); ++i) {
    const RingChunk& chunk = *ring_->chunk(i);
    EXPECT_EQ(chunk.owner.load(), kNoOwner);
    closed += chunk.sequence.load() != 0 && chunk.close_ticks.load() != 0 &&
                      chunk.committed_words.load() == NumberedRecords::WordsBefore(40)
                  ? 1
                  : 0;
  }
  EXPECT_EQ(closed, kThreads);
  EXPECT_EQ(Window().threads.size(), kThreads);
  CheckWindow();
}

TEST_F(ThreadChurnTest, OpenChunkOfASlowThreadIsNeverTaken) {
  OpenRing(1 << 20);
  std::barrier step(2);
  std::atomic<int> tid{0};
  std::thread slow([&] {
    tid = CurrentTid();
    NumberedRecords::Write(0, 0);
    step.arrive_and_wait();
    step.arrive_and_wait();  // the ring has been lapped meanwhile
    NumberedRecords::Write(0, 1);
  });
  step.arrive_and_wait();
  std::thread([this] {
    for (uint64_t n = 0; ring_->header()->next_chunk[0].load() < 2000; ++n) {
      NumberedRecords::Write(1, n);
    }
  }).join();
  step.arrive_and_wait();
  slow.join();
  const RingWindow window = Window();
  const std::vector<EventRecord> events = Events(window, tid);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_TRUE(NumberedRecords::Is(events[1], 0, 1));
  CheckWindow();
}

// The machine's highest tid, raised for the length of a test if root permits it.
class RaisedPidMax {
 public:
  RaisedPidMax() {
    std::ifstream(kPath) >> before_;
    if (before_ < kWanted) std::ofstream(kPath) << kWanted << std::flush;
    std::ifstream(kPath) >> now_;
  }
  ~RaisedPidMax() {
    if (now_ != before_) std::ofstream(kPath) << before_ << std::flush;
  }
  bool done() const { return now_ >= kWanted; }

 private:
  static constexpr int kWanted = 70'000;
  static constexpr char kPath[] = "/proc/sys/kernel/pid_max";
  int before_ = 0;
  int now_ = 0;
};

TEST_F(ThreadChurnTest, TidsBeyond16Bits) {
  const RaisedPidMax raised;
  if (!raised.done()) GTEST_SKIP() << "kernel.pid_max is below 70,000 and may not be raised";
  OpenRing(1 << 20);
  std::atomic<int> tid{0};
  for (int attempt = 0; attempt < 100 && tid <= 65'536; ++attempt) {
    std::ofstream next("/proc/sys/kernel/ns_last_pid");
    if (!(next << 65'600 + attempt << std::flush)) GTEST_SKIP() << "ns_last_pid needs root";
    std::thread([&tid] {
      tid = CurrentTid();
      NumberedRecords::Write(5, 0);
    }).join();
  }
  ASSERT_GT(tid, 65'536);
  EXPECT_EQ(Events(Window(), tid).size(), 1u);
}

}  // namespace
}  // namespace jankbox
