#include "tools/reports/duration_text.h"

#include <cmath>
#include <cstdio>

namespace jankbox::tools {

std::string DurationText(double ms) {
  char text[48];
  if (ms < 9.95) {
    snprintf(text, sizeof(text), "%.1f ms", ms);
  } else if (ms < 999.5) {
    snprintf(text, sizeof(text), "%.0f ms", ms);
  } else if (ms < 59'950) {
    snprintf(text, sizeof(text), "%.1f s", ms / 1000);
  } else {
    const double seconds = std::round(ms / 1000);
    snprintf(text, sizeof(text), "%.0f min %.0f s", std::floor(seconds / 60),
             std::fmod(seconds, 60));
  }
  return text;
}

}  // namespace jankbox::tools
