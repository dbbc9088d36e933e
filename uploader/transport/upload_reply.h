// The collector's typed answers (UploadReply and CountsReply of report.proto), decoded without
// libprotobuf. Untrusted input. Threads: any.
#ifndef JANKBOX_UPLOADER_TRANSPORT_UPLOAD_REPLY_H_
#define JANKBOX_UPLOADER_TRANSPORT_UPLOAD_REPLY_H_

#include <optional>
#include <string_view>

#include "uploader/counts/count_book.h"

namespace jankbox {

// True if `body` is an UploadReply that says the report `id` is safe over there: stored,
// duplicate or superseded. Only this is an acknowledgement.
bool AcknowledgesReport(std::string_view body, std::string_view id);

// What `body`, if it is a CountsReply, says of the counts of `epoch`.
std::optional<CountsAnswer> AnswerToCounts(std::string_view body, std::string_view epoch);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_TRANSPORT_UPLOAD_REPLY_H_
