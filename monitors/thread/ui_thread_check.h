// Finds settings that make a UI thread late: a lower priority, another scheduling policy,
// a coarser timer slack than the kernel's 50 us (Matrix' thread tracer hooks setpriority and prctl
// for the same). Asked from outside, once a second, since nothing of it is worth a hook. Watcher
// thread.
#ifndef JANKBOX_MONITORS_THREAD_UI_THREAD_CHECK_H_
#define JANKBOX_MONITORS_THREAD_UI_THREAD_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jankbox {

struct UiThreadReading {
  std::optional<int> nice;                 // none: not known, as below
  std::optional<int> policy;               // SCHED_…
  std::optional<uint64_t> timer_slack_ns;  // of another thread: needs CAP_SYS_NICE
};

UiThreadReading ReadUiThread(int32_t tid);

class UiThreadCheck {
 public:
  // New findings as sentences: each value is reported once. What the thread had at the first look
  // is how it was started, and no finding, but for the slack.
  std::vector<std::string> Look(const UiThreadReading& reading);

 private:
  UiThreadReading last_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_THREAD_UI_THREAD_CHECK_H_
