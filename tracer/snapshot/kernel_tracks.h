// The kernel's side of a window in the trace: ftrace bundles, or times off the CPU if only a
// thread's own switches are known; page faults as an estimate; and a slice that says what it all
// rests on. Cold; one thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_KERNEL_TRACKS_H_
#define JANKBOX_TRACER_SNAPSHOT_KERNEL_TRACKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "tracer/ftrace/kernel_window.h"
#include "tracer/perfetto/packet_writer.h"
#include "tracer/perfetto/track_uuid.h"
#include "tracer/snapshot/process_tracks.h"
#include "tracer/snapshot/sequence_ids.h"

namespace jankbox {

// Faults of one thread that followed one another closely.
struct FaultBurst {
  int32_t tid = 0;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  uint64_t faults = 0;
  uint64_t estimated_ns = 0;  // faults times what one costs, at most what the burst lasted
};

// By thread, then by time. `events` in order of time.
std::vector<FaultBurst> FindFaultBursts(const std::vector<KernelEvent>& events, uint64_t cost_ns);

class KernelTracks {
 public:
  KernelTracks(PacketWriter* writer, ProcessTracks* tracks, int32_t pid)
      : writer_(writer), tracks_(tracks), pid_(pid) {}

  // Viewers list the tracks of a thread by their names, or in the order of the trace: what the
  // thread did (WriteStates), then the samples of it, then faults and the kernel's events
  // (WriteEvents).
  void WriteStates(const KernelWindow& kernel);
  // Returns how many events of ftrace were written.
  uint64_t WriteEvents(const KernelWindow& kernel);

 private:
  void DescribeThreads(const KernelWindow& kernel);
  void WriteSource(const KernelWindow& kernel);
  void WriteFaults(const KernelWindow& kernel);
  void WriteOffCpu(const KernelWindow& kernel);
  uint64_t DescribeBelow(int32_t tid, TrackKind kind, std::string_view name);

  PacketWriter* writer_;
  ProcessTracks* tracks_;
  const int32_t pid_;
  uint32_t next_sequence_ = kFirstKernelThreadSequence;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_KERNEL_TRACKS_H_
