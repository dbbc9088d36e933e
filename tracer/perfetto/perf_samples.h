// Stack samples as PerfSample packets with interned callstacks, which importers of every version
// read. A sequence of its own, timestamps in BOOTTIME. Modules are named only by their file name:
// paths never leave the device. One thread; the interning tables grow with distinct stacks.
#ifndef JANKBOX_TRACER_PERFETTO_PERF_SAMPLES_H_
#define JANKBOX_TRACER_PERFETTO_PERF_SAMPLES_H_

#include <cstdint>
#include <string>
#include <unordered_map>

#include "tracer/perfetto/packet_writer.h"
#include "tracer/unwind/resolved_frame.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

class PerfSamples {
 public:
  // `frames` may be null: only addresses then.
  PerfSamples(PacketWriter* writer, uint32_t sequence_id, int32_t pid, const FrameTable* frames)
      : writer_(writer), sequence_id_(sequence_id), pid_(pid), frames_(frames) {}

  // Samples in order of time.
  void Write(uint64_t boottime_ns, const StackSample& sample);

 private:
  using IidsByText = std::unordered_map<std::string, uint64_t>;

  uint64_t InternCallstack(const StackSample& sample);
  uint64_t InternFrame(uint64_t address);
  uint64_t InternMapping(const ResolvedFrame& frame);
  uint64_t InternString(uint32_t field, IidsByText* iids, const std::string& text);

  PacketWriter* writer_;
  uint32_t sequence_id_;
  int32_t pid_;
  const FrameTable* frames_;
  bool first_ = true;
  std::string new_entries_;  // fields of the next packet's InternedData
  std::unordered_map<uint64_t, uint64_t> frame_iids_;
  IidsByText callstack_iids_;  // by the bytes of their frames' iids
  IidsByText mapping_iids_;    // by module and build id
  IidsByText function_iids_;
  IidsByText path_iids_;
  IidsByText build_id_iids_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_PERF_SAMPLES_H_
