// The segments and the code of an ELF file, for the functions and the identity of code that has no
// symbols. Reads with pread in small pieces, without libelf, which Android does not have. Nothing
// in the file is trusted. Cold path.
#ifndef JANKBOX_DIAGNOSIS_SYMBOLS_ELF_FILE_H_
#define JANKBOX_DIAGNOSIS_SYMBOLS_ELF_FILE_H_

#include <link.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/scoped_fd.h"

namespace jankbox {

class ElfFile {
 public:
  // False if the file cannot be read, is not one of this machine, or has another build id.
  bool Open(const std::string& path, const std::string& build_id);

  // False if the file does not have all bytes of the range. `address` is one of the file's.
  bool Read(uint64_t address, void* into, size_t size) const;

  // Address and size of .eh_frame_hdr; 0 if there is none.
  uint64_t eh_frame_hdr() const { return eh_frame_hdr_; }
  uint64_t eh_frame_hdr_size() const { return eh_frame_hdr_size_; }

  // A key of the first 4 KiB of .text; empty if there is no such section.
  std::string TextKey() const;

 private:
  bool ReadAt(uint64_t offset, void* into, size_t size) const;

  ScopedFd file_;
  ElfW(Ehdr) header_{};
  std::vector<ElfW(Phdr)> segments_;
  uint64_t eh_frame_hdr_ = 0;
  uint64_t eh_frame_hdr_size_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SYMBOLS_ELF_FILE_H_
