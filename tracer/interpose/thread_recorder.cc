#include "tracer/interpose/thread_recorder.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/compact_sort.h"
#include "tracer/event/event_sink.h"
#include "tracer/sampling/sample_event.h"

namespace jankbox {
namespace {

// The frames of the proxy are removed: the first one is to be the call of pthread_create().
void CutProxyFrames(const void* return_address, StackSample* sample) {
  const uint64_t call = reinterpret_cast<uint64_t>(return_address) - 1;
  uint64_t* const end = sample->pcs + sample->depth;
  uint64_t* const first = std::find(sample->pcs, end, call);
  if (first == end) return;
  sample->depth = static_cast<uint32_t>(end - first);
  memmove(sample->pcs, first, sample->depth * sizeof(*first));
}

}  // namespace

void ThreadRecorder::Prepare() {
  static pid_t prepared_by = 0;
  if (prepared_by != 0 && prepared_by != getpid()) ThreadJournal::ForgetInChild();
  prepared_by = getpid();
  ThreadJournal::TakeDropped();
  CreationStacks::TakeDropped();
  CreationStacks::Allow();
}

void ThreadRecorder::Look() {
  events_.clear();
  ThreadJournal::Drain([this](const ThreadNote& note) {
    if (note.event.ticks < since_ticks_) return;
    events_.push_back(note.event);
    if (note.stack != nullptr) RecordStack(note);
  });
  CompactSort(&events_,
              [](const ThreadEvent& a, const ThreadEvent& b) { return a.ticks < b.ticks; });
  for (const ThreadEvent& event : events_) {
    const EncodedThreadEvent encoded = EncodeThreadEvent(event);
    RecordAside(EventKind::kThread, encoded.id, {encoded.payload, encoded.words});
  }
}

void ThreadRecorder::RecordStack(const ThreadNote& note) {
  if (unwinder_ == nullptr) unwinder_ = std::make_unique<Unwinder>();
  if (modules_.modules().empty() || modules_.Stale()) {
    modules_ = ModuleMap::Load();
    unwinder_->SetModules(&modules_);
  }
  StackSample sample;
  sample.tid = note.event.parent_tid;
  sample.source = SampleSource::kCreation;
  sample.running = true;
  sample.state = 'R';
  unwinder_->Unwind(note.stack->registers, note.stack->copy(), &sample);
  CutProxyFrames(note.stack->return_address, &sample);
  uint64_t words[kMaxSamplePayloadWords];
  const uint32_t count = EncodeSample(sample, words);
  RecordEventAt(EventKind::kStackSample, count, note.event.ticks, {words, count});
}

ThreadRecorder::Lost ThreadRecorder::lost() {
  lost_.events += ThreadJournal::TakeDropped();
  lost_.stacks += CreationStacks::TakeDropped();
  return lost_;
}

}  // namespace jankbox
