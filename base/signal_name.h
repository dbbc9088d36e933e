// The names of signals, the same on every system. THREAD-SAFE.
#ifndef JANKBOX_BASE_SIGNAL_NAME_H_
#define JANKBOX_BASE_SIGNAL_NAME_H_

#include <string>

namespace jankbox {

// "SIGSEGV"; "signal 35" for one without a name.
std::string SignalName(int signal);

}  // namespace jankbox

#endif  // JANKBOX_BASE_SIGNAL_NAME_H_
