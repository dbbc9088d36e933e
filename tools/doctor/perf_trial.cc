#include "tools/doctor/perf_trial.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "base/clock.h"
#include "base/scoped_fd.h"

namespace jankbox::tools {
namespace {

constexpr size_t kRingPages = 64;
constexpr uint64_t kBurnNs = 30 * kNsPerMs;
constexpr uint32_t kStackBytes = 16384;

#if defined(__x86_64__)
constexpr uint64_t kRegisters = 1ull << PERF_REG_X86_SP | 1ull << PERF_REG_X86_IP;
#elif defined(__aarch64__)
constexpr uint64_t kRegisters = 1ull << PERF_REG_ARM64_SP | 1ull << PERF_REG_ARM64_PC;
#else
constexpr uint64_t kRegisters = 1;
#endif

perf_event_attr Attributes() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = kNsPerMs;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = kRegisters;
  attr.sample_stack_user = kStackBytes;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.disabled = 1;
  return attr;
}

// Samples in the kernel are excluded: the loop must hardly enter it.
void BurnInUserMode() {
  const uint64_t end = MonotonicNs() + kBurnNs;
  volatile uint64_t sink = 0;
  while (MonotonicNs() < end) {
    for (int i = 0; i < 20'000; ++i) sink = sink + static_cast<uint64_t>(i);
  }
}

// The ring's size is a power of two and the kernel's records are aligned to 8 bytes, so a header
// never wraps.
int CountSamples(const perf_event_mmap_page* page, const char* records, size_t ring_bytes) {
  const uint64_t head = page->data_head;
  std::atomic_thread_fence(
      std::memory_order_acquire);  // pairs with the kernel's store of data_head
  int samples = 0;
  for (uint64_t at = 0; at + sizeof(perf_event_header) <= head && at < ring_bytes;) {
    const auto* header = reinterpret_cast<const perf_event_header*>(records + at);
    if (header->size < sizeof(perf_event_header)) break;
    if (header->type == PERF_RECORD_SAMPLE) ++samples;
    at += header->size;
  }
  return samples;
}

}  // namespace

Result<int> TryPerfSampling() {
  perf_event_attr attr = Attributes();
  const ScopedFd fd(
      static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd.valid()) return Status::FromErrno(errno, "perf_event_open");
  const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t ring_bytes = kRingPages * page_bytes;
  void* ring =
      mmap(nullptr, ring_bytes + page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (ring == MAP_FAILED) return Status::FromErrno(errno, "mmap of the perf ring");
  ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0);
  BurnInUserMode();
  ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
  const int samples = CountSamples(static_cast<const perf_event_mmap_page*>(ring),
                                   static_cast<const char*>(ring) + page_bytes, ring_bytes);
  munmap(ring, ring_bytes + page_bytes);
  return samples;
}

}  // namespace jankbox::tools
