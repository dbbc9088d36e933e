#include "tracer/ring/recorder.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/thread_value.h"
#include "base/wipe_on_fork.h"
#include "tracer/event/watcher_wake.h"
#include "tracer/ring/chunk_writer.h"
#include "tracer/ring/open_calls.h"
#include "tracer/ring/thread_cursor.h"

#define JANKBOX_EXPORTED __attribute__((visibility("default")))

namespace jankbox {
namespace {

// All zero: no room, so every event of a thread that has no cursor yet takes the slow way.
constinit ThreadCursor g_no_cursor{};

// The values of kGate for the inline functions.
constexpr int32_t kGateOff = 0;
constexpr int32_t kGateInline = 1;
constexpr int32_t kGateCall = -1;  // another clock, or not every thread: only the library knows

// The only data of a page that is all zero in a forked child: epoch 0 is "not recording".
struct Recording {
  std::atomic<uint32_t> epoch{0};  // grows with each Open(): identifies a cursor of an older ring
  std::atomic<uint32_t> mode{0};   // RecordMode
  std::atomic<bool> not_forked{true};  // false in a forked child until it opens a ring of its own
  // Changed by Open() while a thread of the last recording may still be on its way here: who sees
  // the new ring also sees that the epoch is no longer its own.
  std::atomic<TickSource> source_{};
  std::atomic<RingFile*> ring_{nullptr};

  TickSource source() const { return source_.load(std::memory_order_relaxed); }
  RingFile* ring() const { return ring_.load(std::memory_order_acquire); }
};

Recording g_never_opened;
std::atomic<Recording*> g_recording{&g_never_opened};
std::atomic<uint32_t> g_last_epoch{0};
pthread_key_t g_exit_key;

// This thread is between two instructions of the slow way, or of its end.
JANKBOX_THREAD_VALUE(bool, t_busy, false);
JANKBOX_THREAD_VALUE(bool, t_watched, false);
JANKBOX_THREAD_VALUE(ThreadCursor*, t_markers, &g_no_cursor);  // of the marker lane

}  // namespace
}  // namespace jankbox

// The two objects that jankbox/inline.h reads. Their names carry the version of their layout.
extern "C" {
alignas(64) JANKBOX_EXPORTED constinit std::atomic<int32_t> jankbox_gate_v1{jankbox::kGateOff};
JANKBOX_EXPORTED JANKBOX_THREAD_VALUE(jankbox::InlineCursor*, jankbox_cursor_v1,
                                      &jankbox::g_no_cursor);
}

