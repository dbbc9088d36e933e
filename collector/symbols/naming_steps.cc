#include "collector/symbols/naming_steps.h"

#include <map>
#include <optional>
#include <utility>

#include "base/logger.h"
#include "collector/symbols/symbol_job.pb.h"
#include "collector/symbols/symbol_process.h"
#include "report/group_key.h"
#include "symbolize/named_report.h"

namespace jankbox::collector {
namespace {

using symbolproto::SymbolAnswer;
using symbolproto::SymbolJob;

constexpr int kIndexedAtOnce = 64;
constexpr int kNamedAtOnce = 1'000'000;
constexpr size_t kMaxWanted = 250'000;         // addresses: 1 GiB of names, were all files hostile
constexpr size_t kMaxMessageBytes = 1u << 20;  // of a transaction
constexpr int kTracesAtOnce = 8;
constexpr size_t kMaxKeys = 256;  // of a report
constexpr int kMaxFailures = 3;

using Keys = std::map<std::string, std::string>;  // with modules

Keys KeysOf(const WantedNames& wanted) {
  Keys keys;
  for (const auto& [key, calls] : wanted.java) keys[key];
  for (const auto& [build_id, frames] : wanted.modules) {
    if (keys.size() < kMaxKeys) keys[build_id] = frames.module;
  }
  return keys;
}

NamedMessage NameMessage(const std::string& id, ReceivedReport received, const KnownNames& names) {
  NamedMessage named{id, received.content_hash, received.group_key, "", ""};
  const std::string before = received.report.SerializeAsString();
  const JavaNames& java = names.JavaOf(received.report);
  NameReport(names.symbols, java, &received.report);
  named.group_key = GroupKeyOf(received.report).key;
  std::string message = received.report.SerializeAsString();
  if (received.named || message != before) named.message = std::move(message);
  return named;
}

}  // namespace

Result<bool> NamingSteps::IndexReports() {
  const Result<std::vector<std::string>> ids = demand_.ToIndex(kIndexedAtOnce);
  if (!ids.ok()) return ids.status();
  for (const std::string& id : ids.value()) {
    const Result<std::optional<ReceivedReport>> received = namings_.Received(id);
    if (!received.ok()) return received.status();
    if (!received->has_value()) continue;
    WantedNames wanted;
    AddWanted(received.value()->report, &wanted);
    const Status status = demand_.Add(id, received.value()->content_hash, KeysOf(wanted));
    if (!status.ok()) return status;
  }
  return !ids->empty();
}

Result<bool> NamingSteps::NameMessages() {
  const Result<int64_t> version = namings_.Version();
  if (!version.ok()) return version.status();
  Result<std::vector<std::string>> ids = namings_.ToName(kNamedAtOnce);
  if (!ids.ok()) return ids.status();
  if (ids->empty()) return false;
  WantedNames wanted;
  size_t count = 0;
  for (; count < ids->size() && wanted.size() < kMaxWanted && !stop_; ++count) {
    const Result<std::optional<ReceivedReport>> received = namings_.Received(ids.value()[count]);
    if (!received.ok()) return received.status();
    if (received->has_value()) AddWanted(received.value()->report, &wanted);
  }
  ids->resize(count);
  const Result<std::optional<KnownNames>> names = LookUp(wanted);
  if (!names.ok()) return names.status();
  const Result<int64_t> naming = namings_.Begin();
  if (!naming.ok()) return naming.status();
  Status status = AddNamed(ids.value(), names.value(), naming.value(), version.value());
  if (status.ok()) status = namings_.Show(naming.value());
  if (status.ok()) status = namings_.Settle();
  if (!status.ok()) return status;
  Log().info("named {} reports", ids->size());
  return true;
}

Status NamingSteps::AddNamed(const std::vector<std::string>& ids,
                             const std::optional<KnownNames>& names, int64_t naming,
                             int64_t version) {
  std::vector<NamedMessage> batch;
  size_t bytes = 0;
  const auto flush = [&] {
    const Status status = namings_.Add(naming, version, batch);
    batch.clear();
    bytes = 0;
    return status;
  };
  for (const std::string& id : ids) {
    if (stop_) return Status(StatusCode::kUnavailable, "the collector stops");
    Result<std::optional<ReceivedReport>> received = namings_.Received(id);
    if (!received.ok()) return received.status();
    if (!received->has_value()) continue;
    batch.push_back(names ? NameMessage(id, std::move(*received.value()), *names)
                          : NamedMessage{id, received.value()->content_hash, "", "", ""});
    bytes += batch.back().message.size();
    const Status status = bytes < kMaxMessageBytes ? Status::Ok() : flush();
    if (!status.ok()) return status;
  }
  return flush();
}

Result<std::optional<KnownNames>> NamingSteps::LookUp(const WantedNames& wanted) {
  Result<KnownNames> names = LookUpNames(wanted, symbols_, stop_);
  if (names.ok()) {
    failures_ = 0;
    return std::optional(std::move(names.value()));
  }
  if (stop_ || ++failures_ < kMaxFailures) return names.status();
  failures_ = 0;
  Log().error("given up, {} times in a row: {}", kMaxFailures, names.status().message());
  return std::optional<KnownNames>();
}

Result<std::vector<NamingSteps::Trace>> NamingSteps::TracesToName() {
  const Result<std::vector<std::string>> ids = namings_.TracesToName(kTracesAtOnce);
  if (!ids.ok()) return ids.status();
  std::vector<Trace> traces;
  for (const std::string& id : ids.value()) {
    const Result<std::optional<ReceivedReport>> received = namings_.Received(id);
    if (!received.ok()) return received.status();
    if (!received->has_value()) continue;
    const std::string path = blobs_->PathOf({id, received.value()->report.revision()});
    traces.push_back({id, received.value()->content_hash, path, {}});
  }
  return traces;
}

Status NamingSteps::ReadTraces(std::vector<Trace>* traces) {
  SymbolJob job;
  for (const Trace& trace : *traces) job.mutable_read_traces()->add_paths(trace.path);
  return RunSymbolJob(job, stop_, [&](const SymbolAnswer& answer) {
    if (!answer.has_trace() || answer.trace().index() >= traces->size()) return;
    Trace& trace = (*traces)[answer.trace().index()];
    if (!answer.trace().problem().empty()) {
      Log().debug("cannot read the trace {}: {}", trace.path, answer.trace().problem());
    }
    trace.stacks.free_sequence = answer.trace().free_sequence();
    for (const symbolproto::TraceModule& module : answer.trace().modules()) {
      trace.stacks.addresses[{module.path(), module.build_id()}].insert(module.addresses().begin(),
                                                                        module.addresses().end());
    }
  });
}

Status NamingSteps::CollectWanted(std::vector<Trace>* traces, WantedNames* wanted) {
  for (size_t i = 0; i < traces->size(); ++i) {
    const Trace& trace = (*traces)[i];
    WantedNames own;
    CollectFrames(trace.stacks, &own.modules);
    const Status status = demand_.Add(trace.id, trace.content_hash, KeysOf(own));
    if (!status.ok()) return status;
    wanted->Add(own);
    if (wanted->size() >= kMaxWanted)
      traces->erase(traces->begin() + static_cast<ptrdiff_t>(i) + 1, traces->end());
  }
  return Status::Ok();
}

Status NamingSteps::SetTraceNames(const Trace& trace, const std::optional<KnownNames>& names,
                                  int64_t version) {
  std::string joined;
  if (!names) {
    Result<std::string> shown = namings_.TraceNames(trace.id, trace.content_hash);
    if (!shown.ok()) return shown.status();
    joined = std::move(shown.value());
  } else {
    const Result<std::vector<std::string>> frames = MakeTraceNames(trace.stacks, names->symbols);
    if (!frames.ok()) {
      Log().warn("no names for the trace {}: {}", trace.path, frames.status().message());
    } else {
      for (const std::string& frame : frames.value()) joined += frame;
    }
  }
  return namings_.SetTraceNames(trace.id, trace.content_hash, version, joined);
}

Result<bool> NamingSteps::NameTraces() {
  const Result<int64_t> version = namings_.Version();
  if (!version.ok()) return version.status();
  Result<std::vector<Trace>> traces = TracesToName();
  if (!traces.ok()) return traces.status();
  if (traces->empty()) return false;
  Status status = ReadTraces(&traces.value());
  if (!status.ok() && (stop_ || ++failures_ < kMaxFailures)) return status;
  Result<std::optional<KnownNames>> names = std::optional<KnownNames>();
  if (status.ok()) {
    WantedNames wanted;
    status = CollectWanted(&traces.value(), &wanted);
    if (!status.ok()) return status;
    names = LookUp(wanted);
  }
  if (!names.ok()) return names.status();
  for (const Trace& trace : traces.value()) {
    status = SetTraceNames(trace, names.value(), version.value());
    if (!status.ok()) return status;
  }
  return true;
}

}  // namespace jankbox::collector
