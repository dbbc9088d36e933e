#include "base/status.h"

#include <cerrno>
#include <cstring>

namespace jankbox {

Status Status::FromErrno(int error_number, const std::string& what) {
  StatusCode code = StatusCode::kIo;
  switch (error_number) {
    case ENOENT:
      code = StatusCode::kNotFound;
      break;
    case ENOSPC:
    case EDQUOT:
      code = StatusCode::kNoSpace;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = StatusCode::kPermissionDenied;
      break;
    case EINVAL:
      code = StatusCode::kInvalidArgument;
      break;
    case EAGAIN:
    case EBUSY:
    case EMFILE:  // it may go better later
    case ENFILE:
    case ENOMEM:
      code = StatusCode::kBusy;
      break;
    case ENOSYS:
    case EOPNOTSUPP:
      code = StatusCode::kUnsupported;
      break;
    default:
      break;
  }
  char text[128] = "";
  // GNU strerror_r returns the text; XSI and bionic below API 23 fill the buffer.
  const char* message = text;
#if defined(__GLIBC__)
  message = strerror_r(error_number, text, sizeof(text));
#else
  strerror_r(error_number, text, sizeof(text));
#endif
  return Status(code, what + ": " + message);
}

}  // namespace jankbox
