#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "tracer/sampling/perf_ring.h"

namespace jankbox {
namespace {

constexpr size_t kMaxRecordBytes = 65536;  // perf_event_header::size has 16 bits

}  // namespace

PerfRing::~PerfRing() {
  if (page_ != nullptr) munmap(page_, page_size_ + ring_size_);
}

Status PerfRing::Map(int event, size_t largest, size_t smallest) {
  record_.resize(kMaxRecordBytes);
  page_size_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  int error = 0;
  for (size_t size = largest; size >= smallest; size /= 2) {
    void* mapped = mmap(nullptr, page_size_ + size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
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

// data_head is written by the kernel, data_tail by us: see perf_event_open(2).
uint64_t PerfRing::Head() const {
  return std::atomic_ref(page_->data_head).load(std::memory_order_acquire);
}

void PerfRing::SetTail(uint64_t tail) {
  tail_ = tail;
  std::atomic_ref(page_->data_tail).store(tail, std::memory_order_release);
}

void PerfRing::CopyOut(uint64_t position, void* into, size_t size) const {
  const size_t at = position % ring_size_;
  const size_t first = std::min(size, ring_size_ - at);
  std::memcpy(into, ring_ + at, first);
  std::memcpy(static_cast<std::byte*>(into) + first, ring_, size - first);
}

std::span<const std::byte> PerfRing::Next() {
  const uint64_t head = Head();
  perf_event_header header;
  if (head - tail_ < sizeof(header)) return {};
  CopyOut(tail_, &header, sizeof(header));
  if (header.size < sizeof(header) || header.size > head - tail_) {
    SetTail(head);
    return {};
  }
  CopyOut(tail_, record_.data(), header.size);
  SetTail(tail_ + header.size);
  return {record_.data(), header.size};
}

uint64_t LostRecords(std::span<const std::byte> record) {
  perf_event_header header;
  uint64_t id_and_count[2];
  if (record.size() < sizeof(header) + sizeof(id_and_count)) return 0;
  std::memcpy(&header, record.data(), sizeof(header));
  if (header.type != PERF_RECORD_LOST) return 0;
  std::memcpy(id_and_count, record.data() + sizeof(header), sizeof(id_and_count));
  return id_and_count[1];
}

}  // namespace jankbox