namespace jankbox {
namespace {

void CountDrop(Recording* recording) {
  recording->ring()->mutable_header()->dropped_events.fetch_add(1, std::memory_order_relaxed);
}

// Writes an event of one word if the thread has room for it at `now`.
inline bool WriteWord(EventKind kind, uint32_t id, uint64_t now) {
  InlineCursor* cursor = jankbox_cursor_v1;
  if (__builtin_expect(now >= cursor->rebase_at.load(std::memory_order_relaxed), 0)) return false;
  const uint64_t at = TakeWords(cursor, 1);
  if (__builtin_expect(at >= cursor->end.load(std::memory_order_relaxed), 0)) return false;
  StoreWord(at, MakeEvent(kind, id, now));
  return true;
}

ThreadCursor* MyCursor(RingLane lane) {
  InlineCursor* calls = jankbox_cursor_v1;
  return lane == RingLane::kCalls ? static_cast<ThreadCursor*>(calls) : t_markers;
}

void Rewind(ThreadCursor* cursor, RingLane lane) {
  cursor->lane = lane;
  cursor->chunk = nullptr;
  cursor->closed = nullptr;
  cursor->chunk_index = 0;
  cursor->words_before = 0;
}

// A thread's first event of this recording: the only system calls on the path. Null if there is
// no memory for its cursor, or the thread is another process's.
ThreadCursor* AttachThread(RingFile* ring, uint32_t epoch) {
  // A child of vfork() runs in our memory, but its tid is gone as soon as it runs a program.
  if (getpid() != ring->header()->pid) return nullptr;
  ThreadCursor* cursor = MyCursor(RingLane::kCalls);
  if (cursor->owner.load(std::memory_order_relaxed) != PlaceInThread(jankbox_cursor_v1)) {
    cursor = ThreadCursorPool::Take(PlaceInThread(jankbox_cursor_v1));
    if (cursor == nullptr) return nullptr;
  }
  Rewind(cursor, RingLane::kCalls);
  cursor->tid.store(static_cast<int32_t>(syscall(SYS_gettid)), std::memory_order_relaxed);
  prctl(PR_GET_NAME, cursor->name, 0, 0, 0);
  cursor->serial =
      ring->mutable_header()->next_thread_serial.fetch_add(1, std::memory_order_relaxed);
  cursor->epoch.store(epoch, std::memory_order_relaxed);
  jankbox_cursor_v1 = cursor;
  pthread_setspecific(g_exit_key, cursor);
  return cursor;
}

// The same for its marker lane, which is the same thread's to a reader.
ThreadCursor* AttachMarkers(RingFile* ring, uint32_t epoch) {
  const ThreadCursor* calls = MyCursor(RingLane::kCalls);
  if (calls->epoch.load(std::memory_order_relaxed) != epoch) calls = AttachThread(ring, epoch);
  if (calls == nullptr) return nullptr;
  ThreadCursor* cursor = t_markers;
  if (cursor->owner.load(std::memory_order_relaxed) != PlaceInThread(t_markers)) {
    cursor = ThreadCursorPool::Take(PlaceInThread(t_markers));
    if (cursor == nullptr) return nullptr;
  }
  Rewind(cursor, RingLane::kMarkers);
  cursor->tid.store(calls->tid.load(std::memory_order_relaxed), std::memory_order_relaxed);
  memcpy(cursor->name, calls->name, sizeof(cursor->name));
  cursor->serial = calls->serial;
  cursor->epoch.store(epoch, std::memory_order_relaxed);
  t_markers = cursor;
  return cursor;
}

// Whether the thread has a chunk of this recording with room for `words` words at `now`.
bool HasRoom(const ThreadCursor& cursor, uint32_t epoch, uint64_t now, uint64_t words) {
  return cursor.epoch.load(std::memory_order_relaxed) == epoch && cursor.chunk != nullptr &&
         now - cursor.base_ticks <= kMaxTickDelta &&
         cursor.next.load(std::memory_order_relaxed) + words * sizeof(uint64_t) <=
             cursor.end.load(std::memory_order_relaxed);
}

// Gives the thread room for `words` words at `now`; false if there is none. A signal handler
// that lands in here drops its event, counted: two writers of one chunk would mix their words.
__attribute__((noinline)) bool MakeRoom(Recording* recording, uint32_t epoch, uint64_t now,
                                        uint64_t words, RingLane lane) {
  RingFile* ring = recording->ring();
  if (recording->epoch.load(std::memory_order_relaxed) != epoch) return false;
  const int saved_errno = errno;
  t_busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  ThreadCursor* cursor = MyCursor(lane);
  if (cursor->epoch.load(std::memory_order_relaxed) != epoch) {
    cursor = lane == RingLane::kCalls ? AttachThread(ring, epoch) : AttachMarkers(ring, epoch);
  }
  bool done = cursor != nullptr && HasRoom(*cursor, epoch, now, words);  // a handler made it
  if (cursor != nullptr && !done) {
    cursor->rebase_at.store(0,
                            std::memory_order_relaxed);  // keeps a handler's events off the chunk
    std::atomic_signal_fence(std::memory_order_seq_cst);
    done = Rebase(*cursor, now, words);
    RingChunk* chunk =
        done ? nullptr
             : ClaimChunk(ring, {lane, t_watched}, cursor->tid.load(std::memory_order_relaxed));
    if (chunk != nullptr) {
      StartChunk(*cursor, ring, chunk, t_watched, now);
      WatcherWake::OnClaim(now);
      done = true;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (done) cursor->rebase_at.store(now + kMaxTickDelta, std::memory_order_relaxed);
    // Pairs with the fence in Close(): either it sees this cursor, or this sees its new epoch.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (recording->epoch.load(std::memory_order_relaxed) != epoch) {
      cursor->rebase_at.store(0, std::memory_order_relaxed);
    }
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_busy = false;
  errno = saved_errno;
  return done;
}

// The address for `words` words at `now`; 0 if the event is dropped, which is counted.
uint64_t Reserve(Recording* recording, uint32_t epoch, uint64_t now, uint64_t words,
                 RingLane lane = RingLane::kCalls) {
  for (int attempt = 0; attempt < 3 && !t_busy; ++attempt) {
    ThreadCursor* cursor = MyCursor(lane);
    const RingChunk* chunk = cursor->chunk;
    if (HasRoom(*cursor, epoch, now, words)) {
      const uint64_t at = TakeWords(cursor, words);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // reads the chunk again
      // A signal handler may have taken the room in between, or gone on in another chunk.
      if (Holds(chunk, at, words) || Holds(cursor->chunk, at, words)) return at;
    }
    if (!MakeRoom(recording, epoch, now, words, lane)) break;
  }
  if (recording->epoch.load(std::memory_order_relaxed) == epoch) CountDrop(recording);
  return 0;
}

int32_t GateFor(const Recording& recording) {
  const auto mode = static_cast<RecordMode>(recording.mode.load(std::memory_order_relaxed));
  return mode == RecordMode::kExact && recording.source() != TickSource::kClockGettime ? kGateInline
                                                                                       : kGateCall;
}

// The recording that this thread writes into, and its epoch; null if it writes nothing.
Recording* CurrentRecording(uint32_t* epoch) {
  Recording* recording = g_recording.load(std::memory_order_acquire);
  *epoch = recording->epoch.load(std::memory_order_acquire);
  if (*epoch == 0) {
    // A forked child's copy of the gate still is open. In other processes Close() has closed it,
    // and Open() may have opened it again by now.
    if (!recording->not_forked.load(std::memory_order_relaxed)) {
      jankbox_gate_v1.store(kGateOff, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the fence in Open()
      if (recording->epoch.load(std::memory_order_relaxed) != 0) {  // a ring of the child's own
        jankbox_gate_v1.store(GateFor(*recording), std::memory_order_relaxed);
      }
    }
    return nullptr;
  }
  const auto mode = static_cast<RecordMode>(recording->mode.load(std::memory_order_relaxed));
  if (mode == RecordMode::kOff || (mode == RecordMode::kWatchedOnly && !t_watched)) return nullptr;
  return recording;
}

// An event without payload whose chunk is full, or a thread's first.
__attribute__((noinline)) void RecordSlowly(EventKind kind, uint32_t id) {
  uint32_t epoch = 0;
  Recording* recording = CurrentRecording(&epoch);
  if (recording == nullptr) return;
  const uint64_t now = ReadTicks(recording->source());
  const uint64_t at = Reserve(recording, epoch, now, 1);
  if (at != 0) StoreWord(at, MakeEvent(kind, id, now));
}

// An event without payload while the gate says that inline code should not write.
void RecordByCall(EventKind kind, uint32_t id) {
  Recording* recording = g_recording.load(std::memory_order_acquire);
  const auto mode = static_cast<RecordMode>(recording->mode.load(std::memory_order_relaxed));
  uint64_t now = 0;
  if (__builtin_expect(mode == RecordMode::kExact, 1)) {
    now = ReadTicks(recording->source());
  } else if (mode == RecordMode::kCoarse && kind != EventKind::kDispatchEnd) {
    now = recording->ring()->header()->coarse_ticks.load(std::memory_order_relaxed);
  } else if (mode == RecordMode::kOff || (mode == RecordMode::kWatchedOnly && !t_watched)) {
    return;
  } else {
    now = ReadTicks(recording->source());
  }
  if (!WriteWord(kind, id, now)) RecordSlowly(kind, id);
}

void EndCursor(Recording* recording, ThreadCursor* cursor) {
  const uint32_t epoch = recording->epoch.load(std::memory_order_relaxed);
  if (epoch != 0 && cursor->epoch.load(std::memory_order_relaxed) == epoch &&
      cursor->chunk != nullptr) {
    CloseChunk(*cursor, EndOfWords(*cursor), ReadTicks(recording->source()));
  }
  ThreadCursorPool::Release(cursor);
}

void OnThreadExit(void* value) {
  ThreadCursor* cursor = static_cast<ThreadCursor*>(value);
  if (cursor->owner.load(std::memory_order_relaxed) != PlaceInThread(jankbox_cursor_v1))
    return;  // a child's
  t_busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Recording* recording = g_recording.load(std::memory_order_acquire);
  jankbox_cursor_v1 = &g_no_cursor;
  EndCursor(recording, cursor);
  if (t_markers != &g_no_cursor) EndCursor(recording, t_markers);
  t_markers = &g_no_cursor;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_busy = false;
}

// Does this if the kernel does not wipe pages on fork.
void CloseGateInChild() {
  jankbox_gate_v1.store(kGateOff, std::memory_order_relaxed);
  g_recording.load(std::memory_order_relaxed)->epoch.store(0, std::memory_order_relaxed);
  jankbox_cursor_v1 = &g_no_cursor;
  t_markers = &g_no_cursor;
}

Recording* NewRecording() {
  bool wiped = false;
  void* memory = MapWipedOnFork(sizeof(Recording), &wiped);
  if (memory == nullptr) return nullptr;
  if (!wiped) pthread_atfork(nullptr, nullptr, CloseGateInChild);
  return new (memory) Recording();
}

}  // namespace

Status Recorder::Open(RingFile* ring) {
  if (!ThreadValuesWork()) {
    return Status(StatusCode::kUnavailable, "the process has used up its pthread keys");
  }
  // One thread at a time opens; no variable needs a guard, which a child forked meanwhile would
  // find locked.
  static bool has_key = false;
  if (!has_key) {
    const int error = pthread_key_create(&g_exit_key, OnThreadExit);
    if (error != 0) return Status::FromErrno(error, "pthread_key_create");
    has_key = true;
  }
  static Recording* recording = nullptr;
  if (recording == nullptr) recording = NewRecording();
  if (recording == nullptr)
    return Status(StatusCode::kNoSpace, "no memory for the recorder's gate");
  static pid_t opened_by = 0;
  if (opened_by != 0 && opened_by != ring->header()->pid) {  // a forked child records for itself
    ThreadCursorPool::AbandonAll();
    jankbox_cursor_v1 = &g_no_cursor;
    t_markers = &g_no_cursor;
  }
  opened_by = ring->header()->pid;
  recording->not_forked.store(true, std::memory_order_relaxed);
  recording->source_.store(static_cast<TickSource>(ring->header()->tick_source),
                           std::memory_order_relaxed);
  recording->ring_.store(ring, std::memory_order_release);
  recording->mode.store(static_cast<uint32_t>(RecordMode::kExact), std::memory_order_relaxed);
  g_recording.store(recording, std::memory_order_release);
  recording->epoch.store(g_last_epoch.fetch_add(1) + 1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  jankbox_gate_v1.store(GateFor(*recording), std::memory_order_release);
  return Status::Ok();
}

void Recorder::Close() {
  jankbox_gate_v1.store(kGateOff, std::memory_order_relaxed);
  Recording* recording = g_recording.load(std::memory_order_relaxed);
  if (recording->epoch.load(std::memory_order_relaxed) == 0) return;
  recording->epoch.store(0, std::memory_order_relaxed);
  // Threads that have a cursor must not go on in this ring when another one is opened. Pairs with
  // the fence in MakeRoom().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  ThreadCursorPool::ForEach(
      [](ThreadCursor* cursor) { cursor->rebase_at.store(0, std::memory_order_relaxed); });
}

void Recorder::SetMode(RecordMode mode) {
  Recording* recording = g_recording.load(std::memory_order_relaxed);
  if (recording->epoch.load(std::memory_order_relaxed) == 0) return;
  StartCoarseTick();
  recording->mode.store(static_cast<uint32_t>(mode), std::memory_order_release);
  jankbox_gate_v1.store(GateFor(*recording), std::memory_order_release);
}

void Recorder::StartCoarseTick() {
  Recording* recording = g_recording.load(std::memory_order_relaxed);
  if (recording->epoch.load(std::memory_order_relaxed) == 0) return;
  recording->ring()->mutable_header()->coarse_ticks.store(ReadTicks(recording->source()),
                                                          std::memory_order_relaxed);
}

void Recorder::RenewCoarseTick() {
  Recording* recording = g_recording.load(std::memory_order_relaxed);
  if (recording->epoch.load(std::memory_order_relaxed) == 0) return;
  RingHeader* header = recording->ring()->mutable_header();
  const uint64_t now = ReadTicks(recording->source());
  const uint64_t unrenewed = now - header->coarse_ticks.exchange(now, std::memory_order_relaxed);
  if (unrenewed > header->coarse_error_ticks.load(std::memory_order_relaxed)) {
    header->coarse_error_ticks.store(unrenewed, std::memory_order_relaxed);
  }
}

const RingHeader* Recorder::ActiveRing() {
  if (jankbox_gate_v1.load(std::memory_order_relaxed) == kGateOff) return nullptr;
  Recording* recording = g_recording.load(std::memory_order_acquire);
  return recording->epoch.load(std::memory_order_acquire) != 0 ? recording->ring()->header()
                                                               : nullptr;
}

void Recorder::ReclaimDeadThreads(RingFile* ring) {
  const RingHeader* header = ring->header();
  const auto is_dead = [header](int32_t tid) {
    return tid != 0 && syscall(SYS_tgkill, header->pid, tid, 0) != 0 && errno == ESRCH;
  };
  const uint32_t ready = header->chunks_ready.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < ready; ++i) {
    RingChunk* chunk = ring->chunk(i);
    int32_t owner = chunk->owner.load(std::memory_order_acquire);
    // Checked again: it may have closed the chunk, ended, and left it to another meanwhile.
    if (!is_dead(owner) || chunk->owner.load(std::memory_order_acquire) != owner) continue;
    uint64_t* first = FirstWord(chunk);
    uint64_t* const end =
        reinterpret_cast<uint64_t*>(reinterpret_cast<uint8_t*>(chunk) + kChunkBytes);
    uint64_t* at = first;
    while (at < end && LoadRelaxed(at) != 0) ++at;
    chunk->committed_words.store(static_cast<uint32_t>(at - first), std::memory_order_relaxed);
    chunk->close_ticks.store(header->heartbeat_ticks.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
    chunk->owner.compare_exchange_strong(owner, kNoOwner, std::memory_order_release);
  }
  ThreadCursorPool::ForEach([&is_dead](ThreadCursor* cursor) {
    const int32_t tid = cursor->tid.load(std::memory_order_acquire);
    if (is_dead(tid) && cursor->tid.load(std::memory_order_acquire) == tid) {
      ThreadCursorPool::Release(cursor);
    }
  });
}

bool RecordingOn() { return jankbox_gate_v1.load(std::memory_order_relaxed) != kGateOff; }

uint64_t NowTicks() { return ReadTicks(g_recording.load(std::memory_order_relaxed)->source()); }

void RecordEvent(EventKind kind, uint32_t id) {
  const int32_t gate = jankbox_gate_v1.load(std::memory_order_relaxed);
  if (gate == kGateOff) return;
  if (__builtin_expect(gate != kGateInline, 0)) return RecordByCall(kind, id & kMaxMethodId);
  if (WriteWord(kind, id & kMaxMethodId, ReadRawCounter())) return;
  RecordSlowly(kind, id & kMaxMethodId);
}

// The head goes last: until then a reader finds zeros there and stops before them.
static void StorePayload(uint64_t head, std::span<const uint64_t> payload) {
  for (size_t i = 0; i < payload.size(); ++i)
    StoreWord(head + 8 * (1 + i), MakePayload(payload[i]));
}

void RecordEventAt(EventKind kind, uint32_t id, uint64_t ticks, std::span<const uint64_t> payload) {
  if (jankbox_gate_v1.load(std::memory_order_relaxed) == kGateOff) return;
  uint32_t epoch = 0;
  Recording* recording = CurrentRecording(&epoch);
  if (recording == nullptr) return;
  const uint64_t now = ReadTicks(recording->source());
  const uint64_t at = Reserve(recording, epoch, now, 1 + payload.size());
  if (at == 0) return;
  StorePayload(at, payload);
  const uint64_t moment = std::max(std::min(ticks, now), MyCursor(RingLane::kCalls)->base_ticks);
  std::atomic_thread_fence(std::memory_order_release);
  StoreWord(at, MakeEvent(kind, id, moment));
}

void RecordValue(EventKind kind, uint32_t id, uint64_t value) {
  const uint64_t payload[2] = {value & kPayloadMask, value >> 60};
  RecordEventAt(kind, id & kMaxMethodId, UINT64_MAX, payload);
}

void RecordAside(EventKind kind, uint32_t id, std::span<const uint64_t> payload) {
  if (jankbox_gate_v1.load(std::memory_order_relaxed) == kGateOff) return;
  uint32_t epoch = 0;
  Recording* recording = CurrentRecording(&epoch);
  if (recording == nullptr) return;
  const uint64_t now = ReadTicks(recording->source());
  const uint64_t at = Reserve(recording, epoch, now, 1 + payload.size(), RingLane::kMarkers);
  if (at == 0) return;
  StorePayload(at, payload);
  std::atomic_thread_fence(std::memory_order_release);
  StoreWord(at, MakeEvent(kind, id & kMaxMethodId, now));
}

bool RecordMarker(std::string_view text) {
  if (jankbox_gate_v1.load(std::memory_order_relaxed) == kGateOff) return false;
  uint32_t epoch = 0;
  Recording* recording = CurrentRecording(&epoch);
  if (recording == nullptr) return false;
  constexpr size_t kBytesPerWord = 7;
  const size_t bytes = std::min(text.size(), kMaxMarkerBytes);
  const size_t words = (bytes + kBytesPerWord - 1) / kBytesPerWord;
  const uint64_t now = ReadTicks(recording->source());
  const uint64_t at = Reserve(recording, epoch, now, 1 + words, RingLane::kMarkers);
  if (at == 0) return false;
  for (size_t i = 0; i < words; ++i) {
    uint64_t packed = 0;
    const size_t from = i * kBytesPerWord;
    memcpy(&packed, text.data() + from, std::min(kBytesPerWord, bytes - from));
    StoreWord(at + 8 * (1 + i), MakePayload(packed));
  }
  // Beside calls that carry the shared tick, a marker of its own moment would are out of order.
  const bool coarse =
      recording->mode.load(std::memory_order_relaxed) == static_cast<uint32_t>(RecordMode::kCoarse);
  const uint64_t moment =
      coarse ? recording->ring()->header()->coarse_ticks.load(std::memory_order_relaxed) : now;
  std::atomic_thread_fence(std::memory_order_release);
  StoreWord(at, MakeEvent(EventKind::kMarker, static_cast<uint32_t>(bytes), moment));
  return true;
}

void WatchThisThread() { t_watched = true; }

bool ThisThreadIsWatched() { return t_watched; }

}  // namespace jankbox
