// A duration in words, as every view of a report has it. Pure; allocates.
#ifndef JANKBOX_TOOLS_REPORTS_DURATION_TEXT_H_
#define JANKBOX_TOOLS_REPORTS_DURATION_TEXT_H_

#include <string>

namespace jankbox::tools {

// "0.8 ms", "912 ms", "1.2 s", "2 min 3 s".
std::string DurationText(double ms);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_DURATION_TEXT_H_
