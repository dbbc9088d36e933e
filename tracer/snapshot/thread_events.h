// The calls of one thread as properly nested slices, whatever its chunks have lost: ends pop until
// their start, gaps close and reopen what changed, calls open at the window's edges are opened and
// closed there. Feeds a sink; keeps the open calls only. One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_THREAD_EVENTS_H_
#define JANKBOX_TRACER_SNAPSHOT_THREAD_EVENTS_H_

#include <cstdint>
#include <vector>

#include "tracer/ring/ring_window.h"
#include "tracer/snapshot/aside_events.h"
#include "tracer/snapshot/call_stack.h"

namespace jankbox {

// Changes of a slice's start or end against the recording. Bits.
enum SliceNote : uint32_t {
  kBeganBeforeWindow = 1,
  kBeginLost = 2,        // in a gap: begin is the gap's end
  kEndLost = 4,          // in a gap: end is the gap's end
  kOpenAtWindowEnd = 8,  // end is the window's
  kEndMissing = 16,      // ended with the call around it
};

// Receives slices in order of time and properly nested.
class ThreadEventSink {
 public:
  virtual ~ThreadEventSink() = default;

  // `call` is a kBegin, a kDispatchBegin, a kMarker or a kWait; of a call known from a chunk's open
  // calls alone it has neither name nor payload.
  virtual void Begin(const EventRecord& call, uint64_t ticks, uint32_t notes) = 0;
  // Of a kWait: its end's own event, if there is one.
  virtual void End(const EventRecord& call, uint64_t ticks, uint32_t notes) = 0;
  virtual void Instant(uint32_t id, uint64_t ticks) = 0;
  // kFrame and kStackSample, at their own moment; kThread and markers that are no slices. Those of
  // async slices come from before the window too.
  virtual void Record(const EventRecord& record) = 0;
  // True to end the walk early.
  virtual bool Stopped() const { return false; }
};

class ThreadEvents {
 public:
  struct Counts {
    uint64_t unmatched_ends = 0;
    uint64_t open_slices = 0;
    uint64_t repaired_slices = 0;  // whose end was missing
    uint64_t torn_events = 0;
    bool has_process_events = false;  // kAsyncBegin, kAsyncEnd, kCounter: merged elsewhere
  };

  // Events from `from_ticks` to `end_ticks`; earlier ones of the first chunks say what was open.
  ThreadEvents(uint64_t from_ticks, uint64_t end_ticks, ThreadEventSink* sink)
      : from_ticks_(from_ticks), end_ticks_(end_ticks), sink_(sink) {}

  // Once.
  Counts Walk(const WindowThread& thread);

 private:
  void OpenFirstCalls(const WindowChunk& chunk);
  // The marker lane's events up to `ticks`, which are between the calls.
  void DrainAsides(uint64_t ticks) {
    while (__builtin_expect(asides_->ticks() <= ticks, 0) && !asides_->AtEnd()) HandleAside();
  }
  void HandleAside();
  void HandleMarker(const EventRecord& marker);
  void ReconcileMarkers(const std::vector<EventRecord>& carried);
  void Reconcile(const WindowChunk& chunk);
  size_t SharedDepth(const WindowChunk& chunk, size_t* listed) const;
  uint64_t Depth() const;
  void Handle(const EventRecord& event);
  void HandleCall(const EventRecord& event);
  void EnterWindow();
  void Push(const EventRecord& event, uint64_t begin_ticks, uint32_t notes);
  void PushHidden(uint32_t count);
  void Pop(const EventRecord& end);
  void CloseDownTo(size_t depth, uint64_t ticks, uint32_t notes);

  uint64_t from_ticks_;
  uint64_t end_ticks_;
  ThreadEventSink* sink_;
  AsideEvents* asides_ = nullptr;
  CallStack calls_;
  uint64_t now_ = 0;  // ticks of the last event: time never goes back
  bool in_window_ = false;
  Counts counts_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_THREAD_EVENTS_H_
