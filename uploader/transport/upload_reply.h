// The collector's typed answer (UploadReply of report.proto), decoded without libprotobuf.
// Untrusted input. Threads: any.
#ifndef JANKBOX_UPLOADER_TRANSPORT_UPLOAD_REPLY_H_
#define JANKBOX_UPLOADER_TRANSPORT_UPLOAD_REPLY_H_

#include <string_view>

namespace jankbox {

// True if `body` is an UploadReply that says the report `id` is safe over there: stored,
// duplicate or superseded. Only this is an acknowledgement.
bool AcknowledgesReport(std::string_view body, std::string_view id);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_TRANSPORT_UPLOAD_REPLY_H_
