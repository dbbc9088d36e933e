#include "sdk/runtime/slow_methods.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/uuid.h"
#include "diagnosis/verdict/held_notes.h"
#include "monitors/method/event_wait.h"
#include "sdk/api/foreground.h"

namespace jankbox {
namespace {

// How late the start of a call may be seen, as that of a dispatch.
constexpr uint64_t kPollNs = 50 * kNsPerMs;
// Calls of threads that are not watched are passed over for as long: most end by then.
constexpr uint64_t kWorkerCallNs = 40 * kNsPerMs;
// A call that takes longer is not sampled any more: it may never end.
constexpr uint64_t kLongCallNs = 10 * kNsPerSecond;
// A follower is kept for as long: the next call may come soon.
constexpr uint64_t kKeptNs = kNsPerSecond;

}  // namespace

SlowMethods::SlowMethods(const Options& options, const RingFile* ring, Refusals* refusals,
                         Seal seal, NewSource new_source)
    : options_(options),
      seal_(std::move(seal)),
      new_source_(
          new_source != nullptr
              ? std::move(new_source)
              : [pid = ring->header()->pid](int32_t tid) { return NewLiveThreadSource(pid, tid); }),
      reader_(ring->base(), ring->bytes()),
      finder_(&reader_, &holds_, refusals) {
  SetThresholds(options);
}

void SlowMethods::SetThresholds(const Thresholds& thresholds) {
  static_cast<Thresholds&>(options_) = thresholds;
  finder_.SetRules(options_.slow_method_ns, options_.slow_methods_of_all);
}

void SlowMethods::NoteHolds(std::span<const Hold> holds) {
  for (const Hold& hold : holds) holds_.Add(hold);
}

void SlowMethods::Poll(uint64_t now_ns, const TickConverter& clock) {
  clock_ = clock;
  finder_.Poll(now_ns, clock);
  // None can be called before the first one is registered, which wakes the watcher.
  const bool any = reader_.header().names_bytes.load(std::memory_order_relaxed) != 0;
  next_ns_ = kNoTimeout;
  if (options_.slow_method_ns != 0 && any)
    next_ns_ = std::min(options_.slow_method_ns / 2, kPollNs);
  SealFound(now_ns);
  FollowSuspects(now_ns);
}

void SlowMethods::SealFound(uint64_t now_ns) {
  for (const SlowMethod& method : finder_.TakeFound()) {
    SealRequest request = RequestOf(method);
    const auto follower = followers_.find(method.thread_serial);
    if (follower != followers_.end()) {
      follower->second->Read(now_ns);
      follower->second->Sample(now_ns, /*overdue=*/false, clock_);
      follower->second->Describe(&request);
    }
    seal_(std::move(request));
  }
}

SealRequest SlowMethods::RequestOf(const SlowMethod& method) const {
  SealRequest request;
  request.id = NewUuid(RealtimeNs() / kNsPerMs);
  request.kind = ReportKind::kSlowMethod;
  request.begin_ns = clock_.ToMonotonicNs(method.call.begin_ticks);
  request.end_ns = clock_.ToMonotonicNs(method.call.end_ticks);
  request.method =
      SealRequest::Method{method.call.id, method.call.begin_ticks, method.call.end_ticks};
  request.tid = method.tid;
  request.watched_index = kMaxWatchedThreads;
  request.background = InFrontNs(request.end_ns) == 0;
  const HeldTime held = holds_.Within(request.begin_ns, request.end_ns);
  request.held_ns = held.held_ns();
  holds_.EachFree(request.begin_ns, request.end_ns, [&](uint64_t from, uint64_t to) {
    request.free.push_back({from, to});
  });
  for (std::string& note : HeldNotes(held)) request.notes.push_back(std::move(note));
  return request;
}

void SlowMethods::FollowSuspects(uint64_t now_ns) {
  std::vector<SuspectMethod> suspects = finder_.Suspects();
  std::erase_if(suspects, [&](const SuspectMethod& suspect) {
    const uint64_t begin_ns = clock_.ToMonotonicNs(suspect.call.begin_ticks);
    const bool young = now_ns < begin_ns + kWorkerCallNs;
    return !suspect.watched && (young || suspect.call.outermost);
  });
  active_ = !suspects.empty();
  LetGo(suspects, now_ns);
  for (const SuspectMethod& suspect : suspects) FollowSuspect(suspect, now_ns);
}

void SlowMethods::LetGo(std::span<const SuspectMethod> suspects, uint64_t now_ns) {
  std::erase_if(followers_, [&](const auto& entry) {
    const auto& [serial, follower] = entry;
    const bool suspect = std::any_of(
        suspects.begin(), suspects.end(),
        [serial = serial](const SuspectMethod& one) { return one.thread_serial == serial; });
    if (!suspect) follower->Sample(now_ns, /*overdue=*/false, clock_);
    return !suspect && now_ns > follower->read_ns() + kKeptNs;
  });
}

MethodFollower* SlowMethods::FollowerOf(const SuspectMethod& suspect) {
  const auto known = followers_.find(suspect.thread_serial);
  if (known != followers_.end()) return known->second.get();
  if (followers_.size() >= kMaxFollowers) return nullptr;
  const StackSampler::Options sampling = {
      .interval_ms = options_.sample_interval_ms,
      .mode = suspect.watched ? options_.sampler_mode : WithoutSignals(options_.sampler_mode)};
  return followers_
      .emplace(suspect.thread_serial,
               std::make_unique<MethodFollower>(suspect.tid, sampling, new_source_(suspect.tid)))
      .first->second.get();
}

void SlowMethods::FollowSuspect(const SuspectMethod& suspect, uint64_t now_ns) {
  MethodFollower* follower = FollowerOf(suspect);
  if (follower == nullptr) return;
  const uint64_t begin_ns = std::min(clock_.ToMonotonicNs(suspect.call.begin_ticks), now_ns);
  const uint64_t age_ns = now_ns - begin_ns;
  const uint64_t own_ns = age_ns - std::min(age_ns, holds_.Within(begin_ns, now_ns).held_ns());
  const uint64_t overdue_ns = options_.slow_method_ns / 2;
  const ThreadReading& reading = follower->Read(now_ns);
  const bool ruled_out = reading.state == 't' || WaitsForAnEvent(reading, suspect.watched);
  if (ruled_out) finder_.RuleOut(suspect.thread_serial);
  const bool overdue = !ruled_out && own_ns >= overdue_ns && age_ns < kLongCallNs;
  follower->Sample(now_ns, overdue, clock_);
  if (overdue) {
    next_ns_ = std::min(next_ns_, options_.sample_interval_ms * kNsPerMs);
  } else if (own_ns < overdue_ns) {
    next_ns_ = std::min(next_ns_, std::max(overdue_ns - own_ns, kNsPerMs));
  }
}

void SlowMethods::Finish(uint64_t now_ns, const TickConverter& clock, bool process_exits) {
  clock_ = clock;
  finder_.Poll(now_ns, clock);
  finder_.Finish(process_exits);
  SealFound(now_ns);
  followers_.clear();
}

}  // namespace jankbox
