// From the waits of a UI thread (poll, epoll, select) to the dispatches of its loop: the time from
// one return of the loop's own wait to the next is one dispatch; every other wait of the thread
// belongs to the dispatch that it is called in (libxcb polls inside dispatches more often than GLib
// waits). HOT: called around each wait; NO-ALLOC, no lock, no system call but clock_gettime by
// vdso. One object for each thread, used only by that thread.
//
// A loop that the program writes itself around a library's event queue (SDL) may never wait at all:
// there, as in Tcl, taking events counts as a wait (kPump), and the rules for that are in
// DecidePump().
//
// Which wait is the loop's own: docs/loops.md has the rules of DecideWait() with examples. In
// short, in this order; a site is (call site, stack pointer at the call):
//  1. Waits called from libraries that only wait for replies (libxcb, libdbus, …) never are. Those
//     of libraries that wait for the user (readline, ncurses) always are.
//  2. A wait at the loop's site is. So is one with the same call site deeper in the stack that
//     waits for the loop's own descriptor: a nested run of the same loop (a modal dialog); but not
//     if libwayland waits there, and was called by another of its functions: that is a roundtrip.
//  3. A loop also owns the waits for all of its descriptors, wherever they are called; one of the
//     program itself those from the same function in the same frame, too.
//     Waits for the user's terminal, and reads of it, are idle wherever they are.
//  4. A shallower wait takes over: the old loop's frames are gone. A deeper one takes over only if
//     it recurs and the words above the old loop's stack pointer show that its frame is gone: while
//     that lives, a dispatch may poll as often as it likes. Words that a living loop was seen to
//     change (the event that it reads into) do not count. A program's own poll or select loop also
//     gives way to a known loop that recurs without a wait of its own between: it was the program's
//     start, in the frame of main() that is still there.
//  5. epoll, and any wait called from a known loop library, is adopted at first sight; poll and
//     select of others at the third, if they may block; a loop that had to give way comes back at
//     first sight.
//  6. Until a loop of the program itself has waited 16 times, it is not sure of it: any wait of the
//     program that may block counts as the loop's, so that no idle program is called blocked.
#ifndef JANKBOX_MONITORS_LOOPER_LOOP_WAITS_H_
#define JANKBOX_MONITORS_LOOPER_LOOP_WAITS_H_

#include <sys/select.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "monitors/looper/descriptor_set.h"
#include "monitors/looper/loop_memory.h"
#include "monitors/looper/loop_modules.h"

namespace jankbox {

enum class WaitFamily : uint8_t { kPoll, kEpoll, kSelect, kPump, kRead };

struct WaitCall {
  // A count above it may be a mistake that the kernel refuses: only the first descriptor is read.
  static constexpr size_t kMostDescriptors = 1024;
  static constexpr size_t Readable(size_t count) { return count <= kMostDescriptors ? count : 1; }

  const void* call_site = nullptr;  // return address of the wait
  const void* stack = nullptr;      // stack pointer of the caller at the call
  WaitFamily family = WaitFamily::kPoll;
  int fd = -1;               // epoll's own descriptor; else the first that is waited for, -1: none
  const int* fds = nullptr;  // poll: all of them, `fd_stride` bytes apart
  size_t fd_count = 0;
  size_t fd_stride = 0;
  bool returns_at_once = false;  // its timeout is 0
  const fd_set* sets[3] = {};    // select: to read, to write, exceptions; each may be null
  int set_bits = 0;              // how many of each
  const char* pump_name = "";    // of a pump: whose events it takes

  DescriptorSet Descriptors() const;
  // REQUIRES at < fd_count.
  int Descriptor(size_t at) const;
  bool WaitsFor(int descriptor) const;
  bool WaitsForTerminal() const;
};

class LoopWaits {
 public:
  LoopWaits() = default;
  // Of a thread of another process; `memory` outlives it.
  explicit LoopWaits(const LoopMemory* memory) : memory_(memory) {}

  // The descriptors, a bit each, of the terminal that the program's user types into. Cold.
  static void SetTerminals(uint64_t fds) { terminals_.store(fds, std::memory_order_relaxed); }
  // HOT. A number that is another file by now still counts: asking the kernel is not for here.
  static bool IsTerminal(int fd) {
    return fd >= 0 && fd < 64 && (terminals_.load(std::memory_order_relaxed) >> fd & 1) != 0;
  }

