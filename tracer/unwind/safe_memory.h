// Reads of this process's own memory that cannot fault: process_vm_readv on the own pid, so that a
// module unloaded meanwhile is a short read and not a crash (the app's dlclose is not ours to
// stop). The two functions are THREAD-SAFE, NO-ALLOC, SIGNAL-SAFE, errno untouched; a PageCache
// belongs to one thread.
#ifndef JANKBOX_TRACER_UNWIND_SAFE_MEMORY_H_
#define JANKBOX_TRACER_UNWIND_SAFE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace jankbox {

// Copies up to `size` bytes at `address`; returns how many could be read from its start on. 0
// if nothing could, the range would overflow, or the kernel forbids process_vm_readv and
// /proc/self/mem alike.
size_t ReadOwnMemory(uint64_t address, void* into, size_t size);

// The same of the recorded process, which may be another one (base/recorded_process.h).
size_t ReadRecordedMemory(uint64_t address, void* into, size_t size);

// The pages of unwind tables and code that were read lately. Fixed size, taken at construction.
class PageCache {
 public:
  explicit PageCache(size_t budget_bytes);

  // True if all `size` bytes were read. REQUIRES that the bytes do not change until
  // Invalidate().
  bool Read(uint64_t address, void* into, size_t size);

  // Forgets all: modules were loaded or unloaded.
  void Invalidate();

 private:
  const std::byte* Page(uint64_t page_address);

  size_t page_size_;
  size_t page_count_;
  std::vector<uint64_t> tags_;          // address of the page in each slot; kNoPage if none
  std::unique_ptr<std::byte[]> bytes_;  // no memory is taken before a page is read
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_SAFE_MEMORY_H_
