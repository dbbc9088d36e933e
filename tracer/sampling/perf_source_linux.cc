#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/kept_fd.h"
#include "tracer/sampling/perf_ring.h"
#include "tracer/sampling/perf_source.h"

namespace jankbox {

namespace {

constexpr uint32_t kStackBytes = 65528;  // the most that a record takes: 16 bits, a multiple of 8
constexpr size_t kLargestRing = 512 * 1024;
constexpr size_t kSmallestRing = 128 * 1024;  // a record and room for the next

perf_event_attr Attributes(bool exclude_kernel) {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = 5 * kNsPerMs;  // until Enable()
  attributes.sample_type =
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attributes.sample_regs_user = machine::kPerfRegisterMask;
  attributes.sample_stack_user = kStackBytes;
  attributes.disabled = 1;
  attributes.exclude_kernel = exclude_kernel ? 1 : 0;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return attributes;
}

int OpenEvent(int tid, bool exclude_kernel) {
  perf_event_attr attributes = Attributes(exclude_kernel);
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

class LinuxPerfSource final : public PerfSource {
 public:
  LinuxPerfSource(ScopedFd event, bool sees_kernel)
      : event_(std::move(event)), sees_kernel_(sees_kernel) {}

  Status Map() { return ring_.Map(event_.get(), kLargestRing, kSmallestRing); }
  void Enable(uint64_t interval_ns) override;
  void Disable() override { ioctl(event_.get(), PERF_EVENT_IOC_DISABLE, 0); }
  bool Next(PerfSample* sample) override;
  uint64_t TakeLost() override;
  bool sees_kernel() const override { return sees_kernel_; }

 private:
  KeptFd event_;
  bool sees_kernel_;
  PerfRing ring_;
  uint64_t lost_ = 0;
};

void LinuxPerfSource::Enable(uint64_t interval_ns) {
  ring_.SkipAll();
  lost_ = 0;
  ioctl(event_.get(), PERF_EVENT_IOC_PERIOD, &interval_ns);
  ioctl(event_.get(), PERF_EVENT_IOC_RESET, 0);
  ioctl(event_.get(), PERF_EVENT_IOC_ENABLE, 0);
}

bool LinuxPerfSource::Next(PerfSample* sample) {
  for (;;) {
    const std::span<const std::byte> record = ring_.Next();
    if (record.empty()) return false;
    perf_event_header header;
    std::memcpy(&header, record.data(), sizeof(header));
    if (header.type == PERF_RECORD_SAMPLE && ParsePerfSample(record, sample)) return true;
    lost_ += header.type == PERF_RECORD_SAMPLE ? 1 : LostRecords(record);
  }
}

uint64_t LinuxPerfSource::TakeLost() {
  const uint64_t lost = lost_;
  lost_ = 0;
  return lost;
}

}  // namespace

Result<std::unique_ptr<PerfSource>> PerfSource::Open(int tid) {
  if (machine::kPerfRegisterMask == 0) {
    return Status(StatusCode::kUnsupported, "perf's registers are not known for this machine");
  }
  bool sees_kernel = true;
  ScopedFd event(OpenEvent(tid, false));
  if (!event.valid()) {
    sees_kernel = false;
    event.Reset(OpenEvent(tid, true));
  }
  if (!event.valid()) return Status::FromErrno(errno, "perf_event_open");
  auto source = std::make_unique<LinuxPerfSource>(std::move(event), sees_kernel);
  Status mapped = source->Map();
  if (!mapped.ok()) return mapped;
  return std::unique_ptr<PerfSource>(std::move(source));
}

}  // namespace jankbox
