// Errors as values. Every cold path that can fail returns Status or Result<T>; hot paths return
// bool and count. Codes are permanent: they reach logs, JSON and exit codes. Allocates for the
// message. 10 and 11 are taken: JANKBOX_TIMED_OUT and JANKBOX_WOULD_BLOCK of jankbox.h.
#ifndef JANKBOX_BASE_STATUS_H_
#define JANKBOX_BASE_STATUS_H_

#include <optional>
#include <string>
#include <utility>

#include "base/dcheck.h"

namespace jankbox {

enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument = 1,
  kNotFound = 2,
  kNoSpace = 3,
  kPermissionDenied = 4,
  kIo = 5,
  kUnsupported = 6,
  kCorrupt = 7,
  kUnavailable = 8,
  kBusy = 9,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return Status(); }

  // Maps `error_number` (an errno) to a code; the message reads "<what>: <strerror>".
  static Status FromErrno(int error_number, const std::string& what);

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A T, or the Status that says why there is none. REQUIRES ok() before value().
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by design
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by design

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & {
    DCHECK(ok());
    return *value_;
  }
  const T& value() const& {
    DCHECK(ok());
    return *value_;
  }
  T value() && {
    DCHECK(ok());
    return std::move(*value_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  Status status_;
  std::optional<T> value_;
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_STATUS_H_
