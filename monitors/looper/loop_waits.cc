#include "monitors/looper/loop_waits.h"

#include <bit>
#include <cstring>

namespace jankbox {
namespace {

const char* FamilyName(WaitFamily family) {
  switch (family) {
    case WaitFamily::kEpoll:
      return "epoll";
    case WaitFamily::kSelect:
      return "select";
    case WaitFamily::kPump:
      return "sdl";
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

// Reads only above the thread's present stack pointer: its callers' frames are there.
__attribute__((no_sanitize("address"))) void LoopWaits::CopyFrame() {
  const auto* words = static_cast<const volatile uintptr_t*>(loop_.stack);
  for (size_t i = 0; i < kFrameWords; ++i) frame_[i] = words[i];
}

__attribute__((no_sanitize("address"))) uint32_t LoopWaits::ChangedFrameWords() const {
  const auto* words = static_cast<const volatile uintptr_t*>(loop_.stack);
  uint32_t changed = 0;
  for (size_t i = 0; i < kFrameWords; ++i) changed |= frame_[i] != words[i] ? 1u << i : 0;
  return changed;
}

bool LoopWaits::LoopFrameIsGone() {
  const uint32_t changed = ChangedFrameWords();
  doubted_words_ |= changed;
  // A living frame changes a local or two beyond those that it changes each time.
  return std::popcount(changed & ~restless_words_) * 4 > std::popcount(~restless_words_);
}

// The loop lives: what changed since its last wait says nothing about that.
void LoopWaits::NoteOwnWait(const WaitCall& call) {
  restless_words_ |= ChangedFrameWords() | doubted_words_;
  doubted_words_ = 0;
  loop_fd_ = call.fd;
  for (Candidate& candidate : candidates_) candidate.in_a_row = 0;
  CopyFrame();
}

LoopWaits::Candidate& LoopWaits::FindCandidate(const Site& site) {
  for (Candidate& candidate : candidates_) {
    if (candidate.site == site) return candidate;
  }
  Candidate& oldest = candidates_[next_candidate_];
  next_candidate_ = (next_candidate_ + 1) % kCandidates;
  oldest = {.site = site};
  return oldest;
}

// Qt runs GLib's loop if there is one: it is Qt's all the same. Words of frames that are gone
// may mislead, to no more than a name. A thread's control block, or the program's arguments and
// environment, are above its outermost frame: what is read is there.
__attribute__((no_sanitize("address"))) const char* LoopWaits::NameOf(const WaitCall& call,
                                                                      LoopModule module) {
  if (module.loop_name[0] == '\0') return FamilyName(call.family);
  if (strcmp(module.loop_name, "glib") != 0) return module.loop_name;
  const auto* words = static_cast<const volatile uintptr_t*>(call.stack);
  for (size_t i = 0; i < kCallerWords; ++i) {
    const uintptr_t word = words[i];
    const LoopModule caller = LoopModules::Find(reinterpret_cast<const void*>(word));
    if (caller.kind == LoopModuleKind::kLoop && strcmp(caller.loop_name, "qt") == 0) return "qt";
  }
  return module.loop_name;
}

void LoopWaits::Adopt(const Site& site, const WaitCall& call, LoopModule module) {
  previous_loop_ = loop_;
  loop_ = site;
  loop_fd_ = call.fd;
  is_pump_ = call.family == WaitFamily::kPump;
  is_weak_ = module.kind != LoopModuleKind::kLoop && call.family != WaitFamily::kEpoll && !is_pump_;
  const char* name = is_weak_ ? FamilyName(call.family) : NameOf(call, module);
  __atomic_store_n(&name_, name, __ATOMIC_RELAXED);
  candidates_ = {};
  restless_words_ = 0;
  doubted_words_ = 0;
  CopyFrame();
}

// Whether a wait at `site`, that is neither the loop's own nor of a nested run, is a new loop's.
bool LoopWaits::MayTakeOver(const Site& site, bool at_first_sight) {
  const bool shallower = loop_.call_site == nullptr || IsShallower(site.stack, loop_.stack);
  if (shallower) {
    if (at_first_sight || site == previous_loop_) return true;
    return ++FindCandidate(site).seen >= kSightings;
  }
  if (LoopFrameIsGone()) return ++FindCandidate(site).seen >= kSightings;
  return is_weak_ && at_first_sight && ++FindCandidate(site).in_a_row >= kSightingsInARow;
}

// A program takes its events wherever it likes, in menus within menus: each time is its loop's.
// Only if another loop runs, and takes them in its callbacks (game controllers of a program with
// windows), is that part of the dispatch.
bool LoopWaits::DecidePump(const Site& site, const WaitCall& call, LoopModule module) {
  if (loop_.call_site != nullptr && is_pump_) {
    if (IsShallower(site.stack, loop_.stack)) Adopt(site, call, module);
    return true;
  }
  if (!MayTakeOver(site, true)) return false;
  Adopt(site, call, module);
  return true;
}

bool LoopWaits::DecideWait(const WaitCall& call, LoopModule module) {
  if (call.family == WaitFamily::kPump) {
    return DecidePump({call.call_site, call.stack}, call, module);
  }
  if (module.kind == LoopModuleKind::kReplyOnly || module.kind == LoopModuleKind::kDisplay) {
    return false;
  }
  const Site site{call.call_site, call.stack};
  if (loop_.call_site != nullptr && site == loop_) {
    // Its library was not known yet: it was loaded after the last poll at the modules.
    const bool known_now = is_weak_ && module.kind == LoopModuleKind::kLoop;
    if (known_now) Adopt(site, call, module);
    NoteOwnWait(call);
    return true;
  }
  if (loop_.call_site != nullptr && IsNestedRun(call)) return true;
  const bool at_first_sight =
      module.kind == LoopModuleKind::kLoop || call.family == WaitFamily::kEpoll;
  if (!MayTakeOver(site, at_first_sight)) return false;
  Adopt(site, call, module);
  return true;
}

}  // namespace jankbox
