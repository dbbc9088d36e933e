// The finding of a monitor: something on a watched thread took too long. The small interface
// between the monitors and monitors/incident/. Plain data; the watcher thread's.
#ifndef JANKBOX_MONITORS_INCIDENT_SIGNAL_H_
#define JANKBOX_MONITORS_INCIDENT_SIGNAL_H_

#include <cstdint>
#include <string>

namespace jankbox {

// In order of severity: an incident that grows takes the highest.
enum class SignalKind { kInputLatency, kJank, kSlowMessage, kLag, kAnr };

struct Signal {
  SignalKind kind = SignalKind::kSlowMessage;
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;    // 0: still going on
  std::string what;
  uint64_t dropped_frames = 0;     // kJank
  uint64_t frame_interval_ns = 0;  // kJank
};

class SignalSink {
 public:
  virtual ~SignalSink() = default;
  virtual void OnSignal(const Signal& signal) = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_SIGNAL_H_
