#include "diagnosis/verdict/waker_note.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "diagnosis/blame/blame.h"
#include "diagnosis/verdict/kernel_spans.h"

namespace jankbox {
namespace {

constexpr uint64_t kWorthANote = 5;                  // a fifth of the incident
constexpr uint64_t kBeforeTheWakeNs = 5 * kNsPerMs;  // what the waker did then, it did for this

// Of the threads of this process; on the kernel's clock.
std::optional<ThreadSpan> LongestWait(const KernelWindow& kernel, int32_t tid, uint64_t from_ns,
                                      uint64_t to_ns) {
  const ThreadSpan* longest = nullptr;
  const std::vector<ThreadSpan> spans = KernelSpans(kernel, tid, from_ns, to_ns);
  for (const ThreadSpan& span : spans) {
    if (span.state != ThreadSpan::State::kWaiting) continue;
    if (longest == nullptr || span.to_ns - span.from_ns > longest->to_ns - longest->from_ns) {
      longest = &span;
    }
  }
  if (longest == nullptr || longest->waker_tid == 0 || longest->to_ns >= to_ns) return std::nullopt;
  const std::vector<int32_t>& own = kernel.own_threads;
  const bool is_own = std::find(own.begin(), own.end(), longest->waker_tid) != own.end();
  return is_own ? std::optional(*longest) : std::nullopt;
}

// What thread `tid` was in when it woke the other, recorded or sampled.
std::string FunctionOf(const VerdictWindow& source, int32_t tid, uint64_t at_ticks) {
  const auto before_ticks =
      static_cast<uint64_t>(static_cast<double>(kBeforeTheWakeNs) / source.clock.ns_per_tick());
  const uint64_t from_ticks = at_ticks - std::min(at_ticks, before_ticks);
  std::vector<StackSample> samples = SamplesOf(*source.window, tid);
  std::erase_if(samples, [&](const StackSample& sample) {
    return sample.time_ns < from_ticks || sample.time_ns > at_ticks;
  });
  return FindBlame(*source.window, tid, from_ticks, at_ticks, samples, *source.frames,
                   *source.methods, source.clock.ns_per_tick())
      .place;
}

}  // namespace

std::string WakerNote(const VerdictWindow& source, const SealRequest& request) {
  if (source.kernel == nullptr || source.kernel->source != KernelWindow::Source::kFtrace) return "";
  const uint64_t offset_ns = source.clock.MonotonicToBoottimeNs(0);
  const std::optional<ThreadSpan> wait = LongestWait(
      *source.kernel, request.tid, request.begin_ns + offset_ns, request.end_ns + offset_ns);
  if (!wait) return "";
  const uint64_t waited_ns = wait->to_ns - wait->from_ns;
  if (waited_ns < (request.end_ns - request.begin_ns) / kWorthANote) return "";
  const uint64_t woken_ticks = source.clock.FromMonotonicNs(wait->to_ns - offset_ns);
  const std::string name = source.lives->NameAt(wait->waker_tid, woken_ticks);
  std::string note = "The longest wait, " + std::to_string(waited_ns / kNsPerMs) +
                     " ms, ended when thread " + (name.empty() ? "" : name + " ") + "[" +
                     std::to_string(wait->waker_tid) + "] woke it";
  const std::string function = FunctionOf(source, wait->waker_tid, woken_ticks);
  if (!function.empty()) note += ", in " + function;
  return note + ".";
}

}  // namespace jankbox
