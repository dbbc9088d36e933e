#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/scoped_fd.h"
#include "tracer/sampling/perf_source.h"

namespace jankbox {

namespace {

constexpr uint32_t kStackBytes = 65528;    // the most that a record takes: 16 bits, a multiple of 8
constexpr size_t kMaxRecordBytes = 65536;  // perf_event_header::size has 16 bits
constexpr size_t kLargestRing = 512 * 1024;
constexpr size_t kSmallestRing = 128 * 1024;  // a record and room for the next

perf_event_attr Attributes(uint64_t interval_ns, bool exclude_kernel) {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof(attributes);
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = interval_ns;
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

int OpenEvent(int tid, uint64_t interval_ns, bool exclude_kernel) {
  perf_event_attr attributes = Attributes(interval_ns, exclude_kernel);
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

class LinuxPerfSource final : public PerfSource {
 public:
  LinuxPerfSource(ScopedFd event, bool sees_kernel)
      : event_(std::move(event)), sees_kernel_(sees_kernel), record_(kMaxRecordBytes) {}
  ~LinuxPerfSource() override {
    if (page_ != nullptr) munmap(page_, page_size_ + ring_size_);
  }

  Status Map();
  void Enable() override;
  void Disable() override { ioctl(event_.get(), PERF_EVENT_IOC_DISABLE, 0); }
  bool Next(PerfSample* sample) override;
  uint64_t TakeLost() override;
  bool sees_kernel() const override { return sees_kernel_; }

 private:
  // data_head is written by the kernel, data_tail by us: see perf_event_open(2).
  uint64_t Head() const {
    return std::atomic_ref(page_->data_head).load(std::memory_order_acquire);
  }
  void SetTail(uint64_t tail) {
    tail_ = tail;
    std::atomic_ref(page_->data_tail).store(tail, std::memory_order_release);
  }
  void CopyOut(uint64_t position, void* into, size_t size) const;
  bool TakeRecord(perf_event_header* header);

  ScopedFd event_;
  bool sees_kernel_;
  std::vector<std::byte> record_;
  perf_event_mmap_page* page_ = nullptr;
  const std::byte* ring_ = nullptr;
  size_t page_size_ = 0;
  size_t ring_size_ = 0;
  uint64_t tail_ = 0;
  uint64_t lost_ = 0;
};

// The kernel locks the ring's memory and counts it against the user (perf_event_mlock_kb).
Status LinuxPerfSource::Map() {
  page_size_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  int error = 0;
  for (size_t size = kLargestRing; size >= kSmallestRing; size /= 2) {
    void* mapped =
        mmap(nullptr, page_size_ + size, PROT_READ | PROT_WRITE, MAP_SHARED, event_.get(), 0);
    if (mapped != MAP_FAILED) {
      page_ = static_cast<perf_event_mmap_page*>(mapped);
      ring_ = static_cast<const std::byte*>(mapped) + page_size_;
      ring_size_ = size;
      return Status::Ok();
    }
    error = errno;
  }
  return Status::FromErrno(error, "mmap of perf's ring");
}

void LinuxPerfSource::Enable() {
  SetTail(Head());
  lost_ = 0;
  ioctl(event_.get(), PERF_EVENT_IOC_RESET, 0);
  ioctl(event_.get(), PERF_EVENT_IOC_ENABLE, 0);
}

void LinuxPerfSource::CopyOut(uint64_t position, void* into, size_t size) const {
  const size_t at = position % ring_size_;
  const size_t first = std::min(size, ring_size_ - at);
  std::memcpy(into, ring_ + at, first);
  std::memcpy(static_cast<std::byte*>(into) + first, ring_, size - first);
}

// Copies the next record into record_ and frees its place; false if there is none.
bool LinuxPerfSource::TakeRecord(perf_event_header* header) {
  const uint64_t head = Head();
  if (head - tail_ < sizeof(*header)) return false;
  CopyOut(tail_, header, sizeof(*header));
  if (header->size < sizeof(*header) || header->size > head - tail_) {
    SetTail(head);
    return false;
  }
  CopyOut(tail_, record_.data(), header->size);
  SetTail(tail_ + header->size);
  return true;
}

bool LinuxPerfSource::Next(PerfSample* sample) {
  perf_event_header header;
  while (TakeRecord(&header)) {
    std::span<const std::byte> record(record_.data(), header.size);
    if (header.type == PERF_RECORD_SAMPLE && ParsePerfSample(record, sample)) return true;
    if (header.type == PERF_RECORD_SAMPLE) ++lost_;
    uint64_t id_and_count[2];
    if (header.type == PERF_RECORD_LOST && record.size() >= sizeof(header) + sizeof(id_and_count)) {
      std::memcpy(id_and_count, record.data() + sizeof(header), sizeof(id_and_count));
      lost_ += id_and_count[1];
    }
  }
  return false;
}

uint64_t LinuxPerfSource::TakeLost() {
  const uint64_t lost = lost_;
  lost_ = 0;
  return lost;
}

}  // namespace

Result<std::unique_ptr<PerfSource>> PerfSource::Open(int tid, uint64_t interval_ns) {
  if (machine::kPerfRegisterMask == 0) {
    return Status(StatusCode::kUnsupported, "perf's registers are not known for this machine");
  }
  bool sees_kernel = true;
  ScopedFd event(OpenEvent(tid, interval_ns, false));
  if (!event.valid()) {
    sees_kernel = false;
    event.Reset(OpenEvent(tid, interval_ns, true));
  }
  if (!event.valid()) return Status::FromErrno(errno, "perf_event_open");
  auto source = std::make_unique<LinuxPerfSource>(std::move(event), sees_kernel);
  Status mapped = source->Map();
  if (!mapped.ok()) return mapped;
  return std::unique_ptr<PerfSource>(std::move(source));
}

}  // namespace jankbox
