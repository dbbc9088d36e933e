#include "sdk/api/threshold_layers.h"

#include <utility>

namespace jankbox {

std::string ThresholdNames() {
  std::string names;
  for (const OptionRow& row : OptionRows()) {
    if (row.change != OptionChange::kAnyTime) continue;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

ThresholdLayers::ThresholdLayers(const Options& options)
    : at_start_(options.unpinned_thresholds), pinned_(options.pinned_thresholds) {}

Status ThresholdLayers::Configure(const jankbox_options& given) {
  jankbox_options configured = configured_;
  for (const OptionRow& row : OptionRows()) {
    if (!row.IsSetIn(given)) continue;
    if (row.change != OptionChange::kAnyTime) {
      return Status(
          StatusCode::kInvalidArgument,
          row.name + (" cannot change while Jankbox records; these can: " + ThresholdNames()));
    }
    const Status valid = row.Check(given);
    if (!valid.ok()) return valid;
    row.Copy(given, &configured);
  }
  configured_ = configured;
  return Status::Ok();
}

std::vector<SnapshotFact> ThresholdLayers::Facts() const {
  const jankbox_options now = OrderedThresholds(values());
  std::vector<SnapshotFact> facts;
  for (const OptionRow& row : OptionRows()) {
    if (row.change != OptionChange::kAnyTime) continue;
    SnapshotFact fact{.group = "thresholds", .name = row.name};
    if (now.*row.number == UINT32_MAX) {
      fact.text = "none";
    } else {
      fact.kind = SnapshotFact::Kind::kNumber;
      fact.value = now.*row.number;
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

jankbox_options ThresholdLayers::values() const {
  jankbox_options values = at_start_;
  for (const OptionRow& row : OptionRows()) {
    if (row.change != OptionChange::kAnyTime) continue;
    if (row.IsSetIn(configured_)) row.Copy(configured_, &values);
    if (row.IsSetIn(pinned_)) row.Copy(pinned_, &values);
  }
  return values;
}

}  // namespace jankbox
