// The developer's channel, which wins over all others: on Android system properties, which adb
// sets, read only if the app is debuggable or profileable (no port is opened, and a release build
// reads nothing); on Linux what `jankbox run` passes on from its command line.
#ifndef JANKBOX_SDK_API_DESKTOP_LINK_H_
#define JANKBOX_SDK_API_DESKTOP_LINK_H_

#include <optional>

#include "base/status.h"
#include "jankbox/jankbox.h"
#include "sdk/api/desktop_requests.h"
#include "sdk/api/options.h"

namespace jankbox {

// The options of a start: fields, environment and the developer's. Entries of the latter two that
// make no sense are reported by LastError() and passed over. The thread that starts.
Result<Options> OptionsOfAllChannels(const jankbox_options* fields);

// It may ask for something while the app runs, without waking the watcher.
bool DesktopMayAsk();

// What the desktop asks for since the last call; the first call after a start only takes note.
// Watcher thread, once a second if it may ask.
std::optional<DesktopAsk> PollDesktop(bool first);

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_DESKTOP_LINK_H_
