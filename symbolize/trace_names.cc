#include "symbolize/trace_names.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "symbolize/limited_worker.h"
#include "symbolize/packets/byte_source.h"
#include "symbolize/packets/packet_stream.h"
#include "tracer/snapshot/zstd_stream.h"

namespace jankbox {
namespace {

using symbolproto::AddressCalls;
using symbolproto::SourceCall;
using traceproto::InternedData;
using traceproto::TracePacket;

constexpr size_t kMaxPacketBytes = 64 << 10;    // so that a zstd frame has whole packets
constexpr size_t kMaxTraceAddresses = 250'000;  // a window has far fewer
// A hostile trace may have one address in any number of mappings.
constexpr size_t kMaxNamesBytes = 256 << 20;

std::string Hexadecimal(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

// All of the trace: its frames are one after another in the file.
std::string_view TraceOf(const ReportFileParts& parts) {
  if (parts.trace.empty()) return {};
  const char* begin = parts.trace.front().data();
  const char* end = parts.trace.back().data() + parts.trace.back().size();
  return {begin, static_cast<size_t>(end - begin)};
}

bool HasOnlyNames(std::string_view zstd_frame) {
  ByteSource source(zstd_frame);
  size_t packets = 0;
  const Status status = ForEachPacket(&source, [&](TracePacket* packet) {
    ++packets;
    return packet->has_module_symbols() ? Status::Ok() : Status(StatusCode::kInvalidArgument, "");
  });
  return status.ok() && packets != 0;
}

// What one sequence interned.
class Sequence {
 public:
  void Take(const InternedData& interned) {
    for (const auto& text : interned.build_ids()) build_ids_[text.iid()] = text.str();
    for (const auto& text : interned.mapping_paths()) paths_[text.iid()] = text.str();
    for (const auto& mapping : interned.mappings()) mappings_[mapping.iid()] = mapping;
    for (const auto& frame : interned.frames()) frames_[frame.iid()] = frame;
    for (const auto& stack : interned.callstacks()) callstacks_[stack.iid()] = stack;
  }

  // Adds the frames of a callstack; those that are not interned are passed over.
  void AddStack(uint64_t iid, TraceStacks* stacks) {
    if (!added_.insert(iid).second) return;
    for (const uint64_t frame_iid : callstacks_[iid].frame_ids()) {
      const traceproto::Frame& frame = frames_[frame_iid];
      const traceproto::Mapping& mapping = mappings_[frame.mapping_id()];
      const std::string& build_id = build_ids_[mapping.build_id()];
      if (build_id.empty()) continue;
      stacks->addresses[{PathOf(mapping), build_id}].insert(frame.rel_pc());
    }
  }

 private:
  // As importers do it.
  std::string PathOf(const traceproto::Mapping& mapping) {
    std::string path;
    for (const uint64_t iid : mapping.path_string_ids()) path += "/" + paths_[iid];
    return path.starts_with("//") ? path.substr(1) : path;
  }

  std::unordered_map<uint64_t, std::string> build_ids_;
  std::unordered_map<uint64_t, std::string> paths_;
  std::unordered_map<uint64_t, traceproto::Mapping> mappings_;
  std::unordered_map<uint64_t, traceproto::Frame> frames_;
  std::unordered_map<uint64_t, traceproto::Callstack> callstacks_;
  std::unordered_set<uint64_t> added_;
};

Status ReadStacks(std::string_view trace, TraceStacks* stacks) {
  std::unordered_map<uint32_t, Sequence> sequences;
  ByteSource source(trace);
  return ForEachPacket(&source, [&](TracePacket* packet) {
    const uint32_t id = packet->trusted_packet_sequence_id();
    stacks->free_sequence = std::max(stacks->free_sequence, id + 1);
    const bool cleared =
        (packet->sequence_flags() & TracePacket::SEQ_INCREMENTAL_STATE_CLEARED) != 0;
    if (cleared) sequences.erase(id);
    if (packet->has_interned_data()) sequences[id].Take(packet->interned_data());
    if (packet->perf_sample().has_callstack_iid()) {
      sequences[id].AddStack(packet->perf_sample().callstack_iid(), stacks);
    }
    return Status::Ok();
  });
}

// In the worker.
void SendStacks(std::string_view trace, WorkerOutput* output) {
  constexpr int kMaxAddresses = 100'000;  // of one message
  TraceStacks stacks;
  const Status status = ReadStacks(trace, &stacks);
  if (!status.ok()) return output->SendProblem(status.message());
  size_t count = 0;
  for (const auto& [mapping, addresses] : stacks.addresses) count += addresses.size();
  if (count > kMaxTraceAddresses) return output->SendProblem("its stacks have too many addresses");
  symbolproto::WorkerMessage message;
  for (const auto& [mapping, addresses] : stacks.addresses) {
    const auto begin = [&, &path = mapping.first, &build_id = mapping.second] {
      message.mutable_trace()->Clear();
      message.mutable_trace()->set_path(path);
      message.mutable_trace()->set_build_id(build_id);
    };
    begin();
    for (const uint64_t address : addresses) {
      message.mutable_trace()->add_addresses(address);
      if (message.trace().addresses_size() < kMaxAddresses) continue;
      output->Send(message);
      begin();
    }
    output->Send(message);
  }
  message.set_free_sequence(stacks.free_sequence);
  output->Send(message);
}

// Gathers packets into zstd frames.
class NamePackets {
 public:
  explicit NamePackets(uint32_t sequence)
      : sequence_(sequence), stream_(sink_, ZstdStream::Matches::kFoundByZstd) {}

  Status Add(const traceproto::ModuleSymbols& symbols) {
    traceproto::Trace trace;
    TracePacket* packet = trace.add_packet();
    packet->set_trusted_packet_sequence_id(sequence_);
    packet->set_sequence_flags(first_ ? TracePacket::SEQ_INCREMENTAL_STATE_CLEARED
                                      : TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    if (first_) packet->set_first_packet_on_sequence(true);
    first_ = false;
    *packet->mutable_module_symbols() = symbols;
    const std::string bytes = trace.SerializeAsString();
    bytes_ += bytes.size();
    if (bytes_ > kMaxNamesBytes) {
      return Status(StatusCode::kNoSpace, "the names in the trace take too much space");
    }
    if (pending_.size() + bytes.size() > ZstdStream::kMaxPieceBytes) {
      Status status = Flush();
      if (!status.ok()) return status;
    }
    pending_ += bytes;
    return Status::Ok();
  }

  Status Flush() {
    Status status = pending_.empty() ? Status::Ok() : stream_.Write(pending_);
    pending_.clear();
    return status;
  }

  std::vector<std::string> Take() { return std::move(frames_); }

 private:
  const uint32_t sequence_;
  bool first_ = true;
  size_t bytes_ = 0;  // of all packets
  std::string pending_;
  std::vector<std::string> frames_;
  const SnapshotSink sink_ = [this](std::string_view frame) {
    frames_.emplace_back(frame);
    return Status::Ok();
  };
  ZstdStream stream_;
};

// True if importers would show a name.
bool HasName(const AddressCalls& calls) {
  return calls.calls_size() != 0 && !calls.calls(calls.calls_size() - 1).function().empty();
}

void AddLines(const AddressCalls& calls, traceproto::ModuleSymbols* module) {
  traceproto::AddressSymbols* symbols = module->add_address_symbols();
  symbols->set_address(calls.address());
  for (const SourceCall& call : calls.calls()) {
    traceproto::Line* line = symbols->add_lines();
    line->set_function_name(call.function());
    if (!call.file().empty()) line->set_source_file_name(call.file());
    if (call.line() != 0) line->set_line_number(call.line());
  }
}

}  // namespace

void RemoveTraceNames(ReportFileParts* parts) {
  while (parts->trace.size() > 1 && HasOnlyNames(parts->trace.back())) parts->trace.pop_back();
}

Result<TraceStacks> ReadTraceStacks(const ReportFileParts& parts) {
  constexpr uint32_t kCpuSeconds = 30;
  TraceStacks stacks;
  std::string problem;
  const Status status = RunLimited(
      {.cpu_seconds = kCpuSeconds},
      [&](WorkerOutput* output) { SendStacks(TraceOf(parts), output); },
      [&](const symbolproto::WorkerMessage& message) {
        if (message.has_problem()) problem = message.problem();
        if (message.has_free_sequence()) stacks.free_sequence = message.free_sequence();
        if (!message.has_trace()) return;
        const symbolproto::TraceModule& module = message.trace();
        stacks.addresses[{module.path(), module.build_id()}].insert(module.addresses().begin(),
                                                                    module.addresses().end());
      });
  if (!status.ok()) return status;
  if (!problem.empty()) return Status(StatusCode::kCorrupt, problem);
  return stacks;
}

void CollectFrames(const TraceStacks& stacks, ModulesByBuildId* modules) {
  for (const auto& [mapping, addresses] : stacks.addresses) {
    const std::string& path = mapping.first;
    const std::string build_id = Hexadecimal(mapping.second);
    if (!IsBuildId(build_id)) continue;
    ModuleFrames& module = (*modules)[build_id];
    module.module = path.substr(path.rfind('/') + 1);
    module.addresses.insert(addresses.begin(), addresses.end());
  }
}

Result<std::vector<std::string>> MakeTraceNames(const TraceStacks& stacks, const Symbols& symbols) {
  NamePackets packets(stacks.free_sequence);
  for (const auto& [mapping, addresses] : stacks.addresses) {
    const auto module = symbols.modules.find(Hexadecimal(mapping.second));
    if (module == symbols.modules.end()) continue;
    traceproto::ModuleSymbols names;
    const auto flush = [&, &path = mapping.first, &build_id = mapping.second] {
      names.set_path(path);
      names.set_build_id(build_id);
      Status status = names.address_symbols().empty() ? Status::Ok() : packets.Add(names);
      names.Clear();
      return status;
    };
    for (const uint64_t address : addresses) {
      const auto calls = module->second.calls.find(address);
      if (calls == module->second.calls.end() || !HasName(calls->second)) continue;
      AddLines(calls->second, &names);
      Status status = names.ByteSizeLong() < kMaxPacketBytes ? Status::Ok() : flush();
      if (!status.ok()) return status;
    }
    Status status = flush();
    if (!status.ok()) return status;
  }
  Status status = packets.Flush();
  if (!status.ok()) return status;
  return packets.Take();
}

}  // namespace jankbox
