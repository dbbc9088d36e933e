#include "tracer/snapshot/thread_slices.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tracer/event/frame_event.h"
#include "tracer/event/marker_text.h"
#include "tracer/ring/wait_record.h"
#include "tracer/snapshot/wait_slices.h"

namespace jankbox {
namespace {

using perfetto::TrackEventType;

TimelineFrame ToTimelineFrame(const FrameEvent& frame, const TraceClock& clock) {
  const uint64_t expected_start = frame.vsync_ns != 0 ? frame.vsync_ns : frame.start_ns;
  const uint64_t deadline =
      frame.deadline_ns != 0 ? frame.deadline_ns : expected_start + frame.interval_ns;
  TimelineFrame out = {.expected_start_ns = clock.FromMonotonicNs(expected_start),
                       .deadline_ns = clock.FromMonotonicNs(std::max(deadline, expected_start)),
                       .start_ns = clock.FromMonotonicNs(frame.start_ns),
                       .end_ns = clock.FromMonotonicNs(std::max(frame.start_ns, frame.end_ns)),
                       .interval_ns = frame.interval_ns,
                       .vsync_id = frame.vsync_id,
                       .discarded = frame.fate == FrameFate::kDiscarded};
  if (frame.presented_ns != 0 && frame.expected_present_ns != 0) {
    out.expected_present_ns = clock.FromMonotonicNs(frame.expected_present_ns);
    out.presented_ns = clock.FromMonotonicNs(frame.presented_ns);
  }
  return out;
}

}  // namespace

std::span<const std::string_view> NoteNames(uint32_t notes,
                                            std::span<std::string_view, kMaxNotes> names) {
  size_t count = 0;
  if ((notes & kBeganBeforeWindow) != 0) names[count++] = "began_before_window";
  if ((notes & kBeginLost) != 0) names[count++] = "begin_lost";
  if ((notes & kEndLost) != 0) names[count++] = "end_lost";
  if ((notes & kOpenAtWindowEnd) != 0) names[count++] = "open_at_window_end";
  if ((notes & kEndMissing) != 0) names[count++] = "end_missing";
  return names.first(count);
}

ThreadSlices::ThreadSlices(PacketWriter* writer, const EventSequence::Options& options,
                           const TraceClock& clock, SequenceNames* names, const ThreadLives* lives,
                           SetAside* aside, std::vector<HandlerDispatch> handlers)
    : writer_(writer),
      sequence_(writer, options),
      clock_(clock),
      names_(names),
      lives_(lives),
      aside_(aside),
      handlers_(std::move(handlers)) {
  names_->Use(&sequence_);
}

// True for the handler's dispatch, which is drawn with the loop's around it. Dispatches nest, so
// that the first one within is the handler's.
bool ThreadSlices::JoinsAtBegin(const EventRecord& dispatch) {
  if (joined_ != nullptr) return ++inside_ == 1;
  const auto found = std::lower_bound(
      handlers_.begin(), handlers_.end(), dispatch.ticks,
      [](const HandlerDispatch& of, uint64_t ticks) { return of.loop_ticks < ticks; });
  if (dispatch.id == 0 && found != handlers_.end() && found->loop_ticks == dispatch.ticks) {
    joined_ = &*found;
    inside_ = 0;
  }
  return false;
}

bool ThreadSlices::JoinsAtEnd(uint32_t notes) {
  if (joined_ == nullptr) return false;
  if (inside_ == 0) {
    joined_ = nullptr;
    return false;
  }
  if (inside_-- != 1) return false;
  if ((notes & kOpenAtWindowEnd) != 0) ++joined_open_;
  return true;
}

std::string ThreadSlices::NameOf(const EventRecord& dispatch) const {
  const bool joined = joined_ != nullptr && inside_ == 0;
  const std::string name = DispatchName(joined ? joined_->handler : dispatch);
  return name.empty() ? "dispatch" : name;
}

// The first event's moment starts the sequence's clock.
uint64_t ThreadSlices::TimeOf(uint64_t ticks) {
  const uint64_t boottime_ns = clock_.BoottimeNs(ticks);
  if (!sequence_.started()) sequence_.Start(boottime_ns);
  return boottime_ns;
}

void ThreadSlices::BeginWait(const EventRecord& record, uint64_t ticks, uint32_t notes) {
  WaitEvent wait;
  if (!DecodeWaitRecord(record, &wait)) ++aside_->malformed;  // a slice all the same: it nests
  const std::string owner = wait.owner_tid != 0 ? lives_->NameAt(wait.owner_tid, ticks) : "";
  std::string_view annotations[kMaxNotes];
  const IntAnnotation value = wait.owner_tid != 0
                                  ? IntAnnotation{"owner_tid", wait.owner_tid}
                                  : IntAnnotation{"bytes", static_cast<int64_t>(wait.bytes)};
  sequence_.Write(clock_.BoottimeNs(ticks), {.type = TrackEventType::kSliceBegin,
                                             .category = Category::kWait,
                                             .name_iid = names_->OfText(WaitName(wait, owner)),
                                             .annotations = NoteNames(notes, annotations),
                                             .values = {&value, value.value != 0 ? 1u : 0u}});
}

void ThreadSlices::EndWait(const EventRecord& record, uint64_t boottime_ns, uint32_t notes) {
  WaitEvent wait;
  if (!DecodeWaitRecord(record, &wait) || !wait.end) wait.result = 0;
  std::string_view annotations[kMaxNotes];
  const IntAnnotation value = {wait.result < 0 ? "errno" : "result",
                               wait.result < 0 ? -wait.result : wait.result};
  sequence_.Write(boottime_ns, {.type = TrackEventType::kSliceEnd,
                                .annotations = NoteNames(notes, annotations),
                                .values = {&value, value.value != 0 ? 1u : 0u}});
}

void ThreadSlices::Begin(const EventRecord& call, uint64_t ticks, uint32_t notes) {
  if (call.kind == EventKind::kDispatchBegin && JoinsAtBegin(call)) return;
  const uint64_t boottime_ns = TimeOf(ticks);
  ++slices_;
  if (call.kind == EventKind::kWait) return BeginWait(call, ticks, notes);
  Category category = Category::kMethod;
  uint64_t name_iid;
  if (call.kind == EventKind::kDispatchBegin) {
    category = Category::kDispatch;
    name_iid = names_->OfText(NameOf(call));
  } else if (call.kind == EventKind::kMarker) {
    category = Category::kAtrace;
    const std::string text = MarkerText(call);
    name_iid = names_->OfText(std::string(ParseMarker(text).name));
  } else {
    name_iid = names_->OfMethod(call.id);
  }
  if (notes == 0) {
    sequence_.Begin(boottime_ns, category, name_iid);
    return;
  }
  std::string_view annotations[kMaxNotes];
  sequence_.Write(boottime_ns, {.type = TrackEventType::kSliceBegin,
                                .category = category,
                                .name_iid = name_iid,
                                .annotations = NoteNames(notes, annotations)});
}

void ThreadSlices::End(const EventRecord& call, uint64_t ticks, uint32_t notes) {
  if (call.kind == EventKind::kDispatchBegin && JoinsAtEnd(notes)) return;
  const uint64_t boottime_ns = TimeOf(ticks);
  if (call.kind == EventKind::kWait) return EndWait(call, boottime_ns, notes);
  if (notes == 0) {
    sequence_.End(boottime_ns);
    return;
  }
  std::string_view annotations[kMaxNotes];
  sequence_.Write(boottime_ns, {.type = TrackEventType::kSliceEnd,
                                .annotations = NoteNames(notes, annotations)});
}

void ThreadSlices::Instant(uint32_t id, uint64_t ticks) {
  const uint64_t boottime_ns = TimeOf(ticks);
  sequence_.Write(boottime_ns, {.type = TrackEventType::kInstant,
                                .category = Category::kInstant,
                                .name_iid = names_->OfMethod(id)});
}

void ThreadSlices::RecordMarker(const EventRecord& record) {
  const std::string text = MarkerText(record);
  const MarkerParts marker = ParseMarker(text);
  if (marker.kind == MarkerKind::kUnknown) {
    ++aside_->unknown_markers;
  } else if (marker.kind != MarkerKind::kInstant) {
    aside_->markers.push_back({record.ticks, record});
  } else {
    const uint64_t boottime_ns = TimeOf(record.ticks);
    sequence_.Write(boottime_ns, {.type = TrackEventType::kInstant,
                                  .category = Category::kAtrace,
                                  .name_iid = names_->OfText(std::string(marker.name))});
  }
}

void ThreadSlices::RecordFrame(const EventRecord& record) {
  uint64_t payload[frame_event::kMaxWords];
  const size_t words = std::min(record.payload.size(), std::size(payload));
  for (size_t i = 0; i < words; ++i) payload[i] = PayloadOf(record.payload[i]);
  FrameEvent frame;
  if (DecodeFrame(record.id, {payload, words}, &frame)) {
    aside_->frames.push_back(ToTimelineFrame(frame, clock_));
  } else {
    ++aside_->malformed;
  }
}

void ThreadSlices::Record(const EventRecord& record) {
  if (record.kind == EventKind::kMarker) return RecordMarker(record);
  if (record.kind == EventKind::kThread) return;
  if (record.kind == EventKind::kFrame) return RecordFrame(record);
  StackSample sample;
  if (!DecodeSampleRecord(record.payload, &sample)) {
    ++aside_->malformed;
    return;
  }
  aside_->samples.push_back({.boottime_ns = clock_.BoottimeNs(record.ticks),
                             .tid = sample.tid,
                             .payload = record.payload});
}

}  // namespace jankbox
