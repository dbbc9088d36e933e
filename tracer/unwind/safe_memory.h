// Reads of this process's own memory that cannot fault: process_vm_readv on the own pid, so that a
// module unloaded meanwhile is a short read and not a crash (the app's dlclose is not ours to
// stop). The two functions are THREAD-SAFE, NO-ALLOC, SIGNAL-SAFE, errno untouched; a BlockCache
// belongs to one thread.
#ifndef JANKBOX_TRACER_UNWIND_SAFE_MEMORY_H_
#define JANKBOX_TRACER_UNWIND_SAFE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace jankbox {

// Copies up to `size` bytes at `address`; returns how many could be read from its start on. 0
// if nothing could, the range would overflow, or the kernel forbids process_vm_readv and
// /proc/self/mem alike.
size_t ReadOwnMemory(uint64_t address, void* into, size_t size);

// The same of the recorded process, which may be another one (base/recorded_process.h).
size_t ReadRecordedMemory(uint64_t address, void* into, size_t size);

// The parts of unwind tables and code that were read lately. Fixed size, taken at construction.
class BlockCache {
 public:
  // True if all `size` bytes at `address` were read.
  using Source = std::function<bool(uint64_t address, void* into, size_t size)>;

  // By default of the recorded process's memory.
  explicit BlockCache(size_t budget_bytes, Source source = ReadsRecordedMemory);

  // True if all `size` bytes were read. REQUIRES that the bytes do not change until
  // Invalidate().
  bool Read(uint64_t address, void* into, size_t size);

  // Forgets all: modules were unloaded.
  void Invalidate();

 private:
  // A divisor of every page size. A search in a large table looks at one entry of most pages that
  // it comes to: to copy less costs as many calls, and keeps eight times as many of them.
  static constexpr uint64_t kBlockBytes = 512;
  static constexpr size_t kWays = 4;

  static bool ReadsRecordedMemory(uint64_t address, void* into, size_t size) {
    return ReadRecordedMemory(address, into, size) == size;
  }

  const std::byte* Block(uint64_t number);

  Source source_;
  int set_shift_;                       // of a number's hash: what is left is its set
  std::vector<uint64_t> tags_;          // number of the block in each slot; kNoBlock if none
  std::vector<uint8_t> next_way_;       // of each set: which one goes first
  std::unique_ptr<std::byte[]> bytes_;  // no memory is taken before a block is read
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_SAFE_MEMORY_H_
