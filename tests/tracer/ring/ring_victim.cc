// Records all kinds of events on four threads, says "ready" once the ring has been lapped, and goes
// on until it is killed: ring_victim FOLDER.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

#include "base/own_thread.h"
#include "tracer/ring/method_registry.h"
#include "tracer/ring/record_modes.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_checksums.h"

namespace jankbox {
namespace {

// One of each, around a call that stays open.
void RecordAll(uint32_t id, uint64_t n) {
  RecordEvent(EventKind::kBegin, id);
  RecordValue(EventKind::kCounter, id, n % 2 == 0 ? n : ~n);
  RecordValue(EventKind::kAsyncBegin, id, n << 40);
  RecordValue(EventKind::kAsyncEnd, id, n << 40);
  RecordEvent(EventKind::kInstant, kMaxMethodId);
  const uint64_t name[2] = {0x676e696b726f77, 0x3130};  // "working01"
  RecordEventAt(EventKind::kDispatchBegin, 9, UINT64_MAX, name);
  if (n % 7 != 0) RecordEvent(EventKind::kDispatchEnd, 0);
  const uint64_t frame[5] = {n, n + 1, 16'666'666, n + 2, n + 3};
  RecordEventAt(EventKind::kFrame, 0, UINT64_MAX, frame);
  const uint64_t sample[4] = {n, 1, 1, 0xffff0000};
  RecordEventAt(EventKind::kStackSample, 4, NowTicks() - 1000, sample);
  if (n % 5 != 0) RecordEvent(EventKind::kEnd, id);
  if (n % 3 == 0) RecordMarker("B|1|a marker of " + std::to_string(n));
  if (n % 4 == 0) RecordMarker("E|1");
  const uint64_t wait[2] = {n, n + 1};
  if (n % 6 == 0) RecordAside(EventKind::kWait, static_cast<uint32_t>(n) << 4 | 2, wait);
  if (n % 9 == 0) RecordAside(EventKind::kThread, 0, {});
}

std::atomic<bool> g_lapped{false};  // from now on slowly, so that checksums are not overtaken

[[noreturn]] void RecordForEver(uint32_t id, bool watched) {
  if (watched) WatchThisThread();
  pthread_setname_np(pthread_self(), watched ? "ui" : "worker");
  RecordEvent(EventKind::kBegin, id);
  for (uint64_t n = 1;; ++n) {
    RecordAll(id, n);
    if (g_lapped.load(std::memory_order_relaxed)) usleep(100);
  }
}

int Run(const char* folder) {
  RingOptions options;
  options.folder = folder;
  options.bytes = 1 << 20;
  options.tick_source = ChooseTickSource();
  options.app_name = "victim";
  options.app_version = "1.2";
  RingFile* ring = RingFile::Create(options).value().release();
  if (!ring->Grow().ok() || !Recorder::Open(ring).ok()) return 1;
  MethodRegistry::Get().Attach(ring);
  MethodRegistry::Get().NewIdOfAddress(0xdeadbeef00);
  ring->mutable_header()->watched[3].tid.store(getpid());
  for (uint64_t i = 0; i < 40; ++i) {
    NoteRecordMode(ring, i % 2 == 0 ? RecordMode::kExact : RecordMode::kCoarse,
                   RecordModeReason::kOverBudget, NowTicks());
  }
  for (uint32_t w = 0; w < 4; ++w) {
    const uint32_t id = MethodRegistry::Get().IdOfName("method " + std::to_string(w));
    std::thread(RecordForEver, id, w == 0).detach();
  }
  std::thread([] { RecordEvent(EventKind::kInstant, 1); }).join();
  while (ring->header()->next_sequence.load() < 500) ChecksumClosedChunks(ring, NowTicks());
  g_lapped = true;
  ChecksumClosedChunks(ring, NowTicks());
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) return 1;
  while (true) ChecksumClosedChunks(ring, NowTicks());
}

}  // namespace
}  // namespace jankbox

int main(int argc, char** argv) { return argc == 2 ? jankbox::Run(argv[1]) : 2; }
