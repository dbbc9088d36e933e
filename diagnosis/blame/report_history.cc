#include "diagnosis/blame/report_history.h"

#include <algorithm>
#include <utility>

#include "diagnosis/blame/idle_lag.h"
#include "diagnosis/blame/message_history.h"

namespace jankbox {

ReportHistory HistoryBefore(const RingWindow& window, int32_t tid, uint64_t incident_ticks,
                            const TickConverter& clock, uint32_t max_messages) {
  MessageHistory history =
      ReadMessageHistory(window, tid, incident_ticks, clock.ns_per_tick(), max_messages);
  const auto ns = [&clock](uint64_t ticks) {
    return static_cast<uint64_t>(static_cast<double>(ticks) * clock.ns_per_tick());
  };
  const auto convert = [&](const std::vector<LoopMessage>& messages) {
    std::vector<ReportLoopMessage> converted;
    for (const LoopMessage& message : messages) {
      const uint64_t before = incident_ticks - std::min(incident_ticks, message.begin_ticks);
      converted.push_back({message.name, ns(before), ns(message.wall_ticks), message.count});
    }
    return converted;
  };
  ReportHistory report;
  if (history.count == 0) return report;
  report.from_ns = clock.ToBoottimeNs(history.from_ticks);
  report.count = history.count;
  report.busy_ns = ns(history.busy_ticks);
  report.left_out = history.left_out;
  report.names = std::move(history.names);
  report.longest = convert(history.longest);
  report.last = convert(history.last);
  return report;
}

void SetIdleCallback(const RingWindow& window, int32_t tid, uint64_t begin_ticks,
                     uint64_t end_ticks, const TickConverter& clock, Report* report) {
  constexpr uint64_t kIdleLagNs = 2 * kNsPerSecond;  // as Matrix
  const auto least = static_cast<uint64_t>(static_cast<double>(kIdleLagNs) / clock.ns_per_tick());
  IdleLag lag = LongestIdleCallback(window, tid, begin_ticks, end_ticks, least);
  if (lag.wall_ticks == 0) return;
  report->idle_callback = std::move(lag.what);
  report->idle_callback_ns =
      static_cast<uint64_t>(static_cast<double>(lag.wall_ticks) * clock.ns_per_tick());
}

}  // namespace jankbox
