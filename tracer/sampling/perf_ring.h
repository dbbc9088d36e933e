// The ring of records that perf shares with the kernel: mapped once, read record by record, oldest
// first (perf_event_open(2)). One thread owns it; NO-ALLOC after Map().
#ifndef JANKBOX_TRACER_SAMPLING_PERF_RING_H_
#define JANKBOX_TRACER_SAMPLING_PERF_RING_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace jankbox {

class PerfRing {
 public:
  PerfRing() = default;
  ~PerfRing();
  PerfRing(const PerfRing&) = delete;
  PerfRing& operator=(const PerfRing&) = delete;

  // Maps the ring of `event`, with `largest` bytes or, if that is refused, a half, a quarter …, not
  // below `smallest`. REQUIRES powers of two, whole pages. The kernel locks the memory and counts
  // it against the user (perf_event_mlock_kb).
  Status Map(int event, size_t largest, size_t smallest);

  // The next record with its header; empty if there is none. Valid until the next call.
  std::span<const std::byte> Next();

  // What is there now is not read.
  void SkipAll() { SetTail(Head()); }

 private:
  uint64_t Head() const;
  void SetTail(uint64_t tail);
  void CopyOut(uint64_t position, void* into, size_t size) const;

  std::vector<std::byte> record_;
  perf_event_mmap_page* page_ = nullptr;
  const std::byte* ring_ = nullptr;
  size_t page_size_ = 0;
  size_t ring_size_ = 0;
  uint64_t tail_ = 0;
};

// How many records a PERF_RECORD_LOST says were dropped; 0 for any other record.
uint64_t LostRecords(std::span<const std::byte> record);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_PERF_RING_H_
