// Frames while another process syncs the same disk without a pause, and the ring is on it or on a
// tmpfs: storm_frames DISK-FOLDER FRAMES. A program of its own: the SDK puts its ring on a tmpfs
// wherever there is one, so the recorder is used directly. Prints one JSON object.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "base/clock.h"
#include "bench/app_interference/frame_times.h"
#include "bench/harness/opaque.h"
#include "bench/harness/temporary_folder.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_file.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kBatchFrames = 25;
constexpr uint32_t kCalls = 2000;
constexpr double kFrameNs = 4.4e6;

uint32_t g_steps_per_call = 100;

std::unique_ptr<RingFile> MakeRing(const std::string& folder) {
  RingOptions options;
  options.folder = folder;
  options.tick_source = ChooseTickSource();
  Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
  if (!ring.ok()) throw std::runtime_error(ring.status().message());
  if (!ring.value()->in_memory_reason().empty()) {
    throw std::runtime_error(ring.value()->in_memory_reason());
  }
  if (!ring.value()->Grow().ok()) throw std::runtime_error("the ring does not grow");
  return std::move(ring.value());
}

JANKBOX_BENCH_KERNEL uint64_t RunFrame() {
  const uint64_t begin_ns = MonotonicNs();
  uint64_t seed = 88172645463325252u;
  for (uint32_t call = 0; call < kCalls; ++call) {
    RecordEvent(EventKind::kBegin, 7);
    for (uint32_t i = 0; i < g_steps_per_call; ++i) {
      seed ^= seed << 13;
      seed ^= seed >> 7;
      seed ^= seed << 17;
    }
    RecordEvent(EventKind::kEnd, 7);
  }
  Use(seed);
  return MonotonicNs() - begin_ns;
}

// A frame takes the same four milliseconds as those of the bench itself.
void Calibrate() {
  for (int pass = 0; pass < 3; ++pass) {
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < 50; ++i) least_ns = std::min(least_ns, RunFrame());
    g_steps_per_call =
        static_cast<uint32_t>(g_steps_per_call * kFrameNs / static_cast<double>(least_ns)) + 1;
  }
}

void RunBatch(RingFile* ring, FrameTimes* times) {
  if (ring != nullptr && !Recorder::Open(ring).ok()) throw std::runtime_error("no recorder");
  RunFrame();
  for (uint32_t i = 0; i < kBatchFrames; ++i) times->Add(RunFrame());
  Recorder::Close();
}

int Main(const std::string& disk, uint32_t frames) {
  const TemporaryFolder memory("/dev/shm");
  const std::unique_ptr<RingFile> on_tmpfs = MakeRing(memory.path());
  const std::unique_ptr<RingFile> on_disk = MakeRing(disk);
  Calibrate();
  FrameTimes off, tmpfs, file;
  while (off.count() < frames) {
    RunBatch(nullptr, &off);
    RunBatch(on_tmpfs.get(), &tmpfs);
    RunBatch(on_disk.get(), &file);
  }
  Json results;
  results["frames"]["off"] = off.ToJson();
  results["frames"]["ring_on_tmpfs"] = tmpfs.ToJson();
  results["frames"]["ring_on_disk"] = file.ToJson();
  AddRatios("_tmpfs_vs_off", tmpfs, 0, off, &results["ratios"]);
  AddRatios("_disk_vs_off", file, 0, off, &results["ratios"]);
  puts(results.dump().c_str());
  on_tmpfs->RemoveFile();
  on_disk->RemoveFile();
  return 0;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return jankbox::bench::Main(argv[1], static_cast<uint32_t>(atoi(argv[2])));
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
