#include "base/signal_name.h"

#include <signal.h>

#include <cstdint>

namespace jankbox {

std::string SignalName(int signal) {
  // Those that end a process. bionic and musl have no sigabbrev_np(). No pointers: nothing of it is
  // relocated when the library is loaded.
  static constexpr struct {
    uint8_t number;
    char name[7];
  } kNames[] = {{SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"},     {SIGILL, "ILL"},
                {SIGTRAP, "TRAP"}, {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},       {SIGFPE, "FPE"},
                {SIGKILL, "KILL"}, {SIGUSR1, "USR1"}, {SIGSEGV, "SEGV"},     {SIGUSR2, "USR2"},
                {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"}, {SIGTERM, "TERM"},     {SIGXCPU, "XCPU"},
                {SIGXFSZ, "XFSZ"}, {SIGPROF, "PROF"}, {SIGVTALRM, "VTALRM"}, {SIGIO, "IO"},
                {SIGSYS, "SYS"}};
  for (const auto& known : kNames) {
    if (known.number == signal) return std::string("SIG").append(known.name);
  }
  return std::string("signal ").append(std::to_string(signal));
}

}  // namespace jankbox
