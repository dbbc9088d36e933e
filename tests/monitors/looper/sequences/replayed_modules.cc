#include "tests/monitors/looper/sequences/replayed_modules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "monitors/looper/function_start.h"
#include "monitors/looper/loop_modules.h"

namespace jankbox {
namespace {

// Addresses that no recorded value is: those are numbers from 1 on.
constexpr uintptr_t kCode = uintptr_t{1} << 40;
constexpr uintptr_t kFunctionBytes = uintptr_t{1} << 20;
constexpr uintptr_t kQtWord = kCode - 1;
constexpr LoopModule kQt = {LoopModuleKind::kLoop, "qt"};

// Each function that a site or a word is in, and one for each site of an unknown function.
struct ReplayedFunction {
  std::string module;
  uint64_t start;  // as recorded
  size_t site;     // if that is unknown
  LoopModule kind;
};
std::vector<ReplayedFunction> g_functions;
std::vector<size_t> g_of_sites;  // their functions
std::vector<size_t> g_of_words;

size_t FunctionNumber(const std::string& module, uint64_t start, size_t site) {
  const size_t unknown_at = start == 0 ? site : 0;
  const auto found =
      std::find_if(g_functions.begin(), g_functions.end(), [&](const ReplayedFunction& function) {
        return function.module == module && function.start == start && function.site == unknown_at;
      });
  const auto number = static_cast<size_t>(found - g_functions.begin());
  if (found == g_functions.end()) {
    g_functions.push_back({module, start, unknown_at, ClassifyModule(module)});
  }
  return number;
}

const ReplayedFunction* FunctionAt(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const size_t number = (at - kCode) / kFunctionBytes;
  return at >= kCode && number < g_functions.size() ? &g_functions[number] : nullptr;
}

}  // namespace

void ReplayedModules::Load(const RecordedRun& run) {
  g_functions.clear();
  g_of_sites.clear();
  g_of_words.clear();
  for (const RecordedSite& site : run.sites) {
    g_of_sites.push_back(FunctionNumber(site.module, site.function, g_of_sites.size()));
  }
  for (const RecordedFunction& function : run.functions) {
    g_of_words.push_back(FunctionNumber(function.module, function.start, run.sites.size()));
  }
}

const void* ReplayedModules::CallSite(size_t site) {
  return reinterpret_cast<const void*>(kCode + g_of_sites[site] * kFunctionBytes + site + 1);
}

uintptr_t ReplayedModules::Word(uint64_t value, size_t function) {
  if (function == 0) return value;
  return kCode + g_of_words[function - 1] * kFunctionBytes + value % kFunctionBytes;
}

uintptr_t ReplayedModules::QtWord() { return kQtWord; }

// --- In place of monitors/looper/function_start.cc and loop_modules.cc

const void* FunctionStart(const void* address) {
  const ReplayedFunction* function = FunctionAt(address);
  if (function == nullptr || function->start == 0) return nullptr;
  const auto number = static_cast<uintptr_t>(function - g_functions.data());
  return reinterpret_cast<const void*>(kCode + number * kFunctionBytes);
}

LoopModule LoopModules::Find(const void* address) {
  if (reinterpret_cast<uintptr_t>(address) == kQtWord) return kQt;
  const ReplayedFunction* function = FunctionAt(address);
  return function == nullptr ? LoopModule{} : function->kind;
}

// Those that the main thread has waited in at any time.
bool LoopModules::HasLoopLibrary() {
  return std::any_of(g_of_sites.begin(), g_of_sites.end(), [](size_t function) {
    return g_functions[function].kind.kind == LoopModuleKind::kLoop;
  });
}

}  // namespace jankbox
