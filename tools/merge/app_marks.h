// The events of the app's trace in the form of the kernel's markers, to find the markers that both
// sides have. Not thread-safe; allocates.
#ifndef JANKBOX_TOOLS_MERGE_APP_MARKS_H_
#define JANKBOX_TOOLS_MERGE_APP_MARKS_H_

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "tools/merge/app_trace.h"
#include "tools/merge/capture_facts.h"

namespace jankbox::tools {

// Two marks with the same key say the same.
struct MarkKey {
  char kind = 0;      // B, C, S, F or I; N counts as I
  int32_t tid = 0;    // of B and I; 0 of the others, whose thread our trace does not say
  uint32_t name = 0;  // index into CaptureFacts.names
  int64_t value = 0;  // of C

  auto operator<=>(const MarkKey&) const = default;
};

// Nothing (kind 0) for E, which says no name.
MarkKey KeyOf(const KernelMark& mark);

// Times (BOOTTIME, ns, ascending) of the app's own marks that share a key with the capture's.
std::map<MarkKey, std::vector<uint64_t>> AppMarks(const AppTrace& app, const CaptureFacts& facts);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_APP_MARKS_H_
