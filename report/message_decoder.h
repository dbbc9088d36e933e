// Messages of report.proto that an app itself reads back, by the table that writes them. The bytes
// are untrusted: every length, type and count is checked. Any thread; allocates.
#ifndef JANKBOX_REPORT_MESSAGE_DECODER_H_
#define JANKBOX_REPORT_MESSAGE_DECODER_H_

#include <string_view>

#include "base/status.h"
#include "report/report.h"

namespace jankbox {

// kCorrupt if the bytes are malformed, or beyond a limit of the schema. Unknown fields are ignored.
Status DecodeCountBook(std::string_view bytes, ReportCountBook* book);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_MESSAGE_DECODER_H_
