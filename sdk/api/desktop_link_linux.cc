#include "sdk/api/desktop_link.h"

namespace jankbox {

Result<Options> ValidateOptionsWithDesktop(const jankbox_options* options) {
  return ValidateOptions(options);
}

std::optional<DesktopAsk> LookAtDesktop(const Thresholds&, bool) { return std::nullopt; }

}  // namespace jankbox
