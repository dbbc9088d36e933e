#include "uploader/spool/spool_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace jankbox {
namespace {

constexpr uint64_t kReservationStepBytes = 256 << 10;

}  // namespace

SpoolWriter::SpoolWriter(SpoolRoom room, std::string id, SealedFile file, uint64_t reserved_bytes)
    : room_(std::move(room)),
      id_(std::move(id)),
      file_(std::move(file)),
      reserved_bytes_(reserved_bytes) {}

Status SpoolWriter::Write(std::string_view bytes) {
  const uint64_t wanted_bytes = written_bytes_ + bytes.size();
  if (wanted_bytes > reserved_bytes_) {
    const uint64_t more_bytes = std::max(wanted_bytes - reserved_bytes_, kReservationStepBytes);
    Status status = room_.reserve(file_.fd(), reserved_bytes_, more_bytes);
    // Near a limit the step may not fit although the piece does.
    if (status.code() == StatusCode::kNoSpace && wanted_bytes - reserved_bytes_ < more_bytes) {
      status = room_.reserve(file_.fd(), reserved_bytes_, wanted_bytes - reserved_bytes_);
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
  return room_.seal(&file_);
}

}  // namespace jankbox
