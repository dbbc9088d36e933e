#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "base/kept_fd.h"
#include "tracer/ftrace/switch_source.h"

namespace jankbox {
namespace {

constexpr size_t kRingBytes = 64 << 10;  // 32 bytes a switch; counted against perf_event_mlock_kb

// A PERF_RECORD_SWITCH with sample_id: TID, TIME.
struct SwitchRecord {
  perf_event_header header;
  uint32_t pid;
  uint32_t tid;
  uint64_t time_ns;
};

perf_event_attr Attributes() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.sample_id_all = 1;
  attributes.context_switch = 1;
  attributes.write_backward = 1;  // the newest is found first: the ring may be overwritten
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

// perf stamps with the kernel's own CLOCK_MONOTONIC; a time namespace moves the process's.
uint64_t MonotonicOffsetNs() {
  const std::string offsets = ReadProcFile("/proc/self/timens_offsets", 256);
  const size_t at = offsets.find("monotonic");
  int64_t seconds = 0, ns = 0;
  if (at == std::string::npos ||
      sscanf(offsets.c_str() + at, "monotonic %" SCNd64 " %" SCNd64, &seconds, &ns) != 2) {
    return 0;
  }
  return static_cast<uint64_t>(seconds * static_cast<int64_t>(kNsPerSecond) + ns);
}

class LinuxSwitchSource final : public SwitchSource {
 public:
  LinuxSwitchSource(int32_t tid, ScopedFd event) : tid_(tid), event_(std::move(event)) {}
  ~LinuxSwitchSource() override {
    if (mapped_ != MAP_FAILED) munmap(mapped_, page_bytes_ + kRingBytes);
  }

  Status Map() {
    page_bytes_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = mmap(nullptr, page_bytes_ + kRingBytes, PROT_READ, MAP_SHARED, event_.get(), 0);
    return mapped_ != MAP_FAILED ? Status::Ok() : Status::FromErrno(errno, "mmap of perf's ring");
  }

  int32_t tid() const override { return tid_; }

  std::vector<OwnSwitch> Read() override {
    Pause(1);
    std::vector<OwnSwitch> switches = Copy();
    Pause(0);
    std::reverse(switches.begin(), switches.end());
    return switches;
  }

 private:
  void Pause(int on) {
    if (event_.IsOfThisThread()) ioctl(event_.get(), PERF_EVENT_IOC_PAUSE_OUTPUT, on);
  }

  // Newest first.
  std::vector<OwnSwitch> Copy() const {
    std::vector<OwnSwitch> switches;
    auto* page = static_cast<perf_event_mmap_page*>(mapped_);
    const uint64_t head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
    const uint64_t offset_ns = MonotonicOffsetNs();
    size_t size = 0;
    for (size_t done = 0; done + sizeof(SwitchRecord) <= kRingBytes; done += size) {
      SwitchRecord record;
      CopyOut(head + done, &record);
      size = record.header.size;
      if (size < sizeof(record.header)) break;  // never written
      if (record.header.type != PERF_RECORD_SWITCH || size < sizeof(record)) continue;
      const uint16_t flags = record.header.misc;
      switches.push_back({record.time_ns + offset_ns, (flags & PERF_RECORD_MISC_SWITCH_OUT) != 0,
                          (flags & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0});
    }
    return switches;
  }

  void CopyOut(uint64_t position, SwitchRecord* record) const {
    const char* ring = static_cast<const char*>(mapped_) + page_bytes_;
    const size_t at = position % kRingBytes;
    const size_t first = std::min(sizeof(*record), kRingBytes - at);
    memcpy(record, ring + at, first);
    memcpy(reinterpret_cast<char*>(record) + first, ring, sizeof(*record) - first);
  }

  const int32_t tid_;
  KeptFd event_;
  void* mapped_ = MAP_FAILED;
  size_t page_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<SwitchSource>> SwitchSource::Open(int32_t tid) {
  perf_event_attr attributes = Attributes();
  ScopedFd event(static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event.valid()) return Status::FromErrno(errno, "perf_event_open");
  auto source = std::make_unique<LinuxSwitchSource>(tid, std::move(event));
  Status mapped = source->Map();
  if (!mapped.ok()) return mapped;
  return std::unique_ptr<SwitchSource>(std::move(source));
}

}  // namespace jankbox
