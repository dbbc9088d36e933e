// The time and size of a snapshot: Jankbox's encoder, streamed through zstd-1 as a report is
// sealed, against libprotobuf and against ftrace print events, on the same events, interleaved in
// one process.
#include <CLI/CLI.hpp>
#include <string>

#include "bench/harness/bench_main.h"
#include "bench/harness/progress.h"
#include "bench/harness/rounds.h"
#include "bench/snapshot_encode/compression.h"
#include "bench/snapshot_encode/our_encoder.h"
#include "bench/snapshot_encode/protobuf_encoders.h"
#include "bench/snapshot_encode/workload.h"

namespace jankbox::bench {
namespace {

class SnapshotEncode {
 public:
  SnapshotEncode(const std::string& path, uint32_t rounds)
      : workload_(path.empty() ? MakeWorkload() : ReadWorkload(path)),
        rounds_(rounds),
        ours_(workload_) {}

  Json Run() {
    MeasureTimes();
    Json results;
    results["events"] = workload_.events();
    results["slices"] = workload_.slices();
    results["rounds"] = rounds_;
    AddSizes("ours_1ns", ZstdDecompress(ours_.Encode(1)));
    AddSizes("ours_128ns", ZstdDecompress(ours_.Encode(128)));
    AddSizes("libprotobuf", EncodeTrackEvents(workload_, Timestamps::kAbsolute));
    AddSizes("libprotobuf_delta", EncodeTrackEvents(workload_, Timestamps::kDelta));
    AddSizes("ftrace_print", EncodeFtracePrints(workload_));
    // As in a report: streamed, not compressed in one piece.
    const double events = static_cast<double>(workload_.events());
    results["bytes_per_event_1ns"] = Rounded(static_cast<double>(ours_.Encode(1).size()) / events);
    results["bytes_per_event_128ns"] =
        Rounded(static_cast<double>(ours_.Encode(128).size()) / events);
    ratios_["zstd3_size_vs_ftrace_print"] =
        Rounded(encodings_["ours_1ns"]["zstd3_bytes"].get<double>() /
                encodings_["ftrace_print"]["zstd3_bytes"].get<double>());
    results["ratios"] = std::move(ratios_);
    results["encodings"] = std::move(encodings_);
    return results;
  }

 private:
  // Encoding and zstd-1 together, in each round all of them once.
  void MeasureTimes() {
    Rounds rounds;
    const auto add = [&](const std::string& name, auto encode) {
      rounds.Add(name, [this, encode](uint32_t) { zstd1_.Compress(encode()); });
    };
    rounds.Add("ours_1ns", [this](uint32_t) { ours_.Encode(1); });
    rounds.Add("ours_128ns", [this](uint32_t) { ours_.Encode(128); });
    add("libprotobuf", [this] { return EncodeTrackEvents(workload_, Timestamps::kAbsolute); });
    add("libprotobuf_delta", [this] { return EncodeTrackEvents(workload_, Timestamps::kDelta); });
    add("libprotobuf_in_pieces",
        [this] { return EncodeTrackEventsInPieces(workload_, Timestamps::kAbsolute); });
    add("libprotobuf_delta_in_pieces",
        [this] { return EncodeTrackEventsInPieces(workload_, Timestamps::kDelta); });
    add("ftrace_print", [this] { return EncodeFtracePrints(workload_); });
    {
      Progress progress("snapshot_encode");
      rounds.RunWhole(rounds_, [&](uint32_t done) { progress.Step(done, rounds_); });
    }
    for (const KernelTiming& timing : rounds.Timings()) {
      encodings_[timing.name] = {{"encode_zstd1_min_ms", Rounded(timing.min_ns / 1e6)},
                                 {"encode_zstd1_median_ms", Rounded(timing.median_ns / 1e6)}};
    }
    const auto ratio = [&](const char* key, const char* by) {
      ratios_[key] = Rounded(rounds.Ratio("ours_1ns", by));
    };
    ratio("time_vs_libprotobuf", "libprotobuf");
    ratio("time_vs_libprotobuf_delta", "libprotobuf_delta");
    ratio("time_vs_libprotobuf_in_pieces", "libprotobuf_in_pieces");
    ratio("time_vs_libprotobuf_delta_in_pieces", "libprotobuf_delta_in_pieces");
    ratio("time_vs_ftrace_print", "ftrace_print");
  }

  void AddSizes(const std::string& name, const std::string& bytes) {
    Json& row = encodings_[name];
    row["bytes"] = bytes.size();
    row["zstd1_bytes"] = zstd1_.Compress(bytes);
    row["zstd3_bytes"] = zstd3_.Compress(bytes);
    row["gzip6_bytes"] = Gzip6Bytes(bytes);
  }

  Workload workload_;
  uint32_t rounds_;
  OurEncoder ours_;
  ZstdCompressor zstd1_{1};
  ZstdCompressor zstd3_{3};
  Json ratios_ = Json::object();
  Json encodings_ = Json::object();
};

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  std::string workload;
  uint32_t rounds = 9;
  return jankbox::bench::BenchMain(
      {.name = "snapshot_encode",
       .question = "What a snapshot of 1,000,000 events costs and weighs, against libprotobuf and "
                   "against ftrace print events",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--workload", workload,
                            "Events to encode, as bench/snapshot_encode/workload.h describes the "
                            "file [made here]")
                 ->check(CLI::ExistingFile);
             app.add_option("--rounds", rounds, "Times that each encoding is made")
                 ->check(CLI::Range(1, 1000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::SnapshotEncode(workload, rounds).Run(); }},
      argc, argv);
}
