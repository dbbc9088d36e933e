#include "collector/symbols/known_names.h"

#include <utility>

#include "base/logger.h"
#include "collector/symbols/symbol_job.pb.h"
#include "collector/symbols/symbol_process.h"
#include "symbolize/limited_worker.h"

namespace jankbox::collector {
namespace {

using symbolproto::SymbolAnswer;
using symbolproto::SymbolJob;

std::string MappingKeyOf(const proto::Report& report) {
  const std::string& app = report.app_name().empty() ? report.process() : report.app_name();
  return MappingKey(app, report.app_version());
}

using Files = std::map<std::string, SymbolFile>;

Result<Files> FilesFor(const WantedNames& wanted, SymbolStore* symbols) {
  std::set<std::string> keys;
  for (const auto& [build_id, module] : wanted.modules) keys.insert(build_id);
  for (const auto& [key, calls] : wanted.java) keys.insert(key);
  return symbols->FindAll(keys);
}

SymbolJob JobOf(const WantedNames& wanted, const Files& files) {
  SymbolJob job;
  symbolproto::LookUpJob* look_up = job.mutable_look_up();
  for (const auto& [build_id, frames] : wanted.modules) {
    const auto file = files.find(build_id);
    if (file == files.end()) continue;
    symbolproto::ModuleAddresses* module = look_up->add_modules();
    module->set_build_id(build_id);
    module->set_path(file->second.path);
    module->mutable_addresses()->Add(frames.addresses.begin(), frames.addresses.end());
  }
  for (const auto& [key, wanted_calls] : wanted.java) {
    const auto file = files.find(key);
    if (file == files.end()) continue;
    symbolproto::MappedCalls* calls = look_up->add_java();
    calls->set_key(key);
    calls->set_path(file->second.path);
    for (const std::string& call : wanted_calls) calls->add_calls(call);
  }
  return job;
}

using Problems = std::map<std::string, std::string>;  // by key; empty: the file could be read

void TakeModule(const symbolproto::ModuleNames& names, KnownNames* known, Problems* problems) {
  (*problems)[names.build_id()] = names.problem();
  ModuleSymbols& module = known->symbols.modules[names.build_id()];
  for (const symbolproto::AddressCalls& calls : names.calls()) {
    module.calls[calls.address()] = calls;
  }
}

void TakeJava(const symbolproto::MappedNames& names, KnownNames* known, Problems* problems) {
  (*problems)[names.key()] = names.problem();
  JavaNames& java = known->java[names.key()];
  for (const symbolproto::JavaCalls& calls : names.calls()) {
    java[calls.call()] = {calls.originals().begin(), calls.originals().end()};
  }
}

void NoteProblems(const Problems& problems, const Files& files, SymbolStore* symbols) {
  for (const auto& [key, problem] : problems) {
    const auto file = files.find(key);
    if (file == files.end() || file->second.problem == problem) continue;
    if (!problem.empty()) Log().warn("no names from {}: {}", file->second.path, problem);
    const Status status = symbols->NoteProblem(key, problem);
    if (!status.ok()) Log().error("cannot note a problem: {}", status.message());
  }
}

}  // namespace

void WantedNames::Add(const WantedNames& other) {
  constexpr size_t kOfOneFile = MaxNameBytes(0) / kMaxNameBytes;
  for (const auto& [build_id, frames] : other.modules) {
    const auto [at, added] = modules.try_emplace(build_id);
    if (added) size_ += kOfOneFile;
    at->second.module = frames.module;
    for (const uint64_t address : frames.addresses) {
      size_ += at->second.addresses.insert(address).second ? 1 : 0;
    }
  }
  for (const auto& [key, calls] : other.java) {
    const auto [at, added] = java.try_emplace(key);
    if (added) size_ += kOfOneFile;
    for (const std::string& call : calls) {
      const bool inserted = at->second.insert(call).second;
      if (inserted) size_ += 1 + call.size() / kMaxNameBytes;
    }
  }
}

void AddWanted(const proto::Report& report, WantedNames* wanted) {
  WantedNames own;
  CollectFrames(report, &own.modules);
  std::set<std::string> calls;
  CollectJavaCalls(report, &calls);
  if (!calls.empty()) own.java[MappingKeyOf(report)] = std::move(calls);
  wanted->Add(own);
}

const JavaNames& KnownNames::JavaOf(const proto::Report& report) const {
  static const JavaNames none;
  const auto names = java.find(MappingKeyOf(report));
  return names == java.end() ? none : names->second;
}

Result<KnownNames> LookUpNames(const WantedNames& wanted, SymbolStore* symbols,
                               const std::atomic<bool>& stop) {
  const Result<Files> files = FilesFor(wanted, symbols);
  if (!files.ok()) return files.status();
  const SymbolJob job = JobOf(wanted, files.value());
  KnownNames known;
  if (job.look_up().modules().empty() && job.look_up().java().empty()) return known;
  Problems problems;
  const Status status = RunSymbolJob(job, stop, [&](const SymbolAnswer& answer) {
    if (answer.has_module()) TakeModule(answer.module(), &known, &problems);
    if (answer.has_java()) TakeJava(answer.java(), &known, &problems);
  });
  if (!status.ok()) return status;
  NoteProblems(problems, files.value(), symbols);
  return known;
}

}  // namespace jankbox::collector
