// The bytes of a ring file; docs/formats/ring.md is the authority and says who writes what.
// Everything in a mapping is read and written through atomics, so that a reader in this process, or
// in another after a crash, sees each word whole.
#ifndef JANKBOX_TRACER_RING_RING_FORMAT_H_
#define JANKBOX_TRACER_RING_RING_FORMAT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/clock/tick_clock.h"

namespace jankbox {

inline constexpr char kRingMagic[8] = {'J', 'B', 'X', 'R', 'I', 'N', 'G', '1'};
inline constexpr uint32_t kRingVersion = 4;
// Reads back differently on another byte order or word size.
inline constexpr uint32_t kRingAbi = 0x4a420000u | sizeof(void*) << 8 | 1;
inline constexpr size_t kRingSectionAlignment = 16384;  // whole pages on 4 and 16 KiB machines
inline constexpr size_t kNamesBytes = 256 << 10;
inline constexpr size_t kModulesBytes = 64 << 10;
inline constexpr size_t kChunkBytes = 16 << 10;
inline constexpr size_t kMaxOpenCalls = 128;
inline constexpr size_t kMaxWatchedThreads = 8;
inline constexpr size_t kDispatchNameWords = 8;
inline constexpr size_t kLoopNameWords = 4;
inline constexpr size_t kIncidentIdWords = 5;
inline constexpr int32_t kNoOwner = 0;
// The watcher of a process in which nothing happens sleeps this long at most.
inline constexpr uint64_t kMaxHeartbeatGapNs = 64 * kNsPerSecond;

// A thread writes its calls into one chunk and its markers, waits and names into another, so that
// none of these evicts calls.
enum class RingLane : uint32_t { kCalls = 0, kMarkers = 1 };

// A call open when its chunk began.
struct RingOpenCall {
  uint64_t ticks;
  uint32_t id;
  uint32_t kind;  // EventKind
};
static_assert(sizeof(RingOpenCall) == 16);

// Written while a thread takes a chunk, which a live reader may be copying: the sequence shows it
// to throw the copy away, this keeps what it reads whole.
template <typename T>
class RingField {
 public:
  operator T() const {  // NOLINT: reads like a field
    return value_.load(std::memory_order_relaxed);
  }
  T operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return value;
  }

 private:
  std::atomic<T> value_;
};

// Followed by `open_calls` RingOpenCalls and then by events up to the first zero word or the
// chunk's end.
struct RingChunk {
  std::atomic<uint64_t>
      sequence;  // 0 while empty or being taken; else unique and growing over the ring
  std::atomic<int32_t> owner;  // tid while open, kNoOwner when closed
  RingField<int32_t> tid;
  RingField<uint64_t> thread_serial;       // unique to a thread of this process: tids are reused
  RingField<uint32_t> thread_chunk_index;  // 0 for a thread's first chunk
  RingField<uint32_t> open_calls;
  RingField<uint32_t> open_calls_truncated;  // open calls beyond kMaxOpenCalls
  std::atomic<uint32_t> committed_words;     // of events; written when closed, 0 before
  RingField<uint64_t> base_ticks;
  std::atomic<uint64_t> close_ticks;   // 0 while open
  RingField<uint64_t> thread_name[2];  // 16 bytes of text, as of the thread's first event
  RingField<uint32_t> watched;         // 1: of the share reserved for UI threads
  RingField<uint32_t> lane;            // RingLane
  RingField<uint64_t>
      words_before;  // of events, in the thread's earlier chunks: what is missing is countable
  std::atomic<uint64_t> checksum;  // RingChecksum of the closed chunk, once it has one
};
static_assert(sizeof(RingChunk) == 96);

// CRC32C of a closed chunk with the low half of its sequence above, so that one of an earlier
// content is never taken for this one's; 0: none yet.
inline constexpr uint64_t RingChecksum(uint64_t sequence, uint32_t crc) {
  return sequence << 32 | crc;
}

