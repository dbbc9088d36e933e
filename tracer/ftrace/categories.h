// The kernel half of atrace's categories as data: which events each one needs (REQ) and which it
// takes if the kernel has them (OPT). From the category table of Android's atrace (PARITY A6,
// A7). Names of events are "system/event", relative to events/.
#ifndef JANKBOX_TRACER_FTRACE_CATEGORIES_H_
#define JANKBOX_TRACER_FTRACE_CATEGORIES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace jankbox {

struct CategoryEvent {
  const char* name;  // alternatives by kernel version, the first that exists: "a/|b/"
  bool required;
};

struct KernelCategory {
  const char* name;
  const char* title;
  std::span<const CategoryEvent> events;
};

std::span<const KernelCategory> KernelCategories();

// nullptr if there is no such category.
const KernelCategory* FindKernelCategory(std::string_view name);

struct EnabledCategories {
  std::vector<std::string> events;   // whose enable file was written, relative to events/
  std::vector<std::string> missing;  // optional ones that could not be, with the reason
};

// Writes 1 to the enable files of `categories` (names, separated by blanks) below `tracing_dir`,
// an instance. Fails with the event's name if a required one cannot be enabled or a category is
// not known; what was enabled for it is then disabled again.
Result<EnabledCategories> EnableCategories(const std::string& tracing_dir,
                                           std::string_view categories);

// Writes 0 to all of them.
void DisableEvents(const std::string& tracing_dir, const std::vector<std::string>& events);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_CATEGORIES_H_
