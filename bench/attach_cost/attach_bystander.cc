// A process that nobody watches: prints the first tenth of the CPU times of some system
// calls once a second.
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/clock.h"

namespace jankbox::bench {
namespace {

constexpr int kBatch = 2000;
constexpr int kBatches = 100;  // of each call, spread over a second

template <typename Call>
double OneBatch(Call call) {
  const uint64_t begin = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < kBatch; ++i) call();
  return static_cast<double>(ClockNs(CLOCK_THREAD_CPUTIME_ID) - begin) / kBatch;
}

// Other programs on the same core disturb the rest.
double FirstTenth(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 10];
}

void RunForEver() {
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  char bytes[64];
  for (;;) {
    std::vector<double> none, read_ns, poll_ns;
    for (int i = 0; i < kBatches; ++i) {
      none.push_back(OneBatch([] { syscall(SYS_getppid); }));
      read_ns.push_back(OneBatch([&] { (void)!read(zero, bytes, sizeof(bytes)); }));
      poll_ns.push_back(OneBatch([] { poll(nullptr, 0, 0); }));
      usleep(8000);
    }
    printf("getppid %.2f read %.2f poll %.2f\n", FirstTenth(none), FirstTenth(read_ns),
           FirstTenth(poll_ns));
    if (fflush(stdout) != 0) return;
  }
}

}  // namespace
}  // namespace jankbox::bench

int main() { jankbox::bench::RunForEver(); }