// The state of a watched thread, written only by that thread.
struct alignas(64) RingWatchedThread {
  std::atomic<int32_t> tid;  // 0: slot not taken
  std::atomic<uint32_t> dispatch_depth;
  std::atomic<uint64_t> dispatch_begin_ticks;      // 0: waiting for the next message
  std::atomic<uint64_t> dispatch_count;            // of dispatches begun
  std::atomic<uint64_t> what[kDispatchNameWords];  // name of the running dispatch, zero-padded
  // The last dispatch at or above the slow threshold. `slow_version` is odd while it is being
  // written.
  std::atomic<uint32_t> slow_version;
  // The slow_version up to which the watcher has made incidents; it writes this and
  // slow_seen_ticks.
  std::atomic<uint32_t> slow_seen_version;
  std::atomic<uint64_t> slow_begin_ticks;
  std::atomic<uint64_t> slow_end_ticks;
  std::atomic<uint64_t> slow_what[kDispatchNameWords];
  std::atomic<uint64_t> frame_count;                // of frames reported so far
  std::atomic<uint64_t> loop_name[kLoopNameWords];  // zero-padded; empty: as the header says
  std::atomic<uint32_t> loop_named_by_app;          // 1: it keeps that name
  std::atomic<uint32_t> loop_name_version;          // odd while `loop_name` is being written
  std::atomic<uint64_t> slow_total_ticks;           // of all dispatches at or above the threshold
  std::atomic<uint64_t> slow_seen_ticks;            // of those up to slow_seen_version
};

enum class RingEnd : uint32_t {
  kNone = 0,      // it runs, or died
  kClosed = 1,    // a clean stop
  kUnsealed = 2,  // stopped before it had written the reports of all finished incidents
  kExited = 3,    // the process ended in order, or runs another program: no stop, and no crash
};

// Whether the app was in front when the watcher looked last.
enum class RingForeground : uint32_t { kUnknown = 0, kFront = 1, kBackground = 2 };

// A call that ends the process with a signal, and had not returned.
enum class RingEndCall : uint32_t { kNone = 0, kAbort = 1, kRaise = 2 };

enum class RingIncidentState : uint32_t { kNone = 0, kGrowing = 1, kFinished = 2 };

// The incident of a watched thread that is not sealed in its last form yet; written by the watcher
// thread.
struct RingIncident {
  std::atomic<uint32_t> state;            // RingIncidentState
  std::atomic<uint32_t> kind;             // ReportKind's numbers
  std::atomic<uint32_t> sealed_revision;  // the last one handed to the sealer; 0: none
  uint32_t reserved;
  std::atomic<uint64_t> begin_ticks;
  std::atomic<uint64_t> end_ticks;             // kFinished: its end; else 0
  std::atomic<uint64_t> id[kIncidentIdWords];  // UUID, zero-terminated; written before `state`
};

enum class RingUncountedState : uint32_t {
  kFree = 0,
  kWaits = 1,     // one incident, whose report waits to be written or refused
  kGrows = 2,     // incidents without a look at them; more may come
  kTogether = 3,  // the same, being counted
};

// Incidents that ended and are not counted yet (incident_note.h). Written under the ring's
// lock, `state` last.
struct RingUncounted {
  std::atomic<uint32_t> state;  // RingUncountedState
  std::atomic<uint32_t> kind;   // ReportKind's numbers
  std::atomic<int32_t> tid;
  std::atomic<uint32_t> incidents;  // 1 of kWaits
  std::atomic<uint64_t> begin_ns;   // of kWaits, CLOCK_MONOTONIC
  std::atomic<uint64_t> end_ns;
  std::atomic<uint64_t> total_ns;  // of their durations
  std::atomic<uint64_t> max_ns;
  std::atomic<uint64_t> id[kIncidentIdWords];      // UUID
  std::atomic<uint64_t> what[kDispatchNameWords];  // of kWaits: its message
};
inline constexpr size_t kMaxUncounted = 70;  // all that wait for the sealing thread, and some
inline constexpr size_t kUncountedTogether = 2;

// How events were recorded from a moment on. Written by the watcher thread.
enum class RecordMode : uint32_t {
  kExact = 0,   // every thread, each event with its own reading of the clock
  kCoarse = 1,  // begins, ends and instants carry a shared tick that is renewed every millisecond
  kWatchedOnly = 2,  // exact, watched threads only
  kOff = 3,          // nothing; dispatches are still watched
};
struct RingMode {
  std::atomic<uint64_t> from_ticks;
  std::atomic<uint32_t> mode;    // RecordMode
  std::atomic<uint32_t> reason;  // RecordModeReason
};
enum class RecordModeReason : uint32_t {
  kStart = 0,
  kOverBudget = 1,
  kWithinBudget = 2,
  kOption = 3
};
inline constexpr size_t kMaxRingModes = 32;

