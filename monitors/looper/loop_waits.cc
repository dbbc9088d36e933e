#include "monitors/looper/loop_waits.h"

#include <cstring>

namespace jankbox {
namespace {

const char* FamilyName(WaitFamily family) {
  switch (family) {
    case WaitFamily::kEpoll:
      return "epoll";
    case WaitFamily::kSelect:
      return "select";
    case WaitFamily::kPoll:
      break;
  }
  return "poll";
}

// Stacks grow downwards on every machine that we run on.
bool IsShallower(const void* a, const void* b) {
  return reinterpret_cast<uintptr_t>(a) > reinterpret_cast<uintptr_t>(b);
}

}  // namespace

bool LoopWaits::IsNestedRun(const WaitCall& call) const {
  const bool deeper = IsShallower(loop_.stack, call.stack);
  if (call.call_site != loop_.call_site || !deeper || loop_fd_ < 0) return false;
  if (call.fd == loop_fd_) return true;
  for (size_t i = 0; i < call.fd_count; ++i) {
    int fd;
    memcpy(&fd, reinterpret_cast<const char*>(call.fds) + i * call.fd_stride, sizeof(fd));
    if (fd == loop_fd_) return true;
  }
  return false;
}

// Reads only above the thread's present stack pointer, where its callers' frames are.
__attribute__((no_sanitize("address"))) void LoopWaits::CopyFrame() {
  const auto* words = static_cast<const volatile uintptr_t*>(loop_.stack);
  for (size_t i = 0; i < kFrameWords; ++i) frame_[i] = words[i];
}

__attribute__((no_sanitize("address"))) bool LoopWaits::LoopFrameIsGone() const {
  const auto* words = static_cast<const volatile uintptr_t*>(loop_.stack);
  size_t changed = 0;
  for (size_t i = 0; i < kFrameWords; ++i) changed += frame_[i] != words[i] ? 1 : 0;
  return changed > kFrameWords / 4;  // a living frame changes a local or two
}

uint32_t LoopWaits::CountSighting(const Site& site) {
  for (Site& candidate : candidates_) {
    if (candidate == site) return ++candidate.seen;
  }
  candidates_[next_candidate_] = site;
  candidates_[next_candidate_].seen = 1;
  next_candidate_ = (next_candidate_ + 1) % kCandidates;
  return 1;
}

void LoopWaits::Adopt(const Site& site, const WaitCall& call, LoopModule module) {
  loop_ = site;
  loop_fd_ = call.fd;
  const bool named = module.loop_name[0] != '\0' &&
                     (module.kind == LoopModuleKind::kLoop || call.family == WaitFamily::kEpoll);
  name_ = named ? module.loop_name : FamilyName(call.family);
  candidates_ = {};
}

bool LoopWaits::DecideWait(const WaitCall& call, LoopModule module) {
  if (module.kind == LoopModuleKind::kReplyOnly) return false;
  const Site site{call.call_site, call.stack, 0};
  const bool have_loop = loop_.call_site != nullptr;
  if (have_loop && site == loop_) {
    loop_fd_ = call.fd;
    CopyFrame();
    return true;
  }
  if (have_loop && IsNestedRun(call)) return true;
  const bool at_first_sight =
      module.kind == LoopModuleKind::kLoop || call.family == WaitFamily::kEpoll;
  const bool shallower = !have_loop || IsShallower(call.stack, loop_.stack);
  if (!shallower && !LoopFrameIsGone()) return false;
  const uint32_t needed = shallower && at_first_sight ? 1 : kSightings;
  if (CountSighting(site) < needed) return false;
  Adopt(site, call, module);
  CopyFrame();
  return true;
}

}  // namespace jankbox
