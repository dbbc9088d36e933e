#include "symbolize/symbol_lookup.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "symbolize/debug_info.h"
#include "symbolize/limited_worker.h"

namespace jankbox {
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
  const size_t max_bytes = MaxNameBytes(addresses.size());
  size_t bytes = 0;
  const Status status = RunLimited(
      LimitsFor(path), [&](WorkerOutput* output) { FindAll(path, build_id, addresses, output); },
      [&](const WorkerMessage& message) {
        if (message.has_problem()) module.problem = message.problem();
        const AddressCalls& found = message.address();
        if (found.calls_size() == 0 || !addresses.contains(found.address())) return;
        bytes += found.ByteSizeLong();
        if (bytes > max_bytes) {
          module.problem = "its names take too much space";
        } else {
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

Symbols LookUpSymbolsIn(const std::map<std::string, DebugFile>& files,
                        const SymbolRequests& requests) {
  Symbols symbols;
  for (const auto& [build_id, addresses] : requests) {
    ModuleSymbols& module = symbols.modules[build_id];
    const auto file = files.find(build_id);
    if (file == files.end()) continue;
    module = LookUpModule(file->second.path, build_id, addresses);
    if (!module.problem.empty()) {
      symbols.problems.push_back(module.file + ": " + module.problem);
    }
  }
  return symbols;
}

Symbols LookUpSymbols(const std::vector<std::string>& folders, const SymbolRequests& requests) {
  std::set<std::string> build_ids;
  for (const auto& [build_id, addresses] : requests) build_ids.insert(build_id);
  const DebugFiles files = FindDebugFiles(folders, build_ids);
  Symbols symbols = LookUpSymbolsIn(files.by_build_id, requests);
  symbols.problems.insert(symbols.problems.begin(), files.problems.begin(), files.problems.end());
  return symbols;
}

}  // namespace jankbox
