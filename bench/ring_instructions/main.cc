// The instructions of a recorded pair, which are exact while times are not: a child is stepped
// through two loop lengths, and the difference is divided by the pairs between them. The lengths
// are whole numbers of chunks, so that taking the next chunk is in it with its share.
#include <CLI/CLI.hpp>
#include <unordered_map>
#include <vector>

#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/progress.h"
#include "bench/harness/traced_child.h"
#include "bench/ring_instructions/instruction_kind.h"
#include "tracer/ring/ring_format.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kPairsPerChunk = (kChunkBytes - sizeof(RingChunk)) / sizeof(uint64_t) / 2;
// Within one chunk: the child's warm-up ends shortly before a chunk does, so that both lengths take
// the next one and no third.
constexpr uint32_t kShortPassesInChunk = 200;
constexpr uint32_t kPairsInChunk = 500;
constexpr size_t kMaxInstructionBytes = 15;

struct Counts {
  uint64_t instructions = 0;
  uint64_t locked = 0;
  uint64_t syscalls = 0;
};

class Counter {
 public:
  explicit Counter(const std::vector<std::string>& argv) : child_(argv) {}

  Counts Run() {
    child_.Step([this](uint64_t address) { return Visit(address); });
    child_.Finish();
    return counts_;
  }

 private:
  bool Visit(uint64_t address) {
    const InstructionKind kind = KindAt(address);
    if (kind.mark) return false;
    const bool next_round = kind.repeated && address == last_address_;
    last_address_ = address;
    if (next_round) return true;
    ++counts_.instructions;
    if (kind.locked) ++counts_.locked;
    if (kind.syscall) ++counts_.syscalls;
    return true;
  }

  InstructionKind KindAt(uint64_t address) {
    const auto [it, added] = kinds_.try_emplace(address);
    if (added) {
      uint8_t bytes[kMaxInstructionBytes];
      it->second = KindOfInstruction(bytes, child_.Read(address, bytes, sizeof(bytes)));
    }
    return it->second;
  }

  TracedChild child_;
  std::unordered_map<uint64_t, InstructionKind> kinds_;
  uint64_t last_address_ = 0;
  Counts counts_;
};

// Of `program` with its arguments but for the last, the number of passes: `shorter_passes`, and as
// many more as `pairs`.
Json PerPair(const std::vector<std::string>& program, uint32_t shorter_passes, uint32_t pairs) {
  const auto count = [&](uint32_t passes) {
    std::vector<std::string> argv = program;
    argv.push_back(std::to_string(passes));
    return Counter(argv).Run();
  };
  const Counts shorter = count(shorter_passes);
  const Counts longer = count(shorter_passes + pairs);
  const auto per_pair = [pairs](uint64_t more, uint64_t less) {
    return Rounded(static_cast<double>(more - less) / pairs, 5);
  };
  return {{"instructions_per_pair", per_pair(longer.instructions, shorter.instructions)},
          {"locked_per_pair", per_pair(longer.locked, shorter.locked)},
          {"syscalls_per_pair", per_pair(longer.syscalls, shorter.syscalls)}};
}

Json Run(uint32_t chunks) {
  const uint32_t passes = chunks * kPairsPerChunk;
  Progress progress("ring_instructions");
  const std::string pairs = BenchPart("stepped_pairs");
  Json results = PerPair({pairs, "inline"}, kPairsPerChunk,
                         passes);  // the inline path's own keys are at the top
  progress.Step(1, 4);
  results["so"] = PerPair({pairs, "so"}, kPairsPerChunk, passes);
  progress.Step(2, 4);
  results["off"] = PerPair({pairs, "off"}, kPairsPerChunk, passes);
  progress.Step(3, 4);
  results["fallback"] = PerPair({BenchPart("stepped_fallback_pairs")}, kPairsPerChunk, passes);
  results["inline_in_chunk"] = PerPair({pairs, "inline"}, kShortPassesInChunk, kPairsInChunk);
  results["pairs"] = passes;
  results["pairs_per_chunk"] = kPairsPerChunk;
  return results;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t chunks = 2;
  return jankbox::bench::BenchMain(
      {.name = "ring_instructions",
       .question =
           "Instructions, locked instructions and system calls of one recorded begin and end, "
           "by single stepping",
       .add_options =
           [&](CLI::App& app) {
             app.add_option(
                    "--chunks", chunks,
                    "Difference of the two lengths, in chunks of the ring: a virtual machine "
                    "may need 20 us a step")
                 ->check(CLI::Range(1, 1000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::Run(chunks); }},
      argc, argv);
}
