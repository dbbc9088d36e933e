// The meaning of a response to an upload for the report. Pure: no clock, no I/O. Threads: any.
#ifndef JANKBOX_UPLOADER_POLICY_UPLOAD_OUTCOME_H_
#define JANKBOX_UPLOADER_POLICY_UPLOAD_OUTCOME_H_

#include <cstdint>

namespace jankbox {

enum class UploadOutcome : uint8_t {
  kAcknowledged,  // durable over there: remove
  kRefused,       // will never be taken: drop
  kTooLarge,      // the same, for its size
  kRetryReport,   // the server failed on this one: keep, others may go
  kRetryLater,    // server or network is not there now: keep, stop
  kPause,         // the server does not accept this sender (key, address): keep, stop
};

// `http_status` 0: no answer. `typed_ack`: the body is an UploadReply for the report that was sent.
// A 2xx without it is a captive portal's page and no ack (FAULTS U7).
UploadOutcome JudgeAnswer(int http_status, bool typed_ack);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_POLICY_UPLOAD_OUTCOME_H_
