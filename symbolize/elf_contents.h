// What an ELF file is good for, and its build id, by libelf. In a worker only: the file may be
// hostile.
#ifndef JANKBOX_SYMBOLIZE_ELF_CONTENTS_H_
#define JANKBOX_SYMBOLIZE_ELF_CONTENTS_H_

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/scoped_fd.h"

namespace jankbox {

// The most that a file can say of an address. The numbers are in messages of workers.
enum class ElfContents : uint32_t { kNothing = 0, kExports = 1, kSymbols = 2, kDebugInfo = 3 };

class OpenElf {
 public:
  // Null if `path` is no regular file (links are followed), or no ELF file.
  static std::unique_ptr<OpenElf> Open(const std::string& path);

  Elf* elf() const { return elf_.get(); }
  int fd() const { return fd_.get(); }

  // Lower-case hexadecimal; empty if it has none.
  std::string BuildId() const;
  ElfContents Contents() const;

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  OpenElf(ScopedFd fd, Elf* elf) : fd_(std::move(fd)), elf_(elf) {}

  ScopedFd fd_;
  std::unique_ptr<Elf, End> elf_;
};

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_ELF_CONTENTS_H_
