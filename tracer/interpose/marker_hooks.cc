#include "tracer/interpose/marker_hooks.h"

#include <cerrno>
#include <climits>

#include "tracer/hook/reentry_guard.h"
#include "tracer/interpose/io_proxies.h"
#include "tracer/interpose/loop_posts.h"
#include "tracer/interpose/wait_scope.h"

namespace jankbox {
namespace {

using Hook = HookedBy<HookFeature::kMarkers>;
using WriteFunction = ssize_t(int, const void*, size_t);
using WriteChkFunction = ssize_t(int, const void*, size_t, size_t);  // bionic's FORTIFY
using WritevFunction = ssize_t(int, const iovec*, int);

std::atomic<bool> g_record_writes{false};  // as file calls of watched threads

// A write that is no marker, of `bytes()` bytes.
template <typename Bytes, typename PassOn>
ssize_t WriteFile(WaitClass what, int fd, Bytes bytes, PassOn pass_on) {
  if (__builtin_expect(!g_record_writes.load(std::memory_order_relaxed) || !RecordsWaits(), 1)) {
    return pass_on();
  }
  const WaitScope wait(what, fd, bytes());
  return wait.ReturnedWithErrno(pass_on());
}

// A write that may be a marker: recorded after the kernel took it, so that a bad buffer is the
// kernel's to find. Once, also if its original is a function whose writes are hooked too.
template <typename Keep, typename PassOn, typename TakePassed>
ssize_t WriteMarker(Keep keep, PassOn pass_on, TakePassed take_passed) {
  ssize_t result;
  int error;
  {
    const ReentryGuard guard(HookFeature::kMarkers);
    if (!guard.entered()) return pass_on();
    if (keep(&result)) return result;
    result = pass_on();
    error = errno;
    take_passed(result);
  }
  errno = error;
  return result;
}

template <typename PassOn>
ssize_t WriteOneMarker(int fd, const void* data, size_t bytes, PassOn pass_on) {
  const auto keep = [&](ssize_t* result) {
    *result = static_cast<ssize_t>(bytes);
    return MarkerTap::TakeKept(fd, data, bytes);
  };
  return WriteMarker(keep, pass_on, [&](ssize_t result) {
    const iovec piece = {const_cast<void*>(data), bytes};
    MarkerTap::TakePassed(fd, &piece, 1, result);
  });
}

ssize_t WriteProxy(int fd, const void* data, size_t bytes) {
  auto* real = Hook::Original<HookId::kWrite, WriteFunction>();
  const auto pass_on = [&] { return real(fd, data, bytes); };
  if (__builtin_expect(!MarkerTap::Watches(fd, bytes), 1)) {
    LoopPosts::BeforeWrite(fd, bytes);
    return WriteFile(
        WaitClass::kWrite, fd, [bytes] { return bytes; }, pass_on);
  }
  return WriteOneMarker(fd, data, bytes, pass_on);
}

ssize_t WriteChkProxy(int fd, const void* data, size_t bytes, size_t buffer_bytes) {
  auto* real = Hook::Original<HookId::kWriteChk, WriteChkFunction>();
  const auto pass_on = [&] { return real(fd, data, bytes, buffer_bytes); };
  if (__builtin_expect(!MarkerTap::Watches(fd, bytes) || bytes > buffer_bytes, 1)) {
    LoopPosts::BeforeWrite(fd, bytes);
    return WriteFile(
        WaitClass::kWrite, fd, [bytes] { return bytes; }, pass_on);
  }
  return WriteOneMarker(fd, data, bytes, pass_on);
}

// The pieces are an array of the caller's, which may be bad too: it is checked once the kernel
// has taken it, so that kKeep does not apply here.
ssize_t WritevProxy(int fd, const iovec* pieces, int count) {
  auto* real = Hook::Original<HookId::kWritev, WritevFunction>();
  const auto pass_on = [&] { return real(fd, pieces, count); };
  if (__builtin_expect(!MarkerTap::Watches(fd, 1), 1)) {
    return WriteFile(
        WaitClass::kWritev, fd, [&] { return BytesOf(pieces, count); }, pass_on);
  }
  return WriteMarker([](ssize_t*) { return false; }, pass_on,
                     [&](ssize_t result) {
                       const bool taken = result > 0 || fd == -1;
                       if (taken && count > 0 && count <= IOV_MAX) {
                         MarkerTap::TakePassed(fd, pieces, count, result);
                       }
                     });
}

}  // namespace

void AddMarkerHooks(MarkerMode mode, bool record_writes, HookSet* hooks) {
  MarkerTap::SetMode(mode);
  g_record_writes.store(record_writes, std::memory_order_relaxed);
  if (mode == MarkerMode::kOff && !record_writes) return;
  const HookUse uses[] = {Hook::Use<HookId::kWrite>(WriteProxy, nullptr),
                          Hook::Use<HookId::kWriteChk>(WriteChkProxy, nullptr),
                          Hook::Use<HookId::kWritev>(WritevProxy, nullptr)};
  hooks->AddAll(uses, "markers are not recorded");
}

void StopMarkerHooks() {
  MarkerTap::SetMode(MarkerMode::kOff);
  g_record_writes.store(false, std::memory_order_relaxed);
}

}  // namespace jankbox
