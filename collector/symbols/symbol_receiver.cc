#include "collector/symbols/symbol_receiver.h"

#include <unistd.h>

#include <utility>

#include "base/clock.h"
#include "collector/symbols/symbol_job.pb.h"
#include "collector/symbols/symbol_process.h"
#include "symbolize/symbol_lookup.h"

namespace jankbox::collector {
namespace {

using symbolproto::SymbolAnswer;
using symbolproto::SymbolJob;

Status Useless(const std::string& why) { return Status(StatusCode::kInvalidArgument, why); }

// A problem's text without the path of the temporary file.
std::string WithoutPath(std::string problem, const std::string& path) {
  const std::string prefix = path + ": ";
  return problem.starts_with(prefix) ? problem.substr(prefix.size()) : problem;
}

}  // namespace

Result<ReceivedSymbols> SymbolReceiver::Accept(IncomingFile* file,
                                               const std::optional<MappedApp>& app) {
  ReceivedSymbols received;
  SymbolFile& symbols = received.file;
  symbols.contents = ElfContents::kDebugInfo;
  if (app.has_value()) {
    symbols.key = MappingKey(app->app, app->version);
    symbols.app = app->app;
    symbols.app_version = app->version;
  }
  Status status = app.has_value() ? CheckMapping(file->path()) : Identify(file->path(), &symbols);
  if (!status.ok()) return status;
  symbols.uploaded = true;
  symbols.bytes = file->bytes();
  symbols.content_hash = file->ContentHash();
  symbols.received_at_ms = static_cast<int64_t>(RealtimeNs() / kNsPerMs);
  Result<std::string> path = file->Keep(symbols.key);
  if (!path.ok()) return path.status();
  symbols.path = path.value();
  const Result<PutOutcome> outcome = symbols_->Put(symbols);
  if (!outcome.ok() || outcome->result != PutOutcome::Result::kStored) {
    unlink(symbols.path.c_str());
  }
  if (!outcome.ok()) return outcome.status();
  // What reads it now goes on reading it.
  if (!outcome->replaced_path.empty()) unlink(outcome->replaced_path.c_str());
  received.result = outcome->result;
  if (received.result == PutOutcome::Result::kStored) on_stored_();
  const Result<std::optional<SymbolFile>> there = symbols_->Find(symbols.key);
  if (there.ok() && there->has_value()) received.file = *there.value();
  return received;
}

Status SymbolReceiver::Identify(const std::string& path, SymbolFile* symbols) const {
  SymbolJob job;
  job.mutable_identify()->add_paths(path);
  std::string problem;
  const Status status = RunSymbolJob(job, stop_, [&](const SymbolAnswer& answer) {
    if (answer.has_problem()) problem = WithoutPath(answer.problem(), path);
    if (!answer.has_elf()) return;
    symbols->key = answer.elf().build_id();
    symbols->contents = static_cast<ElfContents>(answer.elf().contents());
  });
  if (!status.ok()) return status;
  if (!problem.empty()) return Useless(problem);
  if (!IsBuildId(symbols->key)) {
    return Useless("no ELF file with a build id; link with -Wl,--build-id");
  }
  if (symbols->contents < ElfContents::kSymbols) {
    return Useless("it has no symbols: it was stripped. Send the file from before");
  }
  return Status::Ok();
}

Status SymbolReceiver::CheckMapping(const std::string& path) const {
  SymbolJob job;
  job.mutable_identify()->add_paths(path);
  job.mutable_identify()->set_mapping(true);
  std::string problem;
  const Status status = RunSymbolJob(job, stop_, [&](const SymbolAnswer& answer) {
    if (answer.has_problem()) problem = WithoutPath(answer.problem(), path);
  });
  if (!status.ok()) return status;
  return problem.empty() ? Status::Ok() : Useless(problem);
}

}  // namespace jankbox::collector
