#include "sdk/runtime/run_channel.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/log.h"
#include "sdk/runtime/run_socket.h"
#include "tracer/ftrace/private_instance.h"
#include "tracer/ring/process_identity.h"

namespace jankbox {
namespace {

// Empty if no command listens.
const std::string& SocketName() {
  static const auto* name = [] {
    const char* text = getenv("JANKBOX_RUN_SOCKET");
    return new std::string(text != nullptr ? text : "");
  }();
  return *name;
}

}  // namespace

void UseRunChannel() {
  if (SocketName().empty()) return;
  PrivateInstance::SetRemover(
      [](const std::string& name) { return SendToRun(SocketName(), "instance: " + name); });
  SetLogSink([](std::string_view text) { SendToRun(SocketName(), "error: " + std::string(text)); });
}

void TellRun(const WatchedLoopNote& note) {
  if (SocketName().empty()) return;
  SendToRun(SocketName(), "watched: " + WatchedText(getpid(), CurrentProcessName(), note));
}

void TellRunOfCounted(uint64_t incidents) {
  if (SocketName().empty()) return;
  SendToRun(SocketName(),
            "counted: " + std::to_string(getpid()) + "\t" + std::to_string(incidents));
}

std::string WatchedText(int pid, const std::string& process, const WatchedLoopNote& note) {
  std::string text = std::to_string(pid) + "\t" + std::to_string(note.index) + "\t" +
                     (note.ended ? "1" : "0") + "\t" + std::to_string(note.messages);
  for (const std::string& name : {note.loop, note.thread, process}) {
    text += '\t';
    for (const char byte : name) text += byte == '\t' ? ' ' : byte;
  }
  return text;
}

}  // namespace jankbox
