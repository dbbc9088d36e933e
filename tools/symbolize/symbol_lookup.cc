#include "tools/symbolize/symbol_lookup.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "tools/symbolize/debug_files.h"
#include "tools/symbolize/debug_info.h"
#include "tools/symbolize/limited_worker.h"

namespace jankbox::tools {
namespace {

using symbolproto::AddressCalls;
using symbolproto::WorkerMessage;

// A file may be mapped, and its sections decompressed and indexed.
WorkerLimits LimitsFor(const std::string& path) {
  constexpr uint64_t kMaxFileBytes = uint64_t{8} << 30;
  constexpr uint64_t kTimesFile = 4;
  WorkerLimits limits;
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (!error) limits.memory_bytes += kTimesFile * std::min(size, kMaxFileBytes);
  return limits;
}

// In the worker.
void FindAll(const std::string& path, const std::string& build_id,
             const std::set<uint64_t>& addresses, WorkerOutput* output) {
  const std::unique_ptr<DebugInfo> debug_info = DebugInfo::Open(path, build_id);
  if (debug_info == nullptr) return output->SendProblem("it cannot be read");
  WorkerMessage message;
  debug_info->Find({addresses.begin(), addresses.end()}, [&](const AddressCalls& found) {
    *message.mutable_address() = found;
    output->Send(message);
  });
}

// All that the file knows, or nothing.
ModuleSymbols LookUpModule(const std::string& path, const std::string& build_id,
                           const std::set<uint64_t>& addresses) {
  ModuleSymbols module{path, "", {}};
  const Status status = RunLimited(
      LimitsFor(path), [&](WorkerOutput* output) { FindAll(path, build_id, addresses, output); },
      [&](const WorkerMessage& message) {
        if (message.has_problem()) module.problem = message.problem();
        const AddressCalls& found = message.address();
        if (found.calls_size() != 0 && addresses.contains(found.address())) {
          module.calls[found.address()] = found;
        }
      });
  if (!status.ok()) module.problem = status.message();
  if (!module.problem.empty()) module.calls.clear();
  return module;
}

}  // namespace

bool IsBuildId(const std::string& id) {
  constexpr size_t kMaxDigits = 128;
  return id.size() >= 4 && id.size() <= kMaxDigits && id.size() % 2 == 0 &&
         std::all_of(id.begin(), id.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Symbols LookUpSymbols(const std::vector<std::string>& folders, const SymbolRequests& requests) {
  std::set<std::string> build_ids;
  for (const auto& [build_id, addresses] : requests) build_ids.insert(build_id);
  const DebugFiles files = FindDebugFiles(folders, build_ids);
  Symbols symbols;
  symbols.problems = files.problems;
  for (const auto& [build_id, addresses] : requests) {
    ModuleSymbols& module = symbols.modules[build_id];
    const auto file = files.by_build_id.find(build_id);
    if (file == files.by_build_id.end()) continue;
    module = LookUpModule(file->second.path, build_id, addresses);
    if (!module.problem.empty()) {
      symbols.problems.push_back(module.file + ": " + module.problem);
    }
  }
  return symbols;
}

}  // namespace jankbox::tools
