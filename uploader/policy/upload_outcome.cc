#include "uploader/policy/upload_outcome.h"

namespace jankbox {

UploadOutcome JudgeAnswer(int http_status, bool typed_ack) {
  switch (http_status) {
    case 200:
      return typed_ack ? UploadOutcome::kAcknowledged : UploadOutcome::kRetryLater;
    case 400:
    case 409:
    case 415:
      return UploadOutcome::kRefused;
    case 413:
      return UploadOutcome::kTooLarge;
    case 408:
    case 425:
    case 429:
    case 503:
      return UploadOutcome::kRetryLater;
    default:
      break;
  }
  if (http_status >= 500) return UploadOutcome::kRetryReport;
  // Any other 4xx: the address or the key is wrong, which no report can help.
  if (http_status >= 400) return UploadOutcome::kPause;
  // No answer, an informational one, another 2xx, or a redirect, which is never followed.
  return UploadOutcome::kRetryLater;
}

}  // namespace jankbox
