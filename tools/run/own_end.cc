#include "tools/run/own_end.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jankbox::tools {

int EndBySignal(int signal) {
  const rlimit no_core{0, 0};  // the program has left its own
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  kill(getpid(), signal);
  return 128 + signal;  // as a shell reports it
}

int EndLike(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EndBySignal(WTERMSIG(wait_status));
}

}  // namespace jankbox::tools
