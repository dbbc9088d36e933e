#include "uploader/spool/spool_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "uploader/spool/spool.h"

namespace jankbox {
namespace {

constexpr uint64_t kReservationStepBytes = 256 << 10;

}  // namespace

SpoolWriter::SpoolWriter(Spool* spool, std::string id, SealedFile file, uint64_t reserved_bytes)
    : spool_(spool), id_(std::move(id)), file_(std::move(file)), reserved_bytes_(reserved_bytes) {}

Status SpoolWriter::Write(std::string_view bytes) {
  const uint64_t wanted_bytes = written_bytes_ + bytes.size();
  if (wanted_bytes > reserved_bytes_) {
    const uint64_t more_bytes = std::max(wanted_bytes - reserved_bytes_, kReservationStepBytes);
    Status status = spool_->Reserve(id_, file_.fd(), reserved_bytes_, more_bytes);
    // Near a limit the step may not fit where the piece itself does.
    if (status.code() == StatusCode::kNoSpace && wanted_bytes - reserved_bytes_ < more_bytes) {
      status = spool_->Reserve(id_, file_.fd(), reserved_bytes_, wanted_bytes - reserved_bytes_);
      if (status.ok()) reserved_bytes_ = wanted_bytes;
    } else if (status.ok()) {
      reserved_bytes_ += more_bytes;
    }
    if (!status.ok()) return status;
  }
  Status status = file_.Write(bytes);
  if (status.ok()) written_bytes_ = wanted_bytes;
  return status;
}

Status SpoolWriter::Seal() {
  // The slow part, before the lock is taken.
  if (ftruncate(file_.fd(), static_cast<off_t>(written_bytes_)) != 0 || fsync(file_.fd()) != 0) {
    return Status::FromErrno(errno, id_);
  }
  return spool_->Seal(id_, &file_);
}

}  // namespace jankbox
