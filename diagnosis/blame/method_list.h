// The methods of a slow dispatch as a short listing: Matrix' rule for what is worth a line. Pure
// functions; sealing thread, allocates.
#ifndef JANKBOX_DIAGNOSIS_BLAME_METHOD_LIST_H_
#define JANKBOX_DIAGNOSIS_BLAME_METHOD_LIST_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/blame/call_tree.h"

namespace jankbox {

inline constexpr size_t kListedMethods = 30;        // Matrix' TARGET_EVIL_METHOD_STACK
inline constexpr uint64_t kListStepNs = 5'000'000;  // and its TIME_UPDATE_CYCLE_MS
inline constexpr uint32_t kListSteps = 60;          // and FILTER_STACK_MAX_COUNT

struct MethodList {
  std::vector<CallItem> items;  // callers before what they called; weights in ns
  size_t left_out = 0;
};

// At most `most` of `items` (weights in ns): those under n times 5 ms go, for n = 1, 2, … 60, until
// few enough are left; then the lightest of the rest. A caller never goes before what it called.
MethodList TrimMethods(std::vector<CallItem> items, size_t most = kListedMethods);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_METHOD_LIST_H_
