// Finds slow methods: recorded calls outside of any dispatch that took too long. Follows the open
// calls of the threads in the live ring, by reading what they wrote since it last polled; the
// threads do not notice. Usually four chunks a thread and poll are read at most: of a thread that
// wrote more, the last one, since each chunk begins with the calls that were open then.
// Watcher thread; allocates.
#ifndef JANKBOX_MONITORS_METHOD_SLOW_METHOD_FINDER_H_
#define JANKBOX_MONITORS_METHOD_SLOW_METHOD_FINDER_H_

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/clock.h"
#include "monitors/incident/held_time.h"
#include "monitors/incident/refusals.h"
#include "monitors/method/thread_calls.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {

// A call that was too slow, and has ended.
struct SlowMethod {
  uint64_t thread_serial = 0;  // as the ring's chunks have it
  int32_t tid = 0;
  bool watched = false;  // the main thread's, or that of a thread with a slot in the ring
  MethodCall call;
};

// A thread that lives for this long after the end of its first call is not about to end: its exit
// handlers, or those of the process, have run by then.
inline constexpr uint64_t kLongestEndNs = kNsPerSecond;

// An open call that may become one.
struct SuspectMethod {
  uint64_t thread_serial = 0;
  int32_t tid = 0;
  bool watched = false;
  ThreadCalls::Suspect call;
};

class SlowMethodFinder final : private MethodJudge {
 public:
  // All three outlive the finder. `holds` are known up to each poll.
  SlowMethodFinder(const RingReader* ring, const HoldHistory* holds, Refusals* refusals)
      : ring_(ring), holds_(holds), refusals_(refusals) {}
  SlowMethodFinder(const SlowMethodFinder&) = delete;  // threads_ points to it
  SlowMethodFinder& operator=(const SlowMethodFinder&) = delete;

  // Calls that take `threshold_ns` are slow from now on, 0: none; those of all threads, or of
  // watched ones.
  void SetRules(uint64_t threshold_ns, bool all_threads);

  // Reads what was written up to `now_ns`.
  void Poll(uint64_t now_ns, const TickConverter& clock);

  // Thread `serial` was seen waiting for an event, or stopped by a debugger, after the last poll:
  // no call that it has open is a slow method. Does nothing if the thread has gone on since.
  void RuleOut(uint64_t serial);

  // No more polls: a call that may be the main function of a thread counts as an ordinary one if
  // the thread lives, unless the process exits.
  void Finish(bool process_exits);

  // What was found since this was called last.
  std::vector<SlowMethod> TakeFound();

  std::vector<SuspectMethod> Suspects() const;

 private:
  // A chunk of calls in the ring.
  struct ChunkRef {
    uint64_t serial = 0;
    uint64_t sequence = 0;
    size_t index = 0;
    uint32_t thread_index = 0;
    int32_t tid = 0;
  };
  struct Followed {
    explicit Followed(MethodJudge* judge) : calls(judge) {}
    ThreadCalls calls;
    int32_t tid = 0;
    const RingWatchedThread* slot = nullptr;  // null: none
    uint64_t dispatches = 0;                  // of the slot, at the last poll
    ChunkRef chunk;                           // that was read last; its sequence is 0 if none was
    size_t words = 0;                         // read of it
    uint64_t base_ticks = 0;                  // of the next ones
    uint64_t seen_ticks = 0;                  // when its calls were as they are here
    bool closed = false;  // the chunk is, and there was no other at the last poll
    bool over = false;    // the thread
  };
  using Chunks = std::span<const ChunkRef>;
  static constexpr size_t kMostAtOnce = 4;  // chunks

  uint64_t OnEnded(const MethodCall& call, uint64_t reported_ns) override;
  bool WaitedForAnEvent(const MethodCall& call) const;

  void ListChunks();
  bool ListsAll() const;
  bool IsWanted(int32_t tid) const;
  bool IsWatched(const Followed& thread) const;
  bool IsOpen(const ChunkRef& chunk) const;
  bool IsUnchanged(const Followed& thread) const;
  void Follow(Followed* thread, Chunks chunks);
  Chunks ToRead(const Followed& thread, Chunks chunks);
  void Read(Followed* thread, Chunks chunks);
  bool Apply(Followed* thread, const WindowChunk& chunk);
  void Settle(Followed* thread);
  void RuleOutUnrecorded();

  const RingReader* const ring_;
  const HoldHistory* const holds_;
  Refusals* const refusals_;
  uint64_t threshold_ns_ = 0;
  bool all_threads_ = false;
  uint64_t since_ticks_ = 0;  // what ended before is not judged; UINT64_MAX: from the next poll on

  TickConverter clock_;
  uint64_t now_ticks_ = 0;
  uint64_t least_ticks_ = 0;    // of a slow method, about
  uint64_t next_sequence_ = 0;  // the ring's when its chunks were listed; 0: list them again
  std::array<int32_t, kMaxWatchedThreads> watched_ = {};  // then
  int32_t own_tid_ = 0;
  uint64_t dropped_events_ = 0;
  std::vector<ChunkRef> chunks_;  // by thread, in order
  std::map<uint64_t, Followed> threads_;
  const Followed* current_ = nullptr;  // whose calls are judged
  std::vector<uint64_t> words_ = std::vector<uint64_t>(RingReader::kMaxChunkWords);
  std::vector<SlowMethod> found_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_METHOD_SLOW_METHOD_FINDER_H_
