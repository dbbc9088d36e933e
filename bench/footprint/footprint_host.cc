// A small C++ program that may carry Jankbox: footprint_host [LIBRARY FOLDER]. Waits until all has
// settled and prints its own /proc/self/smaps, without allocating on the way.
#include <dlfcn.h>
#include <fcntl.h>
#include <jankbox/jankbox.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <locale>
#include <sstream>

namespace {

// Beyond the watcher's first seconds: the ring has grown, the clock is calibrated.
constexpr timespec kSettle = {2, 500'000'000};

// The C++ library as a program with a user interface has it in memory anyway.
void UseCxxLibrary() {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << 1.5 << " " << 42 << std::endl;
  if (text.str().empty()) std::cout << "never";
}

bool Start(const char* library, const char* folder) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) {
    fprintf(stderr, "%s\n", dlerror());
    return false;
  }
  auto* start = reinterpret_cast<decltype(&jankbox_start)>(dlsym(handle, "jankbox_start"));
  jankbox_options options{};
  options.size = sizeof(options);
  options.dir = folder;
  options.min_free_mib = UINT32_MAX;
  return start != nullptr && start(&options) == JANKBOX_OK;
}

}  // namespace

int main(int argc, char** argv) {
  UseCxxLibrary();
  if (argc == 3 && !Start(argv[1], argv[2])) return 1;
  nanosleep(&kSettle, nullptr);
  const int smaps = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
  char piece[4096];
  for (ssize_t n; (n = read(smaps, piece, sizeof(piece))) > 0;) {
    if (write(STDOUT_FILENO, piece, static_cast<size_t>(n)) != n) return 1;
  }
  return 0;
}
