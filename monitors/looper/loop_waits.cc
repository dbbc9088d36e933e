#include "monitors/looper/loop_waits.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "monitors/looper/function_start.h"

namespace jankbox {
namespace {

const char* FamilyName(const WaitCall& call, bool sure) {
  switch (call.family) {
    case WaitFamily::kEpoll:
      return sure ? "epoll" : "epoll, unsure";
    case WaitFamily::kSelect:
      return sure ? "select" : "select, unsure";
    case WaitFamily::kPump:
      return call.pump_name;
    case WaitFamily::kPoll:
    case WaitFamily::kRead:
      break;
  }
  return sure ? "poll" : "poll, unsure";
}

bool IsForReplies(LoopModule module) {
  return module.kind == LoopModuleKind::kReplyOnly || module.kind == LoopModuleKind::kDisplay;
}

// Stacks grow downwards on every machine that we run on.
bool IsShallower(const void* a, const void* b) {
  return reinterpret_cast<uintptr_t>(a) > reinterpret_cast<uintptr_t>(b);
}

}  // namespace

int WaitCall::Descriptor(size_t at) const {
  int descriptor;
  memcpy(&descriptor, reinterpret_cast<const char*>(fds) + at * fd_stride, sizeof(descriptor));
  return descriptor;
}

DescriptorSet WaitCall::Descriptors() const {
  DescriptorSet descriptors;
  descriptors.Add(fd);
  for (size_t i = 0; i < fd_count; ++i) descriptors.Add(Descriptor(i));
  for (const fd_set* set : sets) descriptors.AddAll(set, set_bits);
  return descriptors;
}

bool WaitCall::WaitsFor(int descriptor) const {
  if (family == WaitFamily::kPump || descriptor < 0) return false;
  if (descriptor == fd) return true;
  for (size_t i = 0; i < fd_count; ++i) {
    if (Descriptor(i) == descriptor) return true;
  }
  return descriptor < set_bits &&
         std::any_of(std::begin(sets), std::end(sets), [descriptor](const fd_set* set) {
           return set != nullptr && FD_ISSET(descriptor, set);
         });
}

bool WaitCall::WaitsForTerminal() const {
  if (family == WaitFamily::kEpoll || family == WaitFamily::kPump) return false;
  if (LoopWaits::IsTerminal(fd)) return true;
  for (size_t i = 0; i < fd_count; ++i) {
    if (LoopWaits::IsTerminal(Descriptor(i))) return true;
  }
  for (int i = 0; sets[0] != nullptr && i < std::min(set_bits, 64); ++i) {
    if (FD_ISSET(i, sets[0]) && LoopWaits::IsTerminal(i)) return true;
  }
  return false;
}

bool LoopWaits::IsNestedRun(const WaitCall& call) const {
  const bool deeper = IsShallower(loop_.stack, call.stack);
  return call.call_site == loop_.call_site && deeper && call.WaitsFor(loop_fd_);
}

// The function of the library that called the one that waits: the first other one that is among the
// words above, for its frame is the next. Null if there is none.
const void* LoopWaits::LibraryCall(const Site& site) const {
  std::array<uintptr_t, kFrameWords> words;
  if (!ReadStack(site.stack, words)) return nullptr;
  const void* waits = StartOfFunction(site.call_site);
  for (const uintptr_t word : words) {
    const auto* address = reinterpret_cast<const void*>(word);
    if (FindModule(address).kind != LoopModuleKind::kMixed) continue;
    const void* function = StartOfFunction(address);
    if (function != waits) return function;
  }
  return nullptr;
}

// wl_display_dispatch() waits for events, wl_display_roundtrip() for a reply, in the same function.
bool LoopWaits::IsReplyInside(const WaitCall& call, LoopModule module) const {
  return module.kind == LoopModuleKind::kMixed && call.call_site == loop_.call_site &&
         IsShallower(loop_.stack, call.stack) &&
         LibraryCall({call.call_site, call.stack}) != LibraryCall(loop_);
}

// The compiler makes several calls of one in the source, and a loop may poll at one place and block
// at the next: one frame is one loop, and a sleep in it its pace. Elsewhere the descriptors tell: a
// nested loop waits for all that the loop waits for (Emacs, in select, for what GLib polls), a wait
// for one reply does not.
bool LoopWaits::IsOwnElsewhere(const WaitCall& call) const {
  if (is_pump_) return false;
  const DescriptorSet waited_for = call.Descriptors();
  const bool for_all = waited_for.Contains(descriptors_);
  if (is_programs_ && call.stack == loop_.stack && (for_all || waited_for.empty()) &&
      InLoopsFunction(call.call_site)) {
    return true;
  }
  // A set of one descriptor is its number modulo 64.
  return for_all && !descriptors_.empty() && (is_programs_ || call.WaitsFor(loop_fd_));
}

bool LoopWaits::InLoopsFunction(const void* call_site) const {
  const void* function = StartOfFunction(call_site);
  return function != nullptr && function == StartOfFunction(loop_.call_site);
}

const void* LoopWaits::StartOfFunction(const void* address) const {
  return memory_ == nullptr ? FunctionStart(address) : memory_->StartOfFunction(address);
}

LoopModule LoopWaits::FindModule(const void* address) const {
  return memory_ == nullptr ? LoopModules::Find(address) : memory_->FindModule(address);
}

// Reads only above the thread's present stack pointer: its callers' frames are there.
__attribute__((no_sanitize("address"))) bool LoopWaits::ReadStack(
    const void* at, std::span<uintptr_t> words) const {
  if (memory_ != nullptr) return memory_->ReadStack(at, words);
  const auto* stack = static_cast<const volatile uintptr_t*>(at);
  for (size_t i = 0; i < words.size(); ++i) words[i] = stack[i];
  return true;
}

void LoopWaits::CopyFrame() { ReadStack(loop_.stack, frame_); }

uint32_t LoopWaits::ChangedFrameWords() const {
  std::array<uintptr_t, kFrameWords> words;
  if (!ReadStack(loop_.stack, words)) return 0;
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
  const DescriptorSet descriptors = call.Descriptors();
  descriptors_ = descriptors_.Common(descriptors);
  NoteAwaited(call, descriptors);
  if (is_programs_) ++own_waits_;
  for (Candidate& candidate : candidates_) candidate.in_a_row = 0;
  CopyFrame();
}

void LoopWaits::NoteAwaited(const WaitCall& call, DescriptorSet descriptors) {
  const int epoll_fd = call.family == WaitFamily::kEpoll ? call.fd : -1;
  __atomic_store_n(&awaited_descriptors_, descriptors.bits(), __ATOMIC_RELAXED);
  __atomic_store_n(&awaited_epoll_, epoll_fd + 1, __ATOMIC_RELAXED);
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
const char* LoopWaits::NameOf(const WaitCall& call, LoopModule module) const {
  if (module.loop_name[0] == '\0') return FamilyName(call, true);
  if (strcmp(module.loop_name, "glib") != 0) return module.loop_name;
  std::array<uintptr_t, kCallerWords> words;
  if (!ReadStack(call.stack, words)) return module.loop_name;
  for (const uintptr_t word : words) {
    const void* address = reinterpret_cast<const void*>(word);
    const LoopModule caller = FindModule(address);
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
  is_programs_ = module.loop_name[0] == '\0' && !is_pump_;
  own_waits_ = 0;
  descriptors_ = call.Descriptors();
  NoteAwaited(call, descriptors_);
  __atomic_store_n(&name_, NameOf(call, module), __ATOMIC_RELAXED);
  unsure_name_ = FamilyName(call, false);
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
  if (LoopFrameIsGone()) {
    if (is_weak_) own_waits_ = 0;  // not sure of a loop that may be no more
    return ++FindCandidate(site).seen >= kSightings;
  }
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
  guessed_ = false;
  if (call.family == WaitFamily::kPump) {
    return DecidePump({call.call_site, call.stack}, call, module);
  }
  if (IsForReplies(module)) return false;
  const Site site{call.call_site, call.stack};
  if (module.kind == LoopModuleKind::kInput) {
    if (loop_.call_site == nullptr || IsShallower(site.stack, loop_.stack)) {
      Adopt(site, call, module);
    }
    return true;
  }
  if (call.family == WaitFamily::kRead) return loop_.call_site != nullptr;
  if (loop_.call_site != nullptr && site == loop_) {
    // Its library was not known yet: it was loaded after the last poll at the modules.
    const bool known_now = is_weak_ && module.kind == LoopModuleKind::kLoop;
    if (known_now) Adopt(site, call, module);
    NoteOwnWait(call);
    return true;
  }
  // Its library was not known yet: it was loaded after the last poll at the modules.
  if (is_programs_ && IsForReplies(FindModule(loop_.call_site))) loop_ = {};
  const bool has_loop = loop_.call_site != nullptr;
  const bool may_be_own = has_loop && !IsReplyInside(call, module);
  if (may_be_own && IsNestedRun(call)) return true;
  if (has_loop && is_pump_ && site.stack == loop_.stack) return true;  // its pace
  const bool own = may_be_own && IsOwnElsewhere(call);
  if (own && is_programs_) {
    ++own_waits_;
    return true;
  }
  const bool is_library = module.kind == LoopModuleKind::kLoop;
  if (!is_library && call.returns_at_once) return false;
  if (MayTakeOver(site, is_library || call.family == WaitFamily::kEpoll)) {
    Adopt(site, call, module);
    return true;
  }
  if (own) return true;
  if (!has_loop || is_library) return false;
  if (call.WaitsForTerminal()) return true;
  guessed_ = !IsSure();
  return guessed_;
}

}  // namespace jankbox
