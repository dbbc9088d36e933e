#include "diagnosis/symbols/symbolizer.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>

#include "base/compact_sort.h"
#include "base/file.h"
#include "base/recorded_process.h"
#include "diagnosis/symbols/elf_file.h"
#include "diagnosis/symbols/elf_symbols.h"
#include "diagnosis/symbols/function_starts.h"
#include "diagnosis/symbols/symbol_pass.h"

namespace jankbox {

namespace {

constexpr size_t kMaxDemangledBytes = 1024;

std::string Demangle(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || text == nullptr) return name;
  return std::string(text.get()).substr(0, kMaxDemangledBytes);
}

// Opens a module's path as the recorded process sees it, which may have a root of its own.
bool OpenAsRecorded(const std::string& path,
                    const std::function<bool(const std::string& path)>& open) {
  if (!RecordedProcess::IsThis() && open(std::string(RecordedProcess::folder()) + "/root" + path)) {
    return true;  // else it has ended
  }
  return open(path);
}

// The debug file that distributions install for a build id.
std::string DebugFileOf(const std::string& build_id) {
  if (build_id.size() < 4) return {};
  return "/usr/lib/debug/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

// The files with a module's symbols, surely of its build: its own, and the one that has .symtab. A
// module without a build id can only be taken at its path's word if the file has none either.
struct SymbolFiles {
  explicit SymbolFiles(const Module& module) {
    own = OpenModuleFile(module.path);
    if (own != nullptr && own->BuildId() != module.build_id) own.reset();
    full = own.get();
    if (full != nullptr && full->Has(ElfSymbols::Table::kFull)) return;
    full = nullptr;
    const std::string debug_path = DebugFileOf(module.build_id);
    if (debug_path.empty()) return;
    debug = ElfSymbols::Open(debug_path);
    if (debug != nullptr && debug->BuildId() == module.build_id) full = debug.get();
  }

  std::unique_ptr<ElfSymbols> own;
  std::unique_ptr<ElfSymbols> debug;
  ElfSymbols* full = nullptr;  // of the two
};

// The frames of one module, in the order of their addresses.
class ModuleFrames {
 public:
  ModuleFrames(const Module& module, std::span<const uint64_t> addresses, FrameTable* frames);

  // By unwind table.
  void FindStarts(FunctionStarts* starts) {
    for (size_t i = 0; i < in_file_.size(); ++i) {
      frames_[i]->function_start = starts->Find(in_file_[i]);
    }
  }
  void SetTextKey(const std::string& key) {
    for (ResolvedFrame* frame : frames_) frame->text_key = key;
  }
  // The names of a later table replace those of an earlier one.
  void TakeNames(ElfSymbols* symbols, ElfSymbols::Table table);

 private:
  std::vector<uint64_t> in_file_;
  std::vector<ResolvedFrame*> frames_;
};

ModuleFrames::ModuleFrames(const Module& module, std::span<const uint64_t> addresses,
                           FrameTable* frames) {
  for (const uint64_t address : addresses) {
    ResolvedFrame& frame = (*frames)[address];
    frame.module = BaseName(module.path);
    frame.path = module.path;
    frame.build_id = module.build_id;
    frame.rel_pc = address - module.load_bias;
    in_file_.push_back(frame.rel_pc);
  }
  CompactSort(&in_file_);  // a bias may wrap
  for (const uint64_t rel_pc : in_file_) frames_.push_back(&(*frames)[rel_pc + module.load_bias]);
}

void ModuleFrames::TakeNames(ElfSymbols* symbols, ElfSymbols::Table table) {
  SymbolPass pass(in_file_);
  symbols->ForEachFunction(table, [&pass](const FunctionSymbol& symbol) { pass.Add(symbol); });
  for (size_t i = 0; i < in_file_.size(); ++i) {
    const FunctionSymbol* symbol = pass.Match(i);
    ResolvedFrame& frame = *frames_[i];
    // A label that ends at the next one does not reach into another function.
    if (symbol == nullptr || (symbol->size == 0 && symbol->start < frame.function_start)) continue;
    frame.function = Demangle(symbols->NameAt(table, symbol->name_offset));
    if (table != ElfSymbols::Table::kDynamic) continue;
    frame.exported = frame.function;
    if (frame.function_start == 0) frame.function_start = symbol->start;
  }
}

// Fills the frames of one module; `addresses` is sorted.
void ResolveModule(const Module& module, std::span<const uint64_t> addresses, FrameTable* frames) {
  ModuleFrames of_module(module, addresses, frames);
  ElfFile file;
  const bool is_open = OpenAsRecorded(
      module.path, [&](const std::string& path) { return file.Open(path, module.build_id); });
  FunctionStarts starts(module, is_open ? &file : nullptr);
  of_module.FindStarts(&starts);
  if (is_open && module.build_id.empty()) of_module.SetTextKey(file.TextKey());
  const SymbolFiles files(module);
  if (files.own != nullptr) of_module.TakeNames(files.own.get(), ElfSymbols::Table::kDynamic);
  if (files.full != nullptr) of_module.TakeNames(files.full, ElfSymbols::Table::kFull);
}

}  // namespace

std::unique_ptr<ElfSymbols> OpenModuleFile(const std::string& path) {
  std::unique_ptr<ElfSymbols> symbols;
  OpenAsRecorded(path, [&](const std::string& seen) {
    symbols = ElfSymbols::Open(seen);
    return symbols != nullptr;
  });
  return symbols;
}

FrameTable ResolveAddresses(const ModuleMap& modules, const std::vector<uint64_t>& addresses) {
  std::vector<uint64_t> sorted = addresses;
  CompactSort(&sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  FrameTable frames;
  for (size_t first = 0; first < sorted.size();) {
    const Module* module = modules.Find(sorted[first]);
    if (module == nullptr) {
      frames[sorted[first]].rel_pc = sorted[first];
      ++first;
      continue;
    }
    size_t end = first;
    while (end < sorted.size() && sorted[end] < module->end) ++end;
    ResolveModule(*module, std::span(sorted).subspan(first, end - first), &frames);
    first = end;
  }
  return frames;
}

}  // namespace jankbox
