// The thresholds that hold while Jankbox records: those of the start, those that jankbox_configure
// and the config file change (the later one wins), and above both those that a developer pinned.
// Pure; allocates for messages. Threads: one.
#ifndef JANKBOX_SDK_API_THRESHOLD_LAYERS_H_
#define JANKBOX_SDK_API_THRESHOLD_LAYERS_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "jankbox/jankbox.h"
#include "sdk/api/options.h"
#include "tracer/snapshot/snapshot_input.h"

namespace jankbox {

// "slow_message_ms, anr_ms, …", for messages.
std::string ThresholdNames();

class ThresholdLayers {
 public:
  explicit ThresholdLayers(const Options& options);

  // Changes the thresholds that `given` sets. kInvalidArgument names the first field that is out of
  // its range or cannot change while Jankbox records; nothing is changed then.
  Status Configure(const jankbox_options& given);

  // All that the developer asks for now; a threshold that is unset is no longer pinned.
  void Pin(const jankbox_options& asked) { pinned_ = asked; }

  Thresholds Now() const { return ThresholdsOf(values()); }
  // The same for the trace of a report: by the names of the options, in their units and order.
  std::vector<SnapshotFact> Facts() const;
  jankbox_options values() const;

 private:
  jankbox_options at_start_;
  jankbox_options configured_ = {};
  jankbox_options pinned_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_THRESHOLD_LAYERS_H_
