#include "diagnosis/seal/report_evidence.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/file.h"
#include "base/recorded_process.h"
#include "diagnosis/blame/blame.h"
#include "diagnosis/symbols/perf_map.h"

namespace jankbox {
namespace {

// Of every thread of the recorded process.
ThreadNames NamesOfThreads() {
  ThreadNames names;
  const std::string tasks = std::string(RecordedProcess::folder()) + "/task";
  const Result<std::vector<std::string>> tids = ListDirectory(tasks);
  if (!tids.ok()) return names;
  for (const std::string& tid : tids.value()) {
    std::string name = ReadProcFile(tasks + "/" + tid + "/comm", 64);
    while (!name.empty() && name.back() == '\n') name.pop_back();
    if (!name.empty()) names[atoi(tid.c_str())] = name;
  }
  return names;
}

// Names of the methods that the window uses; those known by address through the symbol tables.
MethodNames NameMethods(const std::vector<MethodRegistry::Entry>& entries, const RingWindow& window,
                        const ModuleMap& modules) {
  std::set<uint32_t> used;
  for (const WindowThread& thread : window.threads) {
    for (const WindowChunk& chunk : thread.chunks) {
      for (const OpenCall& call : chunk.open_calls) used.insert(call.id);
      EventCursor cursor(chunk);
      EventRecord record;
      while (cursor.Next(&record)) {
        const bool dispatch = record.kind == EventKind::kDispatchBegin;
        if (!dispatch && record.kind != EventKind::kStackSample) used.insert(record.id);
      }
    }
  }
  std::vector<uint64_t> addresses;
  for (const auto& entry : entries) {
    if (entry.address != 0 && used.count(entry.id) != 0) addresses.push_back(entry.address);
  }
  const FrameTable functions = ResolveAddresses(modules, addresses);
  MethodNames names;
  for (const auto& entry : entries) {
    if (used.count(entry.id) == 0) continue;
    if (!entry.name.empty()) {
      names.Set(entry.id, entry.name);
    } else if (auto it = functions.find(entry.address);
               it != functions.end() && !it->second.function.empty()) {
      names.Set(entry.id, it->second.function);
    }
  }
  return names;
}

}  // namespace

ReportEvidence GatherEvidence(const ReportSource& source, const SealRequest& request) {
  ReportEvidence evidence;
  const uint64_t end_ns = source.clock.ToMonotonicNs(source.end_ticks);
  const uint64_t from_ns = end_ns - std::min(end_ns, source.window_ns);
  const uint64_t from_ticks =
      std::max(source.clock.FromMonotonicNs(from_ns), source.ring->header().clock_at_start.ticks);
  evidence.window = source.ring->CopyWindow(from_ticks, source.end_ticks, source.buffer);
  if (source.process.pid == RecordedProcess::pid()) evidence.thread_names = NamesOfThreads();
  evidence.names = NameMethods(source.names, evidence.window, source.modules);
  std::vector<uint64_t> addresses;
  const uint64_t begin = source.clock.FromMonotonicNs(request.begin_ns);
  const uint64_t end = source.clock.FromMonotonicNs(request.end_ns);
  for (const StackSample& sample : SamplesOf(evidence.window, 0)) {
    addresses.insert(addresses.end(), sample.pcs, sample.pcs + sample.depth);
    const bool inside = sample.time_ns >= begin && sample.time_ns <= end &&
                        sample.source != SampleSource::kCreation;
    if (inside && sample.tid == request.tid) evidence.samples.push_back(sample);
  }
  if (request.threads != nullptr) {
    for (const StackSample& stack : request.threads->stacks) {
      addresses.insert(addresses.end(), stack.pcs, stack.pcs + stack.depth);
    }
  }
  evidence.frames = ResolveAddresses(source.modules, addresses);
  if (source.js_names) NameFramesFromPerfMap(PerfMapPath(source.process.pid), &evidence.frames);
  return evidence;
}

}  // namespace jankbox
