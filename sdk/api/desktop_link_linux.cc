#include "base/last_error.h"
#include "sdk/api/desktop_link.h"

namespace jankbox {

Result<Options> OptionsOfAllChannels(const jankbox_options* fields) {
  OptionLayers layers;
  layers.TakeEntries("JANKBOX_RUN_OPTIONS", Variable("JANKBOX_RUN_OPTIONS"), &layers.pinned,
                     &layers.suggested);
  layers.TakeEnvironment();
  if (!layers.ignored.empty()) SetLastError(layers.ignored);
  return ValidateOptions(fields, layers);
}

bool DesktopMayAsk() { return false; }

std::optional<DesktopAsk> PollDesktop(bool) { return std::nullopt; }

}  // namespace jankbox
