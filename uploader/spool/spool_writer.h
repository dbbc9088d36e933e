// One report being written into a spool. Its room is reserved by the length of its temporary file,
// which every process of the folder sees and which goes with the process that dies. Destroyed
// before Seal() it leaves nothing. Not thread-safe; the sealing thread's; blocks on the disk.
// REQUIRES that what `room` refers to (the Spool) outlives it and is not moved.
#ifndef JANKBOX_UPLOADER_SPOOL_SPOOL_WRITER_H_
#define JANKBOX_UPLOADER_SPOOL_SPOOL_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/sealed_file.h"
#include "base/status.h"

namespace jankbox {

// The functions of a spool that its writers use.
struct SpoolRoom {
  // Lengthens the file from `reserved_bytes` by `more_bytes`. kNoSpace if the limits forbid it.
  std::function<Status(int fd, uint64_t reserved_bytes, uint64_t more_bytes)> reserve;
  // Makes the file visible and enters it in the counts.
  std::function<Status(SealedFile* file)> seal;
};

class SpoolWriter {
 public:
  SpoolWriter(SpoolRoom room, std::string id, SealedFile file, uint64_t reserved_bytes);
  SpoolWriter(SpoolWriter&&) noexcept = default;
  SpoolWriter& operator=(SpoolWriter&&) = delete;

  // Reserves more room as it is needed. kNoSpace if the limits do not let the report grow.
  Status Write(std::string_view bytes);

  uint64_t written_bytes() const { return written_bytes_; }

  // Makes the report durable and visible, in place of an earlier revision, and enters it in the
  // accounts. After an error nothing is visible. REQUIRES that it is called at most once.
  Status Seal();

 private:
  SpoolRoom room_;
  std::string id_;
  SealedFile file_;
  uint64_t written_bytes_ = 0;
  uint64_t reserved_bytes_;
};

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_SPOOL_SPOOL_WRITER_H_
