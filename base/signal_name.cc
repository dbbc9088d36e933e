#include "base/signal_name.h"

#include <signal.h>

namespace jankbox {

std::string SignalName(int signal) {
  // Those that end a process. bionic and musl have no sigabbrev_np().
  static constexpr struct {
    int number;
    const char* name;
  } kNames[] = {{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
                {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
                {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
                {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
                {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
                {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGVTALRM, "SIGVTALRM"},
                {SIGPROF, "SIGPROF"}, {SIGIO, "SIGIO"},     {SIGSYS, "SIGSYS"}};
  for (const auto& known : kNames) {
    if (known.number == signal) return known.name;
  }
  return "signal " + std::to_string(signal);
}

}  // namespace jankbox
