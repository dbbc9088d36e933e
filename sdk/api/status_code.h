// The codes of jankbox.h for Status, and the sentence for jankbox_last_error(). Called by the C API
// on the app's threads; locks if the status is an error.
#ifndef JANKBOX_SDK_API_STATUS_CODE_H_
#define JANKBOX_SDK_API_STATUS_CODE_H_

#include "base/last_error.h"
#include "base/status.h"
#include "jankbox/jankbox.h"

namespace jankbox {

static_assert(static_cast<int>(StatusCode::kInvalidArgument) == JANKBOX_INVALID_ARGUMENT);
static_assert(static_cast<int>(StatusCode::kNotFound) == JANKBOX_NOT_FOUND);
static_assert(static_cast<int>(StatusCode::kNoSpace) == JANKBOX_NO_SPACE);
static_assert(static_cast<int>(StatusCode::kPermissionDenied) == JANKBOX_PERMISSION_DENIED);
static_assert(static_cast<int>(StatusCode::kIo) == JANKBOX_IO);
static_assert(static_cast<int>(StatusCode::kUnsupported) == JANKBOX_UNSUPPORTED);
static_assert(static_cast<int>(StatusCode::kCorrupt) == JANKBOX_CORRUPT);
static_assert(static_cast<int>(StatusCode::kUnavailable) == JANKBOX_NOT_RUNNING);
static_assert(static_cast<int>(StatusCode::kBusy) == JANKBOX_BUSY);

inline jankbox_status ToApiStatus(const Status& status) {
  if (!status.ok()) SetLastError(status.message());
  return static_cast<jankbox_status>(status.code());
}

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_STATUS_CODE_H_