struct RingHeader {
  char magic[8];
  uint32_t version;
  uint32_t abi;
  uint64_t file_bytes;
  uint64_t names_offset;
  uint64_t modules_offset;
  uint64_t chunks_offset;
  uint32_t chunk_bytes;
  uint32_t chunk_count;
  uint32_t tick_source;  // TickSource
  int32_t pid;
  uint64_t
      process_start_ticks;  // field 22 of /proc/PID/stat: with pid and boot id names one process
  char boot_id[40];
  char process_name[64];
  char app_name[64];
  char app_version[64];
  std::atomic<uint64_t> loop_name[kLoopNameWords];
  ClockReading clock_at_start;
  std::atomic<uint64_t> slow_threshold_ns;
  uint64_t window_ns;
  std::atomic<uint32_t> ready;          // 1 once all above is valid
  std::atomic<uint32_t> closed;         // RingEnd
  std::atomic<uint32_t> chunks_ready;   // chunks whose space is allocated
  std::atomic<uint32_t> modules_bytes;  // of the modules' text; 0 while it is being replaced
  std::atomic<uint64_t> names_bytes;    // of whole name records
  std::atomic<uint64_t> names_dropped;
  std::atomic<uint64_t> next_chunk[2];  // shared, watched: the cursors that threads claim with
  std::atomic<uint64_t> next_sequence;
  std::atomic<uint64_t> next_thread_serial;
  std::atomic<uint64_t> dropped_events;
  std::atomic<uint64_t> heartbeat_ticks;   // the watcher was alive then
  std::atomic<uint64_t> calibrated_ticks;  // a later reading of both clocks; 0: none yet
  std::atomic<uint64_t> calibrated_monotonic_ns;
  std::atomic<uint64_t> coarse_error_ticks;  // longest time that the shared tick went unrenewed
  std::atomic<uint64_t> mode_changes;        // of which modes[] has the last; the next one's index
  RingMode modes[kMaxRingModes];
  std::atomic<uint64_t> next_marker_chunk[2];      // as next_chunk, of the marker lanes' two shares
  alignas(64) std::atomic<uint64_t> coarse_ticks;  // the shared tick: read by all, the only data in
                                                   // its line
  uint64_t coarse_padding[7];
  RingIncident incidents[kMaxWatchedThreads];  // of the watched thread with the same index
  RingWatchedThread watched[kMaxWatchedThreads];
  char reports_folder[512];  // where its reports belong; empty: unknown, or too long
  // For the report of an unclean end. 0 in rings of 0.1.
  std::atomic<uint32_t> foreground;  // RingForeground
  std::atomic<uint32_t> end_call;    // RingEndCall; written after the next two
  std::atomic<uint32_t> end_signal;
  uint32_t keeps_seen;  // 1: the watcher keeps slow_seen_version of the watched threads
  std::atomic<uint64_t> end_call_ticks;
  std::atomic<uint64_t> oom_kills;  // 1 + what `oom_file` said a second ago at most; 0: not known
  char oom_file[288];               // counts the kernel's low-memory kills in the process' cgroup
  RingUncounted uncounted[kMaxUncounted + kUncountedTogether];
  // The command that started the process and learns how it ends: while it lives, no other one
  // recovers the ring. 0: there is none.
  int32_t parent_pid;
  std::atomic<uint32_t> hooks_changing;  // 1: hooks are being installed or removed
  uint64_t parent_start_ticks;
  std::atomic<uint64_t> hooks_changed_ticks;  // the last time; 0: there were none
  uint64_t parent_padding[5];
  // How much the program was used since the recording began. 0 in older rings.
  std::atomic<uint64_t> usage_id[kIncidentIdWords];  // UUID; empty: usage is not counted, or all is
  std::atomic<uint64_t> foreground_ns;
  std::atomic<uint64_t> sessions;
  std::atomic<uint64_t> usage_day;  // UTC, since 1970, of what is not counted yet
};
static_assert(sizeof(RingHeader) <= kRingSectionAlignment);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// A record of the names section: this header, then `bytes` bytes, padded with zeros to a multiple
// of eight.
struct RingName {
  static constexpr uint32_t kText = 0;
  static constexpr uint32_t kAddress = 1;  // eight bytes: the function's address in this process
  uint32_t id;
  uint16_t kind;
  uint16_t bytes;
};
static_assert(sizeof(RingName) == 8);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RING_FORMAT_H_
