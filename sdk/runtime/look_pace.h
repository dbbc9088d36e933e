// When the watcher looks at the watched threads again, and when it asks to be woken instead. What
// begins now and then wakes it. What begins often does not: then the watcher looks so often that a
// dispatch which begins right after a look is seen in time. Pure logic. Watcher thread; NO-ALLOC.
#ifndef JANKBOX_SDK_RUNTIME_LOOK_PACE_H_
#define JANKBOX_SDK_RUNTIME_LOOK_PACE_H_

#include <algorithm>
#include <cstdint>

namespace jankbox {

class LookPace {
 public:
  // As of the end of a look.
  struct Look {
    uint64_t look_ns = 0;      // until an ordinary look, while something goes on
    uint64_t rest_ns = 0;      // until one that is due if nothing begins; 0: something goes on
    uint64_t deadline_ns = 0;  // until what begins now has to be seen
    uint64_t began = 0;        // since the look before
    bool asleep = false;       // this was said before the look, and nothing began since
  };
  struct Plan {
    uint64_t sleep_ns = 0;
    bool asleep = false;  // what begins from now on wakes the watcher
  };

  // The first plan that lets the watcher fall asleep has no time: another look follows before it
  // sleeps, and sees what began without knowing of it.
  Plan Next(const Look& look) {
    if (look.rest_ns == 0) return {look.look_ns, false};
    if (look.asleep) return {look.rest_ns, true};
    if (look.began != 0) empty_looks_ = 0;
    if (often_ && empty_looks_ < kMostEmptyLooks) {
      ++empty_looks_;
      return {std::min(look.rest_ns, look.deadline_ns), false};
    }
    often_ = false;
    return {0, true};
  }

  // Something woke the watcher at `now_ns`.
  void Woken(uint64_t now_ns, uint64_t deadline_ns) {
    often_ = now_ns - woken_ns_ < deadline_ns + deadline_ns / 2;
    woken_ns_ = now_ns;
    empty_looks_ = 0;
  }

 private:
  // What began less than one and a half deadlines apart is seen by one of two looks.
  static constexpr uint32_t kMostEmptyLooks = 2;

  uint64_t woken_ns_ = 0;
  bool often_ = false;
  uint32_t empty_looks_ = 0;  // since something began, while it is looked for
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_LOOK_PACE_H_
