#include "tracer/ring/recorder.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tracer/ring/open_calls.h"

#if defined(__ANDROID__)
#define JANKBOX_TLS \
  thread_local  // bionic refuses initial-exec in libraries that are loaded with dlopen
#else
#define JANKBOX_TLS __attribute__((tls_model("initial-exec"))) thread_local
#endif

namespace jankbox {
namespace {

// Lies alone in a MADV_WIPEONFORK page: all zero, which is "off", in a forked child.
struct Gate {
  std::atomic<uint32_t> recording{0};
  std::atomic<uint32_t> epoch{
      0};  // grows with each Open(): tells a thread that its cursor is of an older ring
  TickSource source{};
  RingFile* ring = nullptr;
};

Gate g_closed_gate;
std::atomic<Gate*> g_gate{&g_closed_gate};
std::atomic<uint32_t> g_last_epoch{0};
pthread_key_t g_exit_key;

// Where this thread writes next. `epoch` 0: nowhere yet.
struct Cursor {
  uint64_t* next;
  uint64_t* end;
  uint64_t base_ticks;
  RingChunk* chunk;
  uint64_t serial;
  uint32_t chunk_index;
  uint32_t epoch;
  int32_t tid;
  bool watched;
  bool busy;  // recording right now, see Recording
  char name[16];
};
JANKBOX_TLS constinit Cursor t_cursor{};

void CountDrop(Gate* gate) {
  gate->ring->header()->dropped_events.fetch_add(1, std::memory_order_relaxed);
}

inline void StoreWord(uint64_t* at, uint64_t word) {
  std::atomic_ref<uint64_t>(*at).store(word, std::memory_order_relaxed);
}

void CloseChunk(RingChunk* chunk, const uint64_t* next, uint64_t now) {
  const uint64_t* first = FirstWord(chunk);
  chunk->committed_words.store(static_cast<uint32_t>(next - first), std::memory_order_relaxed);
  chunk->close_ticks.store(now, std::memory_order_relaxed);
  chunk->owner.store(kNoOwner, std::memory_order_release);  // pairs with the CAS in ClaimChunk
}

// The next chunk of the share's rolling cursor that no thread has open; null where all are open.
RingChunk* ClaimChunk(RingFile* ring, bool watched, int32_t tid) {
  RingHeader* header = ring->header();
  const uint32_t pool = header->chunks_ready.load(std::memory_order_acquire) / 2;
  std::atomic<uint64_t>& cursor = header->next_chunk[watched ? 1 : 0];
  for (uint32_t attempt = 0; attempt < pool; ++attempt) {
    const uint64_t turn = cursor.fetch_add(1, std::memory_order_relaxed);
    // Even chunks belong to watched threads, odd ones to all others.
    RingChunk* chunk = ring->chunk(static_cast<uint32_t>(turn % pool) * 2 + (watched ? 0 : 1));
    int32_t free = kNoOwner;
    if (chunk->owner.compare_exchange_strong(free, tid, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
      return chunk;
    }
  }
  return nullptr;
}

// Makes `chunk`, which this thread has claimed, the thread's current one.
void StartChunk(Cursor& cursor, RingFile* ring, RingChunk* chunk, uint64_t now) {
  RingHeader* header = ring->header();
  RingChunk* previous = cursor.chunk;
  chunk->sequence.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // readers see 0 before any word changes
  OpenCallStack open;
  if (previous != nullptr) open.Replay(previous, cursor.next);
  uint64_t* words = reinterpret_cast<uint64_t*>(chunk + 1);
  uint64_t* end = reinterpret_cast<uint64_t*>(reinterpret_cast<uint8_t*>(chunk) + kChunkBytes);
  for (uint64_t* word = words; word < end; ++word) StoreWord(word, 0);
  chunk->tid = cursor.tid;
  chunk->thread_serial = cursor.serial;
  chunk->thread_chunk_index = cursor.chunk_index++;
  chunk->base_ticks = now;
  chunk->close_ticks.store(0, std::memory_order_relaxed);
  chunk->committed_words.store(0, std::memory_order_relaxed);
  chunk->watched = cursor.watched ? 1 : 0;
  memcpy(chunk->thread_name, cursor.name, sizeof(chunk->thread_name));
  chunk->open_calls = open.size();
  chunk->open_calls_truncated = open.truncated();
  words = open.WriteTo(words);
  chunk->sequence.store(header->next_sequence.fetch_add(1, std::memory_order_relaxed),
                        std::memory_order_release);  // pairs with the reader's first load
  if (previous != nullptr) CloseChunk(previous, cursor.next, now);
  cursor.chunk = chunk;
  cursor.next = words;
  cursor.end = end;
  cursor.base_ticks = now;
}

// A thread's first event of this recording: the only system calls on the path.
void AttachThread(Cursor& cursor, Gate* gate) {
  const bool watched = cursor.watched;
  cursor = Cursor{};
  cursor.busy = true;
  cursor.watched = watched;
  cursor.tid = static_cast<int32_t>(syscall(SYS_gettid));
  prctl(PR_GET_NAME, cursor.name, 0, 0, 0);
  cursor.serial = gate->ring->header()->next_thread_serial.fetch_add(1, std::memory_order_relaxed);
  cursor.epoch = gate->epoch.load(std::memory_order_relaxed);
  pthread_setspecific(g_exit_key, &cursor);
}

// Continues the thread's chunk from a new base: its ticks would not fit in an event any more.
bool Rebase(Cursor& cursor, uint64_t now, size_t words) {
  constexpr size_t kRebaseWords = 3;
  if (cursor.next == nullptr ||
      static_cast<size_t>(cursor.end - cursor.next) < kRebaseWords + words) {
    return false;
  }
  uint64_t* at = cursor.next;
  cursor.next = at + kRebaseWords;
  StoreWord(at + 1, MakePayload(now & kPayloadMask));
  StoreWord(at + 2, MakePayload(now >> 60));
  std::atomic_ref<uint64_t>(*at).store(MakeEvent(EventKind::kRebase, 0, 0),
                                       std::memory_order_release);
  cursor.base_ticks = now;
  return true;
}

// Gives the cursor room for `words` words at `now`; false where there is none (counted).
__attribute__((noinline)) bool MakeRoom(Cursor& cursor, Gate* gate, uint64_t now, size_t words) {
  const int saved_errno = errno;
  if (cursor.epoch != gate->epoch.load(std::memory_order_relaxed)) AttachThread(cursor, gate);
  bool done = Rebase(cursor, now, words);
  RingChunk* chunk = done ? nullptr : ClaimChunk(gate->ring, cursor.watched, cursor.tid);
  if (chunk != nullptr) {
    StartChunk(cursor, gate->ring, chunk, now);
    done = true;
  }
  if (!done) CountDrop(gate);
  errno = saved_errno;
  return done;
}

// Reserves `count` words and returns where they are; null where the event is dropped.
inline uint64_t* Reserve(Cursor& cursor, Gate* gate, uint64_t now, size_t count) {
  const bool fits = cursor.epoch == gate->epoch.load(std::memory_order_relaxed) &&
                    count <= static_cast<size_t>(cursor.end - cursor.next) &&
                    now - cursor.base_ticks <= kMaxTickDelta;
  if (__builtin_expect(!fits, 0) && !MakeRoom(cursor, gate, now, count)) return nullptr;
  uint64_t* at = cursor.next;
  cursor.next = at + count;
  return at;
}

// Marks the thread as recording. A signal handler that lands in between drops its event, counted:
// two writers of one chunk would mix their words.
class Recording {
 public:
  Recording(Cursor& cursor, Gate* gate) : cursor_(cursor), entered_(!cursor.busy) {
    if (!entered_) CountDrop(gate);
    cursor_.busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Recording() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (entered_) cursor_.busy = false;
  }
  bool entered() const { return entered_; }

 private:
  Cursor& cursor_;
  const bool entered_;
};

void OnThreadExit(void* value) {
  Cursor* cursor = static_cast<Cursor*>(value);
  Gate* gate = g_gate.load(std::memory_order_relaxed);
  const bool current = gate->recording.load(std::memory_order_relaxed) != 0 &&
                       cursor->epoch == gate->epoch.load(std::memory_order_relaxed);
  if (current && cursor->chunk != nullptr) {
    CloseChunk(cursor->chunk, cursor->next, ReadTicks(gate->source));
  }
  *cursor = Cursor{};
}

Gate* NewGate() {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
#if defined(MADV_WIPEONFORK)
  madvise(memory, page, MADV_WIPEONFORK);
#endif
  return new (memory) Gate();
}

}  // namespace

Status Recorder::Open(RingFile* ring) {
  static const int key_error = pthread_key_create(&g_exit_key, OnThreadExit);
  if (key_error != 0) return Status::FromErrno(key_error, "pthread_key_create");
  static Gate* gate = NewGate();
  if (gate == nullptr) return Status(StatusCode::kNoSpace, "no memory for the recorder's gate");
  gate->source = static_cast<TickSource>(ring->header()->tick_source);
  gate->ring = ring;
  gate->epoch.store(g_last_epoch.fetch_add(1) + 1, std::memory_order_relaxed);
  g_gate.store(gate, std::memory_order_release);
  gate->recording.store(1, std::memory_order_release);
  return Status::Ok();
}

void Recorder::Close() { g_gate.load(std::memory_order_relaxed)->recording.store(0); }

RingHeader* Recorder::ActiveRing() {
  Gate* gate = g_gate.load(std::memory_order_acquire);
  return gate->recording.load(std::memory_order_acquire) != 0 ? gate->ring->header() : nullptr;
}

void Recorder::ReclaimChunksOfDeadThreads(RingFile* ring) {
  RingHeader* header = ring->header();
  const uint32_t ready = header->chunks_ready.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < ready; ++i) {
    RingChunk* chunk = ring->chunk(i);
    const int32_t owner = chunk->owner.load(std::memory_order_acquire);
    if (owner == kNoOwner || syscall(SYS_tgkill, header->pid, owner, 0) == 0 || errno != ESRCH)
      continue;
    chunk->close_ticks.store(header->heartbeat_ticks.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
    int32_t expected = owner;
    chunk->owner.compare_exchange_strong(expected, kNoOwner, std::memory_order_release);
  }
}

bool RecordingOn() {
  return g_gate.load(std::memory_order_relaxed)->recording.load(std::memory_order_relaxed) != 0;
}

uint64_t NowTicks() { return ReadTicks(g_gate.load(std::memory_order_relaxed)->source); }

void RecordEvent(EventKind kind, uint32_t id) {
  Gate* gate = g_gate.load(std::memory_order_acquire);
  if (gate->recording.load(std::memory_order_acquire) == 0) return;
  Cursor& cursor = t_cursor;
  const Recording recording(cursor, gate);
  if (!recording.entered()) return;
  const uint64_t now = ReadTicks(gate->source);
  uint64_t* at = Reserve(cursor, gate, now, 1);
  if (at != nullptr) StoreWord(at, MakeEvent(kind, id & kMaxMethodId, now - cursor.base_ticks));
}

void RecordEventAt(EventKind kind, uint32_t id, uint64_t ticks, std::span<const uint64_t> payload) {
  Gate* gate = g_gate.load(std::memory_order_acquire);
  if (gate->recording.load(std::memory_order_acquire) == 0) return;
  Cursor& cursor = t_cursor;
  const Recording recording(cursor, gate);
  if (!recording.entered()) return;
  const uint64_t now = ReadTicks(gate->source);
  uint64_t* at = Reserve(cursor, gate, now, 1 + payload.size());
  if (at == nullptr) return;
  // The head goes last: until then a reader finds zeros here and stops before them.
  for (size_t i = 0; i < payload.size(); ++i) StoreWord(at + 1 + i, MakePayload(payload[i]));
  const uint64_t moment = std::max(std::min(ticks, now), cursor.base_ticks);
  std::atomic_ref<uint64_t>(*at).store(MakeEvent(kind, id, moment - cursor.base_ticks),
                                       std::memory_order_release);
}

void RecordValue(EventKind kind, uint32_t id, uint64_t value) {
  const uint64_t payload[2] = {value & kPayloadMask, value >> 60};
  RecordEventAt(kind, id & kMaxMethodId, UINT64_MAX, payload);
}

void WatchThisThread() { t_cursor.watched = true; }

}  // namespace jankbox
