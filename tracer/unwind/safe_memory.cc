#include "tracer/unwind/safe_memory.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/recorded_process.h"

namespace jankbox {

namespace {

constexpr uint64_t kNoPage = std::numeric_limits<uint64_t>::max();

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

PageCache::PageCache(size_t budget_bytes)
    : page_size_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
      page_count_(std::max<size_t>(1, budget_bytes / page_size_)),
      tags_(page_count_, kNoPage),
      bytes_(new std::byte[page_count_ * page_size_]) {}

bool PageCache::Read(uint64_t address, void* into, size_t size) {
  if (address > kNoPage - size) return false;
  auto* out = static_cast<std::byte*>(into);
  while (size > 0) {
    const uint64_t offset = address % page_size_;
    const size_t part = std::min<size_t>(size, page_size_ - offset);
    const std::byte* page = Page(address - offset);
    if (page == nullptr) return false;
    std::memcpy(out, page + offset, part);
    address += part;
    out += part;
    size -= part;
  }
  return true;
}

void PageCache::Invalidate() { std::fill(tags_.begin(), tags_.end(), kNoPage); }

// Direct-mapped: the unwinder's own cache above it takes the repeats.
const std::byte* PageCache::Page(uint64_t page_address) {
  const size_t slot = page_address / page_size_ % page_count_;
  std::byte* page = &bytes_[slot * page_size_];
  if (tags_[slot] == page_address) return page;
  tags_[slot] = kNoPage;
  if (ReadRecordedMemory(page_address, page, page_size_) != page_size_) return nullptr;
  tags_[slot] = page_address;
  return page;
}

}  // namespace jankbox
