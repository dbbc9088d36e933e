// How a process ended, in words. Pure.
#ifndef JANKBOX_TOOLS_REPORTS_END_TEXT_H_
#define JANKBOX_TOOLS_REPORTS_END_TEXT_H_

#include <string>

namespace jankbox::tools {

// "ended by SIGSEGV" for a report's end_reason; "ended without closing" if nothing says how: that
// is no crash. "" if the process had not ended.
std::string EndText(const std::string& end_reason);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_END_TEXT_H_
