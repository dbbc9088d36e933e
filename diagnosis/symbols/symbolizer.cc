#include "diagnosis/symbols/symbolizer.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/compact_sort.h"
#include "base/file.h"
#include "base/recorded_process.h"
#include "diagnosis/symbols/elf_symbols.h"
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

// The debug file that distributions install for a build id.
std::string DebugFileOf(const std::string& build_id) {
  if (build_id.size() < 4) return {};
  return "/usr/lib/debug/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

// The file with the most symbols that is surely the module's. A module without a build id can only
// be taken at its path's word if the file has none either.
std::unique_ptr<ElfSymbols> OpenSymbols(const Module& module) {
  std::unique_ptr<ElfSymbols> own = OpenModuleFile(module.path);
  if (own != nullptr && own->BuildId() != module.build_id) own.reset();
  if (own != nullptr && own->HasFullTable()) return own;
  const std::string debug_path = DebugFileOf(module.build_id);
  if (debug_path.empty()) return own;
  std::unique_ptr<ElfSymbols> debug = ElfSymbols::Open(debug_path);
  const bool better =
      debug != nullptr && debug->HasFullTable() && debug->BuildId() == module.build_id;
  return better ? std::move(debug) : std::move(own);
}

// Fills the frames of one module; `addresses` is sorted.
void ResolveModule(const Module& module, std::span<const uint64_t> addresses, FrameTable* frames) {
  std::vector<uint64_t> in_file;
  for (uint64_t address : addresses) {
    ResolvedFrame& frame = (*frames)[address];
    frame.module = BaseName(module.path);
    frame.path = module.path;
    frame.build_id = module.build_id;
    frame.rel_pc = address - module.load_bias;
    in_file.push_back(frame.rel_pc);
  }
  CompactSort(&in_file);
  std::unique_ptr<ElfSymbols> symbols = OpenSymbols(module);
  if (symbols == nullptr) return;
  SymbolPass pass(std::move(in_file));
  symbols->ForEachFunction([&pass](const FunctionSymbol& symbol) { pass.Add(symbol); });
  for (size_t i = 0; i < pass.addresses().size(); ++i) {
    const FunctionSymbol* symbol = pass.Match(i);
    if (symbol == nullptr) continue;
    ResolvedFrame& frame = (*frames)[pass.addresses()[i] + module.load_bias];
    frame.function = Demangle(symbols->NameAt(symbol->name_offset));
    frame.function_start = symbol->start;
  }
}

}  // namespace

std::unique_ptr<ElfSymbols> OpenModuleFile(const std::string& path) {
  if (!RecordedProcess::IsThis()) {
    auto symbols = ElfSymbols::Open(std::string(RecordedProcess::folder()) + "/root" + path);
    if (symbols != nullptr) return symbols;  // else it has ended
  }
  return ElfSymbols::Open(path);
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
