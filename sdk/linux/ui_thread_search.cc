#include "sdk/linux/ui_thread_search.h"

#include <sys/prctl.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sdk/runtime/run_socket.h"

namespace jankbox {
namespace {

char g_run_socket[sizeof(sockaddr_un::sun_path)] = "";

// On the thread that was found; NO-ALLOC.
void TellRun(const char* sign) {
  if (g_run_socket[0] == '\0') return;
  char name[16] = {};
  char text[96];
  prctl(PR_GET_NAME, name, 0, 0, 0);
  for (char& byte : name) byte = byte == '\t' ? ' ' : byte;
  snprintf(text, sizeof(text), "recognised: %d\t%s\t%s", getpid(), name, sign);
  SendToRun(g_run_socket, text);
}

}  // namespace

void UiThreadSearch::Begin(const char* run_socket) {
  if (run_socket != nullptr && strlen(run_socket) < sizeof(g_run_socket)) {
    memcpy(g_run_socket, run_socket, strlen(run_socket) + 1);
  }
  searches_.store(true, std::memory_order_relaxed);
}

void UiThreadSearch::Look(const WaitCall& call) {
  const char* sign = t_signs_.Look(call, WatchedLoops::Main(), MonotonicNs());
  if (sign == nullptr || !searches_.exchange(false)) return;
  if (!WatchedLoops::WatchThisThread()) return;
  found_.store(WatchedLoops::OfThisThread(), std::memory_order_release);
  const int saved_errno = errno;
  TellRun(sign);
  errno = saved_errno;
}

}  // namespace jankbox
