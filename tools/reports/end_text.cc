#include "tools/reports/end_text.h"

namespace jankbox::tools {

std::string EndText(const std::string& end_reason) {
  if (end_reason.empty()) return "";
  return end_reason == "unknown" ? "ended without closing" : "ended by " + end_reason;
}

}  // namespace jankbox::tools
