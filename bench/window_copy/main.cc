// The cost of a copy of a whole ring, for which no thread waits: the sealer's copy against one
// memcpy of the same bytes, with the threads silent and with two of them recording as fast as they
// can.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/harness/bench_main.h"
#include "bench/harness/opaque.h"
#include "bench/harness/progress.h"
#include "bench/harness/rounds.h"
#include "bench/harness/temporary_folder.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_file.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kWindowBytes = 16u << 20;
constexpr uint32_t kSectionsBytes = kRingSectionAlignment + kNamesBytes + kModulesBytes;
constexpr uint32_t kEventsToFill = 2 * kWindowBytes / sizeof(uint64_t);

void RecordNested(uint32_t pairs) {
  for (uint32_t i = 0; i < pairs; ++i) {
    RecordEvent(EventKind::kBegin, 1 + i % 1000);
    UnknownCode();
    RecordEvent(EventKind::kEnd, 1 + i % 1000);
    UnknownCode();
  }
}

// Two threads, one of them watched, so that both shares of the ring are in use.
class Writers {
 public:
  // Until the object goes; with `pairs` not 0 each records that many and ends.
  explicit Writers(uint32_t pairs) {
    for (const bool watched : {true, false}) {
      threads_.emplace_back([this, watched, pairs] {
        if (watched) WatchThisThread();
        if (pairs != 0) RecordNested(pairs);
        while (pairs == 0 && !stop_.load(std::memory_order_relaxed)) RecordNested(1000);
      });
    }
  }
  ~Writers() {
    stop_.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

class WindowCopy {
 public:
  explicit WindowCopy(uint32_t rounds)
      : rounds_(rounds), folder_("/dev/shm"), warm_(new uint8_t[kWindowBytes]()) {
    RingOptions options;
    options.folder = folder_.path();
    options.bytes = kSectionsBytes + kWindowBytes;
    options.tick_source = ChooseTickSource();
    Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
    if (!ring.ok()) throw std::runtime_error(ring.status().message());
    ring_ = std::move(ring.value());
    const Status grown = ring_->Grow();
    if (!grown.ok()) throw std::runtime_error(grown.message());
    if (!Recorder::Open(ring_.get()).ok()) throw std::runtime_error("the recorder does not start");
    Writers(kEventsToFill / 2);
  }
  ~WindowCopy() {
    Recorder::Close();
    ring_->RemoveFile();
  }

  Json Run() {
    Measure("silent", "");
    {
      const Writers writers(0);
      Measure("two_writers", "_with_writers");
    }
    Json results;
    results["window_bytes"] = ring_->bytes() - ring_->header()->chunks_offset;
    results["rounds"] = rounds_;
    results["ratios"] = std::move(ratios_);
    results["copies"] = std::move(copies_);
    return results;
  }

 private:
  void Measure(const std::string& state, const std::string& suffix) {
    const RingReader reader(ring_->base(), ring_->bytes());
    const uint8_t* chunks = ring_->base() + ring_->header()->chunks_offset;
    std::vector<double> torn, events;
    Rounds rounds;
    rounds.Add("memcpy", [&](uint32_t) {
      memcpy(warm_.get(), chunks, kWindowBytes);
      UnknownCode();
    });
    // Into the buffer of the window before, as when reports are sealed one after another, and into
    // fresh memory, as for the first.
    auto kept = std::make_shared<WindowBuffer>();
    rounds.Add("fresh_copy", [&](uint32_t) { reader.CopyWindow(0, UINT64_MAX); });
    rounds.Add("copy", [&](uint32_t) {
      const RingWindow window = reader.CopyWindow(0, UINT64_MAX, kept);
      torn.push_back(static_cast<double>(window.torn_chunks));
      uint64_t words = 0;
      for (const WindowThread& thread : window.threads) {
        for (const WindowChunk& chunk : thread.chunks) words += chunk.words.size();
      }
      events.push_back(static_cast<double>(words));
    });
    Progress progress("window_copy, " + state);
    rounds.RunWhole(rounds_, [&](uint32_t done) { progress.Step(done, rounds_); });
    ratios_["copy_vs_memcpy" + suffix] = Rounded(rounds.Ratio("copy", "memcpy"));
    ratios_["fresh_copy_vs_memcpy" + suffix] = Rounded(rounds.Ratio("fresh_copy", "memcpy"));
    Json row;
    for (const KernelTiming& timing : rounds.Timings()) {
      row[timing.name + "_min_ms"] = Rounded(timing.min_ns / 1e6);
      row[timing.name + "_median_ms"] = Rounded(timing.median_ns / 1e6);
    }
    row["words_median"] = Median(events);
    row["torn_chunks_median"] = Median(torn);
    row["torn_chunks_max"] = Quantile(torn, 1);
    copies_[state] = row;
  }

  const uint32_t rounds_;
  TemporaryFolder folder_;
  std::unique_ptr<uint8_t[]> warm_;
  std::unique_ptr<RingFile> ring_;
  Json ratios_ = Json::object();
  Json copies_ = Json::object();
};

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t rounds = 60;
  return jankbox::bench::BenchMain(
      {.name = "window_copy",
       .question =
           "What copying a 16 MiB ring out costs, against one memcpy, and what it loses while "
           "two threads record",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--rounds", rounds, "Copies of each kind")
                 ->check(CLI::Range(1, 10000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::WindowCopy(rounds).Run(); }},
      argc, argv);
}
