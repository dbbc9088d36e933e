#include "diagnosis/verdict/window_verdict.h"

#include <algorithm>
#include <iterator>

#include "base/compact_sort.h"
#include "diagnosis/blame/blame.h"
#include "diagnosis/verdict/blocking_calls.h"
#include "diagnosis/verdict/cpu_causes.h"
#include "diagnosis/verdict/kernel_spans.h"
#include "diagnosis/verdict/wall_time.h"

namespace jankbox {
namespace {

constexpr size_t kMaxOwnerFrames = 16;

// The kernel's events of the incident's thread, on CLOCK_MONOTONIC.
void AddKernelEvidence(const KernelWindow& kernel, int32_t tid, uint64_t boottime_offset_ns,
                       WallTimeEvidence* evidence) {
  evidence->fault_cost_ns = kernel.page_fault_cost_ns;
  const uint64_t from_ns = evidence->from_ns + boottime_offset_ns;
  const uint64_t to_ns = evidence->to_ns + boottime_offset_ns;
  evidence->spans = KernelSpans(kernel, tid, from_ns, to_ns);
  for (ThreadSpan& span : evidence->spans) {
    span.from_ns -= boottime_offset_ns;
    span.to_ns -= boottime_offset_ns;
  }
  if (kernel.source != KernelWindow::Source::kFtrace) {
    evidence->span_source = VerdictSource::kOwnSwitches;
    return;
  }
  // A storm of faults overruns the kernel's buffer: then their number is that of the readings.
  evidence->faults_told = kernel.lost_events == 0;
  for (const KernelEvent& event : kernel.events) {
    const bool fault = event.kind == KernelEventKind::kPageFault && event.tid == tid;
    if (fault && evidence->faults_told && event.time >= from_ns && event.time < to_ns) {
      evidence->fault_times.push_back(event.time - boottime_offset_ns);
    }
  }
}

// The owner that was waited for longest; 0 if none is known.
int32_t LockOwner(const Verdict& verdict) {
  const VerdictShare* longest = nullptr;
  for (const VerdictShare& share : verdict.shares) {
    const bool known = share.cause == VerdictCause::kLock && share.owner_tid != 0;
    if (known && (longest == nullptr || share.ns > longest->ns)) longest = &share;
  }
  return longest == nullptr ? 0 : longest->owner_tid;
}

void DescribeOwner(const VerdictWindow& source, const SealRequest& request, int32_t tid,
                   ReportVerdict* out, Culprit* culprit) {
  const uint64_t begin = source.clock.FromMonotonicNs(request.begin_ns);
  const uint64_t end = source.clock.FromMonotonicNs(request.end_ns);
  std::vector<StackSample> samples = SamplesOf(*source.window, tid);
  std::erase_if(samples, [&](const StackSample& sample) {
    return sample.time_ns < begin || sample.time_ns > end;
  });
  const Blame blame = FindBlame(*source.window, tid, begin, end, samples, *source.frames,
                                *source.methods, source.clock.ns_per_tick());
  culprit->owner_name = source.lives->NameAt(tid, end);
  culprit->owner_function = blame.place;
  out->lock_owner_tid = tid;
  out->lock_owner = culprit->owner_name;
  out->lock_owner_frames = blame.frames;
  if (out->lock_owner_frames.size() > kMaxOwnerFrames) {
    out->lock_owner_frames.resize(kMaxOwnerFrames);
  }
}

void CopyShares(const Verdict& verdict, ReportVerdict* out) {
  const std::array<uint64_t, kVerdictCauses> ns = verdict.ByCause();
  uint64_t* const fields[kVerdictCauses] = {
      &out->running_ns, &out->runnable_ns, &out->lock_ns,     &out->disk_ns,    &out->fault_ns,
      &out->ipc_ns,     &out->gc_ns,       &out->sleeping_ns, &out->blocked_ns, &out->unknown_ns};
  for (size_t cause = 0; cause < kVerdictCauses; ++cause) *fields[cause] = ns[cause];
  for (const VerdictShare& share : verdict.shares) {
    out->shares.push_back({VerdictCauseName(share.cause), share.ns, VerdictSourceName(share.source),
                           share.estimate, PhraseOf(share)});
  }
  CompactSort(&out->shares, [](const ReportVerdict::Share& a, const ReportVerdict::Share& b) {
    return a.ns > b.ns;
  });
  out->sources = verdict.Sources();
}

// What the window says of the thread's waits.
struct RecordedWaits {
  std::vector<WaitSpan> calls;
  std::vector<GcPause> gc_pauses;
};

Verdict VerdictOf(const VerdictWindow& source, const SealRequest& request,
                  const RecordedWaits& waits, SealRequest::Stretch stretch) {
  WallTimeEvidence evidence;
  evidence.from_ns = stretch.from_ns;
  evidence.to_ns = stretch.to_ns;
  evidence.readings = source.readings != nullptr ? source.readings : &request.readings;
  if (source.kernel != nullptr) {
    AddKernelEvidence(*source.kernel, request.tid, source.clock.MonotonicToBoottimeNs(0),
                      &evidence);
  }
  evidence.waits = waits.calls;
  evidence.gc_pauses = waits.gc_pauses;
  return SplitWallTime(evidence);
}

// Before the reason is known for which a thread that was able to run did not.
Verdict UnexplainedVerdict(const VerdictWindow& source, const SealRequest& request) {
  const RecordedWaits waits{
      BlockingCalls(*source.window, request.tid, source.window->to_ticks, source.clock),
      GcPauses(*source.window, *source.methods, request.tid, source.clock)};
  if (request.free.empty() && request.held_ns == 0) {
    return VerdictOf(source, request, waits, {request.begin_ns, request.end_ns});
  }
  Verdict verdict;
  for (const SealRequest::Stretch& free : request.free) {
    Verdict part = VerdictOf(source, request, waits, free);
    for (const VerdictShare& share : part.shares) verdict.Add(share);
    verdict.switches += part.switches;
    verdict.uncounted_ns += part.uncounted_ns;
    std::move(part.stretches.begin(), part.stretches.end(), std::back_inserter(verdict.stretches));
  }
  return verdict;
}

}  // namespace

Verdict WindowVerdict(const VerdictWindow& source, const SealRequest& request) {
  Verdict verdict = UnexplainedVerdict(source, request);
  ExplainRunnable(request.cpu, &verdict);
  return verdict;
}

ReportVerdict DescribeVerdict(const VerdictWindow& source, const SealRequest& request,
                              const Verdict& verdict, const std::string& place) {
  ReportVerdict out;
  CopyShares(verdict, &out);
  Culprit culprit;
  culprit.function = place;
  const int32_t owner = LockOwner(verdict);
  if (owner != 0) DescribeOwner(source, request, owner, &out, &culprit);
  if (source.kernel != nullptr && out.runnable_ns != 0) {
    culprit.rivals =
        RivalsOf(*source.kernel, request.tid, source.clock.MonotonicToBoottimeNs(request.begin_ns),
                 source.clock.MonotonicToBoottimeNs(request.end_ns));
  }
  out.summary = VerdictSentence(verdict, culprit);
  return out;
}

}  // namespace jankbox