  // True if `call` is a wait of the loop itself. `module` contains its call site.
  bool DecideWait(const WaitCall& call, LoopModule module);

  // The last one counts as the loop's only because it is not known whether it is (rule 6): if it
  // was long, it may have been a stall.
  bool guessed() const { return guessed_; }

  // The name of the loop's kind; "" until there is one. Any thread.
  const char* loop_name() const {
    const char* name = __atomic_load_n(&name_, __ATOMIC_RELAXED);
    return name != nullptr ? name : "";
  }

  // The same for reports, which say if the model is not sure of the loop (rule 6). Its own thread.
  const char* reported_name() const { return IsSure() ? loop_name() : unsure_name_; }
  // What the loop waited for last.
  struct Awaited {
    uint64_t descriptors;  // a bit for each modulo 64
    int epoll_fd;          // -1: it was no epoll
  };
  // Any thread.
  Awaited awaited() const {
    return {__atomic_load_n(&awaited_descriptors_, __ATOMIC_RELAXED),
            __atomic_load_n(&awaited_epoll_, __ATOMIC_RELAXED) - 1};
  }

 private:
  static constexpr size_t kCandidates = 8;
  static constexpr size_t kFrameWords = 32;
  // Above a wait of GLib, if a library that runs GLib's loop for its own has its frame.
  static constexpr size_t kCallerWords = 64;
  static constexpr uint32_t kSightings = 3;
  static constexpr uint32_t kSightingsInARow = 4;
  static constexpr uint32_t kSureWaits = 16;

  struct Site {
    const void* call_site = nullptr;
    const void* stack = nullptr;
    bool operator==(const Site& other) const = default;
  };
  struct Candidate {
    Site site;
    uint32_t seen = 0;
    uint32_t in_a_row = 0;  // without a wait of the loop between
  };

  bool DecidePump(const Site& site, const WaitCall& call, LoopModule module);
  bool IsNestedRun(const WaitCall& call) const;
  const void* LibraryCall(const Site& site) const;
  bool IsReplyInside(const WaitCall& call, LoopModule module) const;
  bool IsOwnElsewhere(const WaitCall& call) const;
  bool IsSure() const { return !is_programs_ || own_waits_ >= kSureWaits; }
  bool MayTakeOver(const Site& site, bool at_first_sight);
  Candidate& FindCandidate(const Site& site);
  void Adopt(const Site& site, const WaitCall& call, LoopModule module);
  void NoteOwnWait(const WaitCall& call);
  void NoteAwaited(const WaitCall& call, DescriptorSet descriptors);
  uint32_t ChangedFrameWords() const;
  bool LoopFrameIsGone();
  void CopyFrame();
  const char* NameOf(const WaitCall& call, LoopModule module) const;
  bool ReadStack(const void* at, std::span<uintptr_t> words) const;
  const void* StartOfFunction(const void* address) const;
  LoopModule FindModule(const void* address) const;
  bool InLoopsFunction(const void* call_site) const;

  static inline std::atomic<uint64_t> terminals_{0};

  const LoopMemory* memory_ = nullptr;  // null: this process's

  Site loop_;
  Site previous_loop_;
  bool guessed_ = false;
  bool is_weak_ = false;       // adopted because it recurred, not for what it is
  bool is_pump_ = false;       // the program takes events whenever it likes
  bool is_programs_ = false;   // not of a library that runs main loops
  uint32_t own_waits_ = 0;     // of a loop of the program
  DescriptorSet descriptors_;  // what every wait of the loop waited for
  // All zero at first, which costs the library no bytes in its file.
  int loop_fd_ = 0;
  uint64_t awaited_descriptors_ = 0;
  int awaited_epoll_ = 0;       // the descriptor plus one
  const char* name_ = nullptr;  // null: none
  const char* unsure_name_ = "";
  std::array<Candidate, kCandidates> candidates_;
  size_t next_candidate_ = 0;
  // What was above the loop's stack pointer at its last wait; and, a bit a word, what changes
  // while it lives, and what had changed at the last query.
  std::array<uintptr_t, kFrameWords> frame_{};
  uint32_t restless_words_ = 0;
  uint32_t doubted_words_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_LOOP_WAITS_H_
