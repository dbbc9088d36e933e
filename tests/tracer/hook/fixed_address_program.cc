// A program that is linked at fixed addresses and takes the address of an import: its PLT entry
// then is the function for everybody. Hooking must not call in a circle. Exit code 0: all calls
// arrived.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>

#include "tracer/hook/got_hooks.h"

namespace {

jankbox::OriginalFunction g_getppid;
int g_depth, g_max_depth, g_calls;

pid_t Proxy() {
  ++g_calls;
  if (++g_depth > g_max_depth) g_max_depth = g_depth;
  if (g_depth > 3) _exit(3);
  const pid_t parent = g_getppid.Get<decltype(::getppid)>()();
  --g_depth;
  return parent;
}

bool Check(bool right, const char* what) {
  if (!right) fprintf(stderr, "wrong: %s (calls %d, depth %d)\n", what, g_calls, g_max_depth);
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  pid_t (*volatile taken)() = &getppid;  // makes the PLT entry canonical
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) return 2;
  auto fixture = reinterpret_cast<pid_t (*)()>(dlsym(library, "fixture_getppid"));
  auto table = reinterpret_cast<pid_t (*)(int)>(dlsym(library, "fixture_table_getppid"));
  const jankbox::HookRequest request = {"getppid", nullptr, reinterpret_cast<void*>(&Proxy),
                                        &g_getppid};
  jankbox::GotHooks hooks;
  auto report = hooks.Install({&request, 1});
  const pid_t parent = taken();
  bool right = Check(report.ok() && report->hooked >= 3, "hooked");
  right &= Check(getppid() == parent && fixture() == parent, "calls");
  right &= Check(table(0) == parent && table(1) == parent, "calls through tables");
  right &= Check(g_calls >= 4 && g_max_depth == 1, "proxies");
  hooks.Uninstall();
  const int calls = g_calls;
  right &= Check(getppid() == parent && fixture() == parent && table(0) == parent, "afterwards");
  right &= Check(g_calls == calls, "unhooked");
  return right ? 0 : 1;
}
