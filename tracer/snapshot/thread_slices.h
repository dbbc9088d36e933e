// Writes one thread's slices and instants as a sequence of track events, and keeps for later the
// frames and stack samples among its events. One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_THREAD_SLICES_H_
#define JANKBOX_TRACER_SNAPSHOT_THREAD_SLICES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tracer/perfetto/event_sequence.h"
#include "tracer/perfetto/frame_timeline.h"
#include "tracer/snapshot/handler_dispatches.h"
#include "tracer/snapshot/sequence_names.h"
#include "tracer/snapshot/stack_samples.h"
#include "tracer/snapshot/thread_events.h"
#include "tracer/snapshot/thread_lives.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {

inline constexpr size_t kMaxNotes = 5;

struct MarkerRef {
  uint64_t ticks = 0;
  EventRecord record;  // in the window
};

// Event records that are not drawn on their own thread's track.
struct SetAside {
  std::vector<TimelineFrame> frames;
  std::vector<SampleRef> samples;
  std::vector<MarkerRef> markers;  // of tracks below the process
  uint64_t malformed = 0;
  uint64_t unknown_markers = 0;  // texts in no form that we know
};

class ThreadSlices : public ThreadEventSink {
 public:
  // `handlers` are of the thread: each is one slice with the dispatch around it.
  ThreadSlices(PacketWriter* writer, const EventSequence::Options& options, const TraceClock& clock,
               SequenceNames* names, const ThreadLives* lives, SetAside* aside,
               std::vector<HandlerDispatch> handlers = {});

  void Begin(const EventRecord& call, uint64_t ticks, uint32_t notes) override;
  void End(const EventRecord& call, uint64_t ticks, uint32_t notes) override;
  void Instant(uint32_t id, uint64_t ticks) override;
  void Record(const EventRecord& record) override;
  bool Stopped() const override { return !writer_->status().ok(); }

  uint64_t slices() const { return slices_; }
  // Calls open at the window's end that are one slice with another one.
  uint64_t joined_open() const { return joined_open_; }

 private:
  bool JoinsAtBegin(const EventRecord& dispatch);
  bool JoinsAtEnd(uint32_t notes);
  std::string NameOf(const EventRecord& dispatch) const;
  void BeginWait(const EventRecord& record, uint64_t ticks, uint32_t notes);
  void EndWait(const EventRecord& record, uint64_t boottime_ns, uint32_t notes);
  void RecordFrame(const EventRecord& record);
  void RecordMarker(const EventRecord& record);
  uint64_t TimeOf(uint64_t ticks);

  PacketWriter* writer_;
  EventSequence sequence_;
  const TraceClock& clock_;
  SequenceNames* names_;
  const ThreadLives* lives_;
  SetAside* aside_;
  std::vector<HandlerDispatch> handlers_;
  const HandlerDispatch* joined_ = nullptr;  // whose slice is open
  uint32_t inside_ = 0;                      // open dispatches in it, the handler's among them
  uint64_t slices_ = 0;
  uint64_t joined_open_ = 0;
};

// The annotations of `notes`, in `names`, which has room for all.
std::span<const std::string_view> NoteNames(uint32_t notes,
                                            std::span<std::string_view, kMaxNotes> names);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_THREAD_SLICES_H_
