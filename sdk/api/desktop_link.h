// The wire to a developer's desktop: Android's system properties, which adb sets. Read only where
// the app is debuggable or profileable: no port is opened, and a release build reads nothing. Linux
// has no such wire (`jankbox run` has the environment).
#ifndef JANKBOX_SDK_API_DESKTOP_LINK_H_
#define JANKBOX_SDK_API_DESKTOP_LINK_H_

#include <optional>

#include "base/status.h"
#include "jankbox/jankbox.h"
#include "sdk/api/desktop_requests.h"
#include "sdk/api/options.h"

namespace jankbox {

// ValidateOptions(), with what the desktop asks for in place of what the app gave. Properties that
// make no sense are told by LastError() and passed over. The thread that starts.
Result<Options> ValidateOptionsWithDesktop(const jankbox_options* options);

// What the desktop asks for since the last call; the first call after a start only looks.
// `at_start`: as validated. Watcher thread, once a second.
std::optional<DesktopAsk> LookAtDesktop(const Thresholds& at_start, bool first);

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_DESKTOP_LINK_H_
