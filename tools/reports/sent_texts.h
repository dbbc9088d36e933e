// Every text that a report takes off the device: of its message, and of its trace. Untrusted input,
// as in report_file.h. One thread.
#ifndef JANKBOX_TOOLS_REPORTS_SENT_TEXTS_H_
#define JANKBOX_TOOLS_REPORTS_SENT_TEXTS_H_

#include <set>
#include <string>
#include <string_view>

#include "base/status.h"

namespace jankbox::tools {

struct SentTexts {
  std::set<std::string> report;
  std::set<std::string> trace;  // those that the report has not
};

// Of a sealed file. kCorrupt as for ParseReport() and ForEachPacket().
Result<SentTexts> ReadSentTexts(std::string_view file);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_SENT_TEXTS_H_
