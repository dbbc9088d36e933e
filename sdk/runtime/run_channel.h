// Under `jankbox run` the recorder's warnings go to that command, as datagrams "error: <text>" to
// the abstract socket that $JANKBOX_RUN_SOCKET names, so that the program's own output stays as it
// is and a whole process tree tells an error once.
#ifndef JANKBOX_SDK_RUNTIME_RUN_CHANNEL_H_
#define JANKBOX_SDK_RUNTIME_RUN_CHANNEL_H_

namespace jankbox {

// Sends the log to `jankbox run` where there is one. Called before anything is logged; once.
void SendLogToRun();

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_RUN_CHANNEL_H_
