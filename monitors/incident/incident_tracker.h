// One incident, one id: joins the signals of one watched thread that are about the same block, from
// a late frame to a slow message to an ANR, and says when a revision of it is to be sealed
// (decision 5). Pure logic over time that is passed in. Watcher thread.
#ifndef JANKBOX_MONITORS_INCIDENT_INCIDENT_TRACKER_H_
#define JANKBOX_MONITORS_INCIDENT_INCIDENT_TRACKER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "monitors/incident/signal.h"

namespace jankbox {

struct IncidentRevision {
  std::string id;
  uint32_t revision = 0;  // 0: not sealed yet
  SignalKind kind = SignalKind::kSlowMessage;
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;    // if `ongoing`, the moment it was judged at
  bool ongoing = false;
  std::string what;
  uint64_t dropped_frames = 0;
  uint64_t frame_interval_ns = 0;
  uint64_t input_wait_ns = 0;  // an input event waited so long for it; 0: none is known
};

class IncidentTracker final : public SignalSink {
 public:
  using NewId = std::function<std::string()>;
  using Seal = std::function<void(const IncidentRevision&)>;

  IncidentTracker(NewId new_id, Seal seal) : new_id_(std::move(new_id)), seal_(std::move(seal)) {}

  void OnSignal(const Signal& signal) override;

  // After the signals of one look at the thread: `running_begin_ns` is when its dispatch began, 0
  // if it waits. Late frames that no dispatch can still swallow become incidents of their own.
  // An incident whose end was missed (the thread lapped its notes) is sealed as ended at `now_ns`.
  void Settle(uint64_t now_ns, uint64_t running_begin_ns);

  // Another monitor found that [begin_ns, end_ns], in no dispatch, is an incident. Returns the late
  // frame that is part of it, if there is one; those that come later are no incidents either.
  std::optional<Signal> TakeLateFrame(uint64_t begin_ns, uint64_t end_ns);

  // The incident that is growing now.
  const std::optional<IncidentRevision>& open() const { return open_; }

 private:
  void OnJank(const Signal& signal);
  void OnLateInput(const Signal& signal);
  void SettleLateInput(uint64_t running_begin_ns);
  void Finish(uint64_t end_ns);
  void SealRevision(IncidentRevision* incident);

  NewId new_id_;
  Seal seal_;
  std::optional<IncidentRevision> open_;
  std::optional<Signal> late_frame_;  // the worst one that waits for its dispatch to end
  std::optional<Signal> late_input_;  // the same of input events
  uint64_t last_begin_ns_ = 0;        // of the incident that was finished last
  uint64_t last_end_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_INCIDENT_TRACKER_H_
