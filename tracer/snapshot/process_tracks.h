// The head of a trace: clocks, the incident's tracks, the process and its threads, on the sequence
// of the process; and how their events were recorded. Cold.
#ifndef JANKBOX_TRACER_SNAPSHOT_PROCESS_TRACKS_H_
#define JANKBOX_TRACER_SNAPSHOT_PROCESS_TRACKS_H_

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracer/perfetto/packet_writer.h"
#include "tracer/snapshot/snapshot_input.h"
#include "tracer/snapshot/thread_lives.h"

namespace jankbox {

// Uuids of the threads' tracks, as the descriptors gave them.
class ProcessTracks {
 public:
  ProcessTracks(PacketWriter* writer, const SnapshotInput& input, const ThreadLives* lives)
      : writer_(writer),
        input_(input),
        lives_(lives),
        ranked_(!input.incident.kind.empty() || input.kernel != nullptr) {}

  // Clocks, incident, process, all threads of the window.
  void WriteDescriptors();

  // Which recording mode was active when, if it was not the exact one all the time.
  void WriteRecording();

  // Of the thread at `index` of the window.
  uint64_t ThreadUuid(size_t index) const { return thread_uuids_[index]; }

  // Of the window's last thread that had this tid; describes it if there was none.
  uint64_t UuidOfTid(int32_t tid);
  // Of the window's thread that had it in this life (null: not known), else the last.
  uint64_t UuidOfLife(int32_t tid, const ThreadLife* life);

  uint64_t process_uuid() const;

 private:
  void WriteThread(uint64_t uuid, int32_t tid, std::string_view name);

  PacketWriter* writer_;
  const SnapshotInput& input_;
  const ThreadLives* lives_;
  // There is another process in the trace, or a thread that is of more interest than others.
  const bool ranked_;
  std::vector<uint64_t> thread_uuids_;
  std::unordered_map<int32_t, uint64_t> uuids_by_tid_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_PROCESS_TRACKS_H_
