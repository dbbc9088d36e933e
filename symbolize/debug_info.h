// Functions, lines and inlined calls of addresses in one ELF file, from its DWARF, else its symbol
// table. libdw does the reading. In a worker only: the file may be hostile. Not thread-safe.
#ifndef JANKBOX_SYMBOLIZE_DEBUG_INFO_H_
#define JANKBOX_SYMBOLIZE_DEBUG_INFO_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "symbolize/elf_contents.h"
#include "symbolize/worker_message.pb.h"

namespace jankbox {

class DebugInfo {
 public:
  // Null if the file cannot be read, is no ELF file, or has another build id.
  static std::unique_ptr<DebugInfo> Open(const std::string& path, const std::string& build_id);

  // Passes the calls at each of `addresses` (of the file; sorted, without repeats) of which
  // anything is known.
  void Find(const std::vector<uint64_t>& addresses,
            const std::function<void(const symbolproto::AddressCalls&)>& pass);

 private:
  struct End {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };

  explicit DebugInfo(std::unique_ptr<OpenElf> elf);

  std::unique_ptr<OpenElf> elf_;
  std::unique_ptr<Dwarf, End> dwarf_;  // null: it has none
};

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_DEBUG_INFO_H_
