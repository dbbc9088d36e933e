#include "sdk/src/marker_hooks.h"

#include <climits>

#include "sdk/src/last_error.h"

namespace jankbox {
namespace {

using WriteFunction = ssize_t(int, const void*, size_t);
using WriteChkFunction = ssize_t(int, const void*, size_t, size_t);  // bionic's FORTIFY
using WritevFunction = ssize_t(int, const iovec*, int);

std::atomic<void*> g_real_write{nullptr};
std::atomic<void*> g_real_write_chk{nullptr};
std::atomic<void*> g_real_writev{nullptr};

template <typename Function>
Function* Real(const std::atomic<void*>& original) {
  return reinterpret_cast<Function*>(original.load(std::memory_order_acquire));
}

// A write that may be a marker: recorded after the kernel took it, so that a bad buffer is the
// kernel's to find.
template <typename PassOn>
ssize_t WriteMarker(int fd, const void* data, size_t bytes, PassOn pass_on) {
  if (MarkerTap::TakeKept(fd, data, bytes)) return static_cast<ssize_t>(bytes);
  const ssize_t result = pass_on();
  const iovec piece = {const_cast<void*>(data), bytes};
  MarkerTap::TakePassed(fd, &piece, 1, result);
  return result;
}

ssize_t WriteProxy(int fd, const void* data, size_t bytes) {
  auto* real = Real<WriteFunction>(g_real_write);
  if (__builtin_expect(!MarkerTap::Watches(fd, bytes), 1)) return real(fd, data, bytes);
  return WriteMarker(fd, data, bytes, [&] { return real(fd, data, bytes); });
}

ssize_t WriteChkProxy(int fd, const void* data, size_t bytes, size_t buffer_bytes) {
  auto* real = Real<WriteChkFunction>(g_real_write_chk);
  if (__builtin_expect(!MarkerTap::Watches(fd, bytes) || bytes > buffer_bytes, 1)) {
    return real(fd, data, bytes, buffer_bytes);
  }
  return WriteMarker(fd, data, bytes, [&] { return real(fd, data, bytes, buffer_bytes); });
}

// The pieces are an array of the caller's, which may be bad too: it is looked at once the kernel
// has taken it, so that kKeep does not hold here.
ssize_t WritevProxy(int fd, const iovec* pieces, int count) {
  const ssize_t result = Real<WritevFunction>(g_real_writev)(fd, pieces, count);
  const bool taken = result > 0 || fd == -1;
  if (__builtin_expect(taken && count > 0 && count <= IOV_MAX && MarkerTap::Watches(fd, 1), 0)) {
    MarkerTap::TakePassed(fd, pieces, count, result);
  }
  return result;
}

}  // namespace

void AddMarkerHooks(MarkerMode mode, HookSet* hooks) {
  MarkerTap::SetMode(mode);
  if (mode == MarkerMode::kOff) return;
  constexpr HookFeature kMarkers = HookFeature::kMarkers;
  const HookUse uses[] = {
      HookUseOf(HookId::kWrite, kMarkers, nullptr, WriteProxy, &g_real_write),
      HookUseOf(HookId::kWriteChk, kMarkers, nullptr, WriteChkProxy, &g_real_write_chk),
      HookUseOf(HookId::kWritev, kMarkers, nullptr, WritevProxy, &g_real_writev),
  };
  for (const HookUse& use : uses) {
    const Status status = hooks->Add(use);
    if (!status.ok()) SetLastError("markers are not recorded: " + status.message());
  }
}

void StopMarkerHooks() { MarkerTap::SetMode(MarkerMode::kOff); }

}  // namespace jankbox
