#include "sdk/api/desktop_requests.h"

#include <utility>

#include "sdk/api/options.h"

namespace jankbox {
namespace {

bool Concerns(const PropertyValues& properties, std::string_view process) {
  const std::string_view app = properties.Get(kDesktopAppProperty);
  return app.empty() || app == process;
}

bool HaveSameThresholds(const jankbox_options& a, const jankbox_options& b) {
  for (const OptionRow& row : OptionRows()) {
    if (row.change == OptionChange::kAnyTime && a.*row.number != b.*row.number) return false;
  }
  return true;
}

}  // namespace

std::string DesktopProperty(const OptionRow& row) {
  return std::string(kDesktopPrefix).append(row.name);
}

void TakeDesktopOptions(const PropertyValues& properties, std::string_view process,
                        OptionLayers* layers) {
  if (!Concerns(properties, process)) return;
  for (const OptionRow& row : OptionRows()) {
    if (!row.IsForDeveloper()) continue;
    const std::string property = DesktopProperty(row);
    const std::string_view value = properties.Get(property);
    if (!value.empty()) layers->Take("property " + property, row.name, value, &layers->pinned);
  }
}

DesktopRequests::DesktopRequests(std::string process, const PropertyValues& now)
    : process_(std::move(process)),
      thresholds_(ThresholdsAsked(now)),
      snapshot_(SnapshotAsked(now)) {}

std::optional<DesktopAsk> DesktopRequests::Poll(const PropertyValues& now) {
  DesktopAsk ask;
  const jankbox_options asked = ThresholdsAsked(now);
  if (!HaveSameThresholds(asked, thresholds_)) ask.thresholds = asked;
  thresholds_ = asked;
  const std::string_view snapshot = SnapshotAsked(now);
  if (snapshot != snapshot_) {
    snapshot_ = snapshot;
    if (!snapshot.empty()) ask.snapshot = std::string(kDesktopSnapshotReason).append(snapshot);
  }
  if (ask.thresholds.size == 0 && ask.snapshot.empty()) return std::nullopt;
  return ask;
}

// A value that makes no sense is as if it were not there.
jankbox_options DesktopRequests::ThresholdsAsked(const PropertyValues& properties) const {
  OptionLayers layers;
  TakeDesktopOptions(properties, process_, &layers);
  return OnlyThresholds(layers.pinned.values());
}

std::string_view DesktopRequests::SnapshotAsked(const PropertyValues& properties) const {
  if (!Concerns(properties, process_)) return {};
  return properties.Get(kDesktopSnapshotProperty);
}

}  // namespace jankbox
