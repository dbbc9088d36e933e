#include "tracer/unwind/safe_memory.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/recorded_process.h"

namespace jankbox {

namespace {

constexpr uint64_t kNoBlock = std::numeric_limits<uint64_t>::max();

// Three calls for one, if seccomp or an emulator of user space has no process_vm_readv.
long ReadThroughProc(uint64_t address, void* into, size_t size) {
  const int memory =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC));
  if (memory < 0) return 0;
  const long got = pread64(memory, into, size, static_cast<off64_t>(address));
  syscall(SYS_close, memory);
  return got;
}

}  // namespace

// The raw call: bionic's wrapper is younger than the oldest Android here, and sanitizers' wrappers
// are not for signal handlers.
static size_t ReadMemory(long pid, bool own, uint64_t address, void* into, size_t size) {
  if (size == 0 || address > std::numeric_limits<uintptr_t>::max() - size) return 0;
  const int saved_errno = errno;
  iovec local{into, size};
  iovec remote{reinterpret_cast<void*>(static_cast<uintptr_t>(address)), size};
  long got = syscall(SYS_process_vm_readv, pid, &local, 1L, &remote, 1L, 0L);
  if (got < 0 && own && (errno == ENOSYS || errno == EPERM)) {
    got = ReadThroughProc(address, into, size);
  }
  errno = saved_errno;
  return got > 0 ? static_cast<size_t>(got) : 0;
}

size_t ReadOwnMemory(uint64_t address, void* into, size_t size) {
  return ReadMemory(getpid(), true, address, into, size);
}

size_t ReadRecordedMemory(uint64_t address, void* into, size_t size) {
  return ReadMemory(RecordedProcess::pid(), RecordedProcess::IsThis(), address, into, size);
}

BlockCache::BlockCache(size_t budget_bytes, Source source) : source_(std::move(source)) {
  const size_t sets = std::bit_floor(std::max<size_t>(2, budget_bytes / (kBlockBytes * kWays)));
  set_shift_ = 64 - std::countr_zero(sets);
  tags_.assign(sets * kWays, kNoBlock);
  next_way_.assign(sets, 0);
  bytes_.reset(new std::byte[sets * kWays * kBlockBytes]);
}

bool BlockCache::Read(uint64_t address, void* into, size_t size) {
  if (address > std::numeric_limits<uint64_t>::max() - size) return false;
  auto* out = static_cast<std::byte*>(into);
  while (size > 0) {
    const uint64_t offset = address % kBlockBytes;
    const size_t part = std::min<size_t>(size, kBlockBytes - offset);
    const std::byte* block = Block(address / kBlockBytes);
    if (block != nullptr) {
      std::memcpy(out, block + offset, part);
    } else if (!source_(address, out, part)) {  // of a block that ends later than its section
      return false;
    }
    address += part;
    out += part;
    size -= part;
  }
  return true;
}

void BlockCache::Invalidate() { std::fill(tags_.begin(), tags_.end(), kNoBlock); }

const std::byte* BlockCache::Block(uint64_t number) {
  // Hashed: the steps of a binary search are powers of two, and would meet in one set.
  const size_t set = number * 0x9e3779b97f4a7c15 >> set_shift_;
  for (size_t slot = set * kWays; slot < (set + 1) * kWays; ++slot) {
    if (tags_[slot] == number) return &bytes_[slot * kBlockBytes];
  }
  const size_t slot = set * kWays + next_way_[set];
  std::byte* block = &bytes_[slot * kBlockBytes];
  tags_[slot] = kNoBlock;
  if (!source_(number * kBlockBytes, block, kBlockBytes)) return nullptr;
  tags_[slot] = number;
  next_way_[set] = (next_way_[set] + 1) % kWays;
  return block;
}

}  // namespace jankbox
