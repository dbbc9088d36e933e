// The categories of the atrace command that are traced in user space, as data (atrace.cpp of
// Android 12), and the way from their names to tags. Categories of the kernel have a table of their
// own; here they are only distinguished. Cold.
#ifndef JANKBOX_TRACER_ATRACE_ATRACE_CATEGORIES_H_
#define JANKBOX_TRACER_ATRACE_ATRACE_CATEGORIES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jankbox {

struct AtraceCategory {
  char name[14];
  uint64_t tags;  // 0: of services in other processes
};

std::span<const AtraceCategory> AtraceCategories();

// Null if no category of user space has that name.
const AtraceCategory* FindAtraceCategory(std::string_view name);

// "gfx view app", in the order of the bits. A bit that belongs to no category is "app", "always",
// "not_ready", or "bit<n>".
std::string AtraceTagNames(uint64_t tags);

struct AtraceSelection {
  uint64_t tags = 0;
  std::vector<std::string> kernel;   // categories of the kernel, as they were written
  std::vector<std::string> unknown;  // neither
};

// From "gfx view sched" (parted by blanks or commas) or a number ("0x496e"). "app" is the app's own
// sections, for which atrace has no category. `is_kernel_category` may be null: none is known.
AtraceSelection SelectAtraceCategories(std::string_view list,
                                       bool (*is_kernel_category)(std::string_view name));

}  // namespace jankbox

#endif  // JANKBOX_TRACER_ATRACE_ATRACE_CATEGORIES_H_
