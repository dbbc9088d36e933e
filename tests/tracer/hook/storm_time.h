// How long the hook storms take: 2 minutes with JANKBOX_SOAK, 20 s if a sanitizer looks on, 5 s
// otherwise.
#ifndef JANKBOX_TESTS_TRACER_HOOK_STORM_TIME_H_
#define JANKBOX_TESTS_TRACER_HOOK_STORM_TIME_H_

#include <chrono>
#include <cstdlib>

namespace jankbox {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline std::chrono::seconds StormTime() {
  if (getenv("JANKBOX_SOAK") != nullptr) return std::chrono::seconds(120);
  return std::chrono::seconds(kSanitized ? 20 : 5);
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_HOOK_STORM_TIME_H_
