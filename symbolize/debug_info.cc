#include "symbolize/debug_info.h"

#include <dwarf.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "symbolize/call_chains.h"
#include "symbolize/demangled_name.h"
#include "symbolize/function_symbols.h"
#include "symbolize/limited_worker.h"

namespace jankbox {
namespace {

using symbolproto::AddressCalls;
using symbolproto::SourceCall;

constexpr size_t kMaxFileBytes = 1024;  // of a text in a report

// The parts of the file that hold code. The linker leaves the ranges of functions that it dropped
// at addresses where there is none.
class CodeSegments {
 public:
  explicit CodeSegments(Elf* elf) {
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return;
    for (size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) break;
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      segments_.emplace_back(segment.p_vaddr, segment.p_memsz);
    }
  }

  bool Has(uint64_t address) const {
    return segments_.empty() ||  // an object file
           std::any_of(segments_.begin(), segments_.end(), [&](const auto& segment) {
             return address - segment.first < segment.second;
           });
  }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> segments_;  // begin, size
};

struct Unit {
  Dwarf_Die lines;  // the entry that the table of lines belongs to
  Dwarf_Die calls;  // the entry that has the functions below it
  std::vector<uint64_t> addresses;
};

// The units that have any of `addresses`, each address in one of them.
std::vector<Unit> UnitsOf(Dwarf* dwarf, const CodeSegments& code,
                          const std::vector<uint64_t>& addresses) {
  std::vector<Unit> units;
  std::vector<bool> taken(addresses.size());
  Dwarf_CU* at = nullptr;
  uint8_t type = 0;
  Dwarf_Die die, split;
  while (dwarf_get_units(dwarf, at, &at, nullptr, &type, &die, &split) == 0) {
    if (type == DW_UT_type || type == DW_UT_split_type) continue;
    Unit unit{die, type == DW_UT_skeleton && split.addr != nullptr ? split : die, {}};
    Dwarf_Addr base = 0, begin = 0, end = 0;
    ptrdiff_t offset = 0;
    while ((offset = dwarf_ranges(&die, offset, &base, &begin, &end)) > 0) {
      if (begin >= end || !code.Has(begin)) continue;
      auto address = std::lower_bound(addresses.begin(), addresses.end(), begin);
      for (; address != addresses.end() && *address < end; ++address) {
        const size_t i = static_cast<size_t>(address - addresses.begin());
        if (!taken[i]) unit.addresses.push_back(*address);
        taken[i] = true;
      }
    }
    std::sort(unit.addresses.begin(), unit.addresses.end());
    if (!unit.addresses.empty()) units.push_back(std::move(unit));
  }
  return units;
}

std::string TextOf(Dwarf_Attribute* attribute) {
  const char* text = attribute == nullptr ? nullptr : dwarf_formstring(attribute);
  return text == nullptr ? "" : text;
}

std::string LinkageName(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  const std::string name = TextOf(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
  if (!name.empty()) return name;
  return TextOf(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
}

std::string PlainName(Dwarf_Die* die) {
  const char* name = dwarf_diename(die);
  return name == nullptr ? "" : name;
}

uint64_t NumberOf(Dwarf_Die* die, unsigned attribute_name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  Dwarf_Attribute* const found = dwarf_attr(die, attribute_name, &attribute);
  return found != nullptr && dwarf_formudata(found, &value) == 0 ? value : 0;
}

void SetPlace(const char* file, uint64_t line, SourceCall* call) {
  if (file == nullptr) return;
  call->set_file(ToValidUtf8(file, kMaxFileBytes));
  call->set_line(static_cast<uint32_t>(line));
}

// Passes the calls at the addresses of one unit.
class UnitCalls {
 public:
  explicit UnitCalls(Unit* unit) : unit_(*unit), chains_(unit_.addresses) {
    chains_.Walk(&unit_.calls);
    if (dwarf_getsrcfiles(&unit_.calls, &files_, nullptr) != 0) files_ = nullptr;
  }

  // The i-th address of the unit. `symbol`: of the symbol table, or empty.
  AddressCalls Of(size_t i, const std::string& symbol) {
    AddressCalls found;
    found.set_address(unit_.addresses[i]);
    std::vector<Dwarf_Die> chain = chains_.Of(i);
    for (size_t at = chain.size(); at-- > 1;) {
      const std::string name = LinkageName(&chain[at]);
      Add(name.empty() ? PlainName(&chain[at]) : name, &found);
      SetCallOf(&chain[at], &next_);
    }
    std::string name = chain.empty() ? "" : LinkageName(&chain[0]);
    if (name.empty()) name = symbol;  // which says which copy of a function it is
    if (name.empty() && !chain.empty()) name = PlainName(&chain[0]);
    Add(name, &found);
    next_.Clear();
    SetLine(unit_.addresses[i], found.mutable_calls(0));
    return found;
  }

 private:
  // A call, and where it is if it is not the innermost one.
  void Add(const std::string& symbol, AddressCalls* found) {
    SourceCall* call = found->add_calls();
    *call = next_;
    call->set_function(DemangledName(symbol));
  }

  // Where `inlined` is called.
  void SetCallOf(Dwarf_Die* inlined, SourceCall* caller) {
    caller->Clear();
    const uint64_t file = NumberOf(inlined, DW_AT_call_file);
    if (files_ == nullptr || dwarf_hasattr(inlined, DW_AT_call_file) == 0) return;
    SetPlace(dwarf_filesrc(files_, file, nullptr, nullptr), NumberOf(inlined, DW_AT_call_line),
             caller);
  }

  void SetLine(uint64_t address, SourceCall* call) {
    Dwarf_Line* const line = dwarf_getsrc_die(&unit_.lines, address);
    int number = 0;
    if (line == nullptr || dwarf_lineno(line, &number) != 0 || number < 0) return;
    SetPlace(dwarf_linesrc(line, nullptr, nullptr), static_cast<uint64_t>(number), call);
  }

  Unit& unit_;
  CallChains chains_;
  Dwarf_Files* files_ = nullptr;
  SourceCall next_;  // with the place only
};

bool KnowsAnything(const AddressCalls& found) {
  return found.calls_size() > 1 || !found.calls(0).function().empty() ||
         !found.calls(0).file().empty();
}

// For clang the type of a handler is without return only by this attribute.
void EndWithoutMemory() __attribute__((noreturn));
void EndWithoutMemory() { _exit(kWorkerNoMemory); }

}  // namespace

std::unique_ptr<DebugInfo> DebugInfo::Open(const std::string& path, const std::string& build_id) {
  std::unique_ptr<OpenElf> elf = OpenElf::Open(path);
  if (elf == nullptr || elf->BuildId() != build_id) return nullptr;
  return std::unique_ptr<DebugInfo>(new DebugInfo(std::move(elf)));
}

DebugInfo::DebugInfo(std::unique_ptr<OpenElf> elf)
    : elf_(std::move(elf)), dwarf_(dwarf_begin_elf(elf_->elf(), DWARF_C_READ, nullptr)) {
  if (dwarf_ != nullptr) dwarf_new_oom_handler(dwarf_.get(), EndWithoutMemory);
}

void DebugInfo::Find(const std::vector<uint64_t>& addresses,
                     const std::function<void(const AddressCalls&)>& pass) {
  const std::vector<std::string> symbols = FunctionSymbols(elf_->elf(), addresses);
  const auto index_of = [&](uint64_t address) {
    const auto at = std::lower_bound(addresses.begin(), addresses.end(), address);
    return static_cast<size_t>(at - addresses.begin());
  };
  std::vector<bool> passed(addresses.size());
  std::vector<Unit> units;
  if (dwarf_ != nullptr) units = UnitsOf(dwarf_.get(), CodeSegments(elf_->elf()), addresses);
  for (Unit& unit : units) {
    UnitCalls calls(&unit);
    for (size_t i = 0; i < unit.addresses.size(); ++i) {
      const size_t index = index_of(unit.addresses[i]);
      const AddressCalls found = calls.Of(i, symbols[index]);
      if (KnowsAnything(found)) pass(found);
      passed[index] = true;
    }
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (passed[i] || symbols[i].empty()) continue;
    AddressCalls found;
    found.set_address(addresses[i]);
    found.add_calls()->set_function(DemangledName(symbols[i]));
    pass(found);
  }
}

}  // namespace jankbox
