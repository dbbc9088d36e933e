#include "tracer/sampling/sample_event.h"

#include <algorithm>

namespace jankbox {

namespace {

constexpr uint32_t kFixedWords = 3;
constexpr uint64_t kAddressMask = (uint64_t{1} << 60) - 1;

constexpr uint32_t kSourceShift = 32;
constexpr uint32_t kStateShift = 36;
constexpr uint32_t kFdClassShift = 44;
constexpr uint32_t kRunningShift = 48;
constexpr uint32_t kTruncatedShift = 49;
constexpr uint32_t kUncertainShift = 50;
constexpr uint32_t kUsedBits = 51;

uint64_t Bits(uint64_t word, uint32_t shift, uint32_t width) {
  return word >> shift & ((uint64_t{1} << width) - 1);
}

}  // namespace

uint32_t EncodeSample(const StackSample& sample, uint64_t* words) {
  const uint32_t depth = std::min(sample.depth, StackSample::kMaxDepth);
  words[0] = uint64_t{static_cast<uint32_t>(sample.tid)} |
             uint64_t{static_cast<uint8_t>(sample.source)} << kSourceShift |
             uint64_t{static_cast<uint8_t>(sample.state)} << kStateShift |
             uint64_t{static_cast<uint8_t>(sample.fd_class)} << kFdClassShift |
             uint64_t{sample.running} << kRunningShift |
             uint64_t{sample.truncated} << kTruncatedShift |
             uint64_t{sample.uncertain} << kUncertainShift;
  words[1] = sample.syscall < 0 ? 0 : static_cast<uint64_t>(sample.syscall) + 1;
  words[2] = depth;
  for (uint32_t i = 0; i < depth; ++i) words[kFixedWords + i] = sample.pcs[i] & kAddressMask;
  return kFixedWords + depth;
}

bool DecodeSample(std::span<const uint64_t> payload, StackSample* sample) {
  if (payload.size() < kFixedWords) return false;
  const uint64_t flags = payload[0];
  const uint64_t source = Bits(flags, kSourceShift, 4);
  const uint64_t fd_class = Bits(flags, kFdClassShift, 4);
  const uint64_t syscall_plus_one = payload[1];
  const uint64_t depth = payload[2];
  if (flags >> kUsedBits != 0 || source > static_cast<uint64_t>(SampleSource::kCreation) ||
      fd_class > static_cast<uint64_t>(StackSample::FdClass::kOther) ||
      syscall_plus_one > uint64_t{INT32_MAX} + 1 || depth > StackSample::kMaxDepth ||
      payload.size() - kFixedWords < depth) {
    return false;
  }
  sample->tid = static_cast<int32_t>(Bits(flags, 0, 32));
  sample->source = static_cast<SampleSource>(source);
  sample->state = static_cast<char>(Bits(flags, kStateShift, 8));
  sample->fd_class = static_cast<StackSample::FdClass>(fd_class);
  sample->running = Bits(flags, kRunningShift, 1) != 0;
  sample->truncated = Bits(flags, kTruncatedShift, 1) != 0;
  sample->uncertain = Bits(flags, kUncertainShift, 1) != 0;
  sample->syscall = static_cast<int32_t>(static_cast<int64_t>(syscall_plus_one) - 1);
  sample->depth = static_cast<uint32_t>(depth);
  for (uint32_t i = 0; i < depth; ++i) sample->pcs[i] = payload[kFixedWords + i];
  return true;
}

}  // namespace jankbox
