#include "diagnosis/seal/process_end.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <iterator>

#include "base/clock.h"
#include "base/signal_name.h"
#include "monitors/incident/oom_kills.h"
#include "tracer/ring/process_identity.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

constexpr char kLowMemory[] = "low memory";
// The last sign of life is this old at most, unless the process got no CPU.
uint64_t MaxSilenceNs(const RingHeader& header) {
  const bool busy =
      std::any_of(std::begin(header.watched), std::end(header.watched), [](const auto& thread) {
        return thread.dispatch_begin_ticks.load(std::memory_order_relaxed) != 0;
      });
  return (busy ? 0 : kMaxHeartbeatGapNs) + 1500 * kNsPerMs;
}

// Low-memory kills in the process's cgroup since the last sign of life.
uint64_t OomKillsSince(const RingHeader& header, const EndFacts& facts) {
  const uint64_t noted = header.oom_kills.load(std::memory_order_acquire);
  if (noted == 0 || !facts.oom_kills || *facts.oom_kills < noted - 1) return 0;
  return *facts.oom_kills - (noted - 1);
}

ProcessEnd EndOfStatus(const RingHeader& header, const EndFacts& facts) {
  const int status = *facts.wait_status;
  if (!WIFSIGNALED(status)) {
    return {"exit status " + std::to_string(WEXITSTATUS(status)), "wait status", true};
  }
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL && OomKillsSince(header, facts) != 0) {
    return {kLowMemory, "wait status, oom_kill of the cgroup", false};
  }
  return {SignalName(signal), "wait status", IsRequestToEnd(signal)};
}

// A process in the background may be killed at any time; a crash is one there, too.
bool IsBackgroundKill(const RingHeader& header, const std::string& reason) {
  const uint32_t front = header.foreground.load(std::memory_order_relaxed);
  return front == static_cast<uint32_t>(RingForeground::kBackground) &&
         (reason == kUnknownEnd || reason == kLowMemory || reason == SignalName(SIGKILL));
}

ProcessEnd EndOfHeader(const RingHeader& header, const EndFacts& facts) {
  const auto call = static_cast<RingEndCall>(header.end_call.load(std::memory_order_acquire));
  const int signal = static_cast<int>(header.end_signal.load(std::memory_order_relaxed));
  if (facts.note_is_fresh && call == RingEndCall::kAbort) {
    return {SignalName(SIGABRT), "abort()", false};
  }
  if (facts.note_is_fresh && call == RingEndCall::kRaise) {
    return {SignalName(signal), "raise()", IsRequestToEnd(signal)};
  }
  // Which process of the cgroup was killed the count does not say.
  const uint64_t kills = OomKillsSince(header, facts);
  if (facts.asked_to_end && kills == 0) {
    return {kUnknownEnd, "the program that started it was asked to end", true};
  }
  return {kUnknownEnd, kills == 0 ? "" : "oom_kill of the cgroup rose by " + std::to_string(kills),
          false};
}

}  // namespace

bool IsRequestToEnd(int signal) {
  return signal == SIGTERM || signal == SIGHUP || signal == SIGINT;
}

EndFacts FactsOfEnd(const RingHeader& header, const TickConverter& clock,
                    const std::optional<ChildEnd>& child) {
  EndFacts facts;
  facts.same_boot = HeaderText(header.boot_id, sizeof(header.boot_id)) == CurrentProcess().boot_id;
  if (child && child->pid == header.pid) facts.wait_status = child->wait_status;
  const std::string file = HeaderText(header.oom_file, sizeof(header.oom_file));
  if (!file.empty() && facts.same_boot) facts.oom_kills = ReadOomKills(file);
  const uint64_t called = header.end_call_ticks.load(std::memory_order_relaxed);
  const uint64_t alive = header.heartbeat_ticks.load(std::memory_order_relaxed);
  const double later_ns =
      alive > called ? static_cast<double>(alive - called) * clock.ns_per_tick() : 0;
  facts.note_is_fresh = later_ns < static_cast<double>(kNsPerSecond);
  facts.asked_to_end = child && child->asked_ns != 0 &&
                       clock.ToMonotonicNs(alive) + MaxSilenceNs(header) >= child->asked_ns;
  return facts;
}

ProcessEnd JudgeEnd(const RingHeader& header, const EndFacts& facts) {
  ProcessEnd end;
  if (!facts.same_boot) {
    end = {"machine stopped", "boot id", true};
  } else if (facts.wait_status) {
    end = EndOfStatus(header, facts);
  } else {
    end = EndOfHeader(header, facts);
  }
  end.expected = end.expected || IsBackgroundKill(header, end.reason);
  return end;
}

}  // namespace jankbox
