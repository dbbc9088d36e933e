// SIGKILL at a random moment: what was committed is read back, nothing is invented.
#include <sys/mman.h>
#include <sys/wait.h>

#include <random>
#include <thread>

#include "base/file.h"
#include "tests/tracer/ring/test_ring.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {
namespace {

constexpr int kWriters = 2;

// Written by the child just after each event: the oracle of what must be there.
struct Progress {
  std::atomic<uint32_t> written[kWriters];
};

[[noreturn]] void RunChild(const std::string& folder, Progress* progress) {
  RingOptions options;
  options.folder = folder;
  options.bytes = 1 << 20;
  options.tick_source = ChooseTickSource();
  auto* ring = new Result<std::unique_ptr<RingFile>>(RingFile::Create(options));
  if (!ring->ok() || !ring->value()->Grow().ok() || !Recorder::Open(ring->value().get()).ok())
    _exit(9);
  std::vector<std::thread> writers;
  for (uint32_t w = 0; w < kWriters; ++w) {
    writers.emplace_back([w, progress] {
      for (uint32_t n = 1;; ++n) {
        RecordEvent(EventKind::kInstant, (n & 0xfffff) | w << 20);
        progress->written[w].store(n, std::memory_order_release);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  _exit(0);
}

TEST_F(RingTest, SigkillLosesAtMostOneEventPerWriterAndInventsNone) {
  std::mt19937 random(11);
  int read = 0;
  for (int round = 0; round < 60; ++round) {
    auto* progress = static_cast<Progress*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const pid_t child = fork();
    if (child == 0) RunChild(folder_, progress);
    usleep(2000 + random() % 12000);
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    const std::vector<std::string> names = ListDirectory(folder_).value();
    for (const std::string& name : names) {
      const std::string path = JoinPath(folder_, name);
      Result<RingReader> reader = RingReader::FromBytes(ReadFile(path, 8 << 20).value());
      unlink(path.c_str());
      if (!reader.ok()) continue;  // killed before the header was whole
      const RingWindow window = reader->CopyWindow(0, UINT64_MAX);
      for (const WindowThread& thread : window.threads) {
        uint32_t last = 0;
        for (const WindowChunk& chunk : thread.chunks) {
          if (chunk.gap_before) last = 0;
          EventCursor cursor(chunk);
          EventRecord record;
          while (cursor.Next(&record)) {
            ASSERT_EQ(record.kind, EventKind::kInstant);
            if (last != 0) {
              ASSERT_EQ((record.id & 0xfffff), ((last + 1) & 0xfffff));
            }
            last = record.id;
          }
          ASSERT_FALSE(cursor.torn());
        }
        const uint32_t written = progress->written[last >> 20].load();
        const uint32_t lost = (written - last) & 0xfffff;
        ASSERT_TRUE(lost <= 1 || lost == 0xfffff) << lost;  // or one more than was told
        ++read;
      }
    }
    munmap(progress, 4096);
  }
  EXPECT_GT(read, 40);
}

}  // namespace
}  // namespace jankbox
