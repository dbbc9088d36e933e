#include "tracer/interpose/wait_scope.h"

#include <cerrno>

#include "tracer/hook/reentry_guard.h"
#include "tracer/interpose/fd_classes.h"

namespace jankbox {
namespace {

HookFeature FeatureOf(WaitClass what) {
  return IsFileWait(what) ? HookFeature::kIo : HookFeature::kLocks;
}

// A number of bytes is no secret; the number of a new descriptor says something about other files.
bool TellsBytes(WaitClass what) { return what >= WaitClass::kRead && what <= WaitClass::kPwrite; }

void Record(const WaitEvent& wait) {
  const EncodedWait encoded = EncodeWait(wait);
  RecordAside(EventKind::kWait, encoded.id, {&encoded.payload, encoded.words});
}

}  // namespace

WaitScope::WaitScope(WaitClass what, int32_t owner_tid) : what_(what) {
  const ReentryGuard guard(FeatureOf(what));
  if (!guard.entered()) return;
  begun_ = true;
  Record({.what = what, .owner_tid = owner_tid});
}

WaitScope::WaitScope(WaitClass what, int fd, size_t bytes) : what_(what) {
  const ReentryGuard guard(FeatureOf(what));
  if (!guard.entered()) return;
  begun_ = true;
  fd_class_ = FdClasses::Of(fd);
  Record({.what = what, .fd_class = fd_class_, .bytes = bytes});
}

void WaitScope::End(int64_t result) const {
  const ReentryGuard guard(FeatureOf(what_));
  if (!guard.entered()) return;
  Record({.what = what_, .end = true, .fd_class = fd_class_, .result = result});
}

void WaitScope::EndWithErrno(int64_t result) const {
  if (result < 0) return End(-errno);
  End(TellsBytes(what_) ? result : 0);
}

}  // namespace jankbox
