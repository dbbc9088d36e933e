#include "tracer/perfetto/perf_samples.h"

#include <vector>

#include "base/text/private_text.h"
#include "tracer/perfetto/trace_fields.h"
#include "tracer/unwind/shown_stack.h"

namespace jankbox {
namespace {

namespace field = perfetto::interned_data;

// Build ids are raw bytes in a trace.
std::string FromHex(std::string_view hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | (digit(hex[i + 1]) & 15));
  }
  return bytes;
}

}  // namespace

void PerfSamples::Write(uint64_t boottime_ns, const StackSample& sample) {
  new_entries_.clear();
  const uint64_t callstack = InternCallstack(sample);
  writer_->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, sequence_id_);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  first_ ? perfetto::trace_packet::kSeqIncrementalStateCleared
                         : perfetto::trace_packet::kSeqNeedsIncrementalState);
    if (first_) packet.Bool(perfetto::trace_packet::kFirstPacketOnSequence, true);
    packet.Varint(perfetto::trace_packet::kTimestamp, boottime_ns);
    packet.Varint(perfetto::trace_packet::kTimestampClockId, perfetto::kBuiltinClockBoottime);
    if (!new_entries_.empty()) packet.Bytes(perfetto::trace_packet::kInternedData, new_entries_);
    packet.Message(perfetto::trace_packet::kPerfSample, [&](ProtoWriter& perf) {
      perf.Int(perfetto::perf_sample::kPid, pid_);
      perf.Int(perfetto::perf_sample::kTid, sample.tid);
      if (callstack != 0) perf.Varint(perfetto::perf_sample::kCallstackIid, callstack);
      perf.Varint(perfetto::perf_sample::kCpuMode, perfetto::profiling::kModeUser);
      // Without a stack nothing was unwound: it waited for a CPU, say.
      if (!sample.truncated || sample.depth == 0) return;
      perf.Varint(perfetto::perf_sample::kUnwindError,
                  sample.depth >= StackSample::kMaxDepth
                      ? perfetto::profiling::kUnwindErrorMaxFramesExceeded
                      : perfetto::profiling::kUnwindErrorUnwindInfo);
    });
  });
  first_ = false;
}

// 0 for a sample without a stack: importers count an empty callstack as an error.
uint64_t PerfSamples::InternCallstack(const StackSample& sample) {
  uint64_t pcs[StackSample::kMaxDepth];
  const uint32_t depth = ShownStack(sample, frames_, pcs);
  if (depth == 0) return 0;
  std::vector<uint64_t> frames(depth);
  for (uint32_t i = 0; i < depth; ++i) {  // outermost first in a trace
    frames[i] = InternFrame(pcs[depth - 1 - i]);
  }
  const std::string key(reinterpret_cast<const char*>(frames.data()), depth * sizeof(frames[0]));
  auto [it, inserted] = callstack_iids_.try_emplace(key, callstack_iids_.size() + 1);
  const uint64_t iid = it->second;
  if (inserted) {
    ProtoWriter(&new_entries_).Message(field::kCallstacks, [&](ProtoWriter& callstack) {
      callstack.Varint(perfetto::callstack::kIid, iid);
      for (uint64_t frame : frames) callstack.Varint(perfetto::callstack::kFrameIds, frame);
    });
  }
  return iid;
}

uint64_t PerfSamples::InternFrame(uint64_t address) {
  auto [it, inserted] = frame_iids_.try_emplace(address, frame_iids_.size() + 1);
  const uint64_t iid = it->second;
  if (!inserted) return iid;
  ResolvedFrame frame{.rel_pc = address};
  if (frames_ != nullptr) {
    auto resolved = frames_->find(address);
    if (resolved != frames_->end()) frame = resolved->second;
  }
  const uint64_t mapping = InternMapping(frame);
  const uint64_t function =
      frame.function.empty()
          ? 0
          : InternString(field::kFunctionNames, &function_iids_, SealedText(frame.function));
  ProtoWriter(&new_entries_).Message(field::kFrames, [&](ProtoWriter& message) {
    message.Varint(perfetto::frame::kIid, iid);
    if (function != 0) message.Varint(perfetto::frame::kFunctionNameId, function);
    message.Varint(perfetto::frame::kMappingId, mapping);
    message.Varint(perfetto::frame::kRelPc, frame.rel_pc);
  });
  return iid;
}

// Every frame has one: importers count a frame without a mapping as an error.
uint64_t PerfSamples::InternMapping(const ResolvedFrame& frame) {
  const std::string module = frame.module.empty() ? "[unknown]" : frame.module;
  auto [it, inserted] =
      mapping_iids_.try_emplace(module + '\n' + frame.build_id, mapping_iids_.size() + 1);
  const uint64_t iid = it->second;
  if (!inserted) return iid;
  const uint64_t path = InternString(field::kMappingPaths, &path_iids_, module);
  const uint64_t build_id = frame.build_id.empty() ? 0
                                                   : InternString(field::kBuildIds, &build_id_iids_,
                                                                  FromHex(frame.build_id));
  ProtoWriter(&new_entries_).Message(field::kMappings, [&](ProtoWriter& mapping) {
    mapping.Varint(perfetto::mapping::kIid, iid);
    if (build_id != 0) mapping.Varint(perfetto::mapping::kBuildId, build_id);
    mapping.Varint(perfetto::mapping::kPathStringIds, path);
  });
  return iid;
}

uint64_t PerfSamples::InternString(uint32_t string_field, IidsByText* iids,
                                   const std::string& text) {
  auto [it, inserted] = iids->try_emplace(text, iids->size() + 1);
  const uint64_t iid = it->second;
  if (inserted) {
    ProtoWriter(&new_entries_).Message(string_field, [&](ProtoWriter& entry) {
      entry.Varint(perfetto::interned_string::kIid, iid);
      entry.Bytes(perfetto::interned_string::kStr, text);
    });
  }
  return iid;
}

}  // namespace jankbox
