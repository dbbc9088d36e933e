#include "tools/ring/ring_json.h"

#include <algorithm>

#include "monitors/incident/watched_thread_view.h"
#include "tools/ring/ring_threads.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ring/process_identity.h"
#include "tracer/ring/ring_checksums.h"
#include "tracer/ring/word_text.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

template <size_t size>
std::string Text(const char (&field)[size]) {
  return HeaderText(field, size);
}

template <typename T>
T Load(const std::atomic<T>& value) {
  return value.load(std::memory_order_relaxed);
}

template <typename T>
T Load(const RingField<T>& field) {
  return field;
}

const char* StateOf(const RingHeader& header) {
  if (Load(header.closed) == static_cast<uint32_t>(RingEnd::kUnsealed)) return "unsealed";
  if (Load(header.closed) == static_cast<uint32_t>(RingEnd::kExited)) return "exited";
  if (Load(header.closed) != 0) return "closed";
  return IsAlive({Text(header.boot_id), header.pid, header.process_start_ticks}) ? "live"
                                                                                 : "orphan";
}

json Reading(const ClockReading& reading) {
  return {{"ticks", reading.ticks},
          {"monotonic_ns", reading.monotonic_ns},
          {"boottime_ns", reading.boottime_ns},
          {"realtime_ns", reading.realtime_ns}};
}

// ns per tick by the ring's own two readings; if it died before the second, by this machine's
// counter if the ring is from this machine's kind.
double NsPerTick(const RingHeader& header, bool* measured) {
  const auto source = static_cast<TickSource>(header.tick_source);
  *measured = false;
  if (source == TickSource::kClockGettime) return 1.0;
  ClockReading last = header.clock_at_start;
  last.ticks = Load(header.calibrated_ticks);
  last.monotonic_ns = Load(header.calibrated_monotonic_ns);
  const double slope = TickConverter(header.clock_at_start, last, 0.0).ns_per_tick();
  if (slope > 0.0) return slope;
  const bool known = source == TickSource::kTsc || source == TickSource::kCntvct;
  *measured = known;
  return known ? MeasureNsPerTick(source, 10) : 1.0;
}

const char* ClockName(uint32_t source) {
  if (source < static_cast<uint32_t>(TickSource::kClockGettime) ||
      source > static_cast<uint32_t>(TickSource::kCntvct)) {
    return "unknown";
  }
  return TickSourceName(static_cast<TickSource>(source));
}

json ClockJson(const RingHeader& header, uint64_t end_ticks) {
  bool measured = false;
  const double ns_per_tick = NsPerTick(header, &measured);
  return {{"source", ClockName(header.tick_source)},
          {"start", Reading(header.clock_at_start)},
          {"calibrated",
           {{"ticks", Load(header.calibrated_ticks)},
            {"monotonic_ns", Load(header.calibrated_monotonic_ns)}}},
          {"heartbeat_ticks", Load(header.heartbeat_ticks)},
          {"coarse_ticks", Load(header.coarse_ticks)},
          {"coarse_error_ticks", Load(header.coarse_error_ticks)},
          {"ns_per_tick", ns_per_tick},
          {"ns_per_tick_measured_now", measured},
          {"end_ticks", end_ticks}};
}

std::string NameOf(uint32_t number, std::initializer_list<const char*> names) {
  return number < names.size() ? names.begin()[number] : "unknown " + std::to_string(number);
}

json ModesJson(const RingHeader& header) {
  json modes = json::array();
  const uint64_t changes = Load(header.mode_changes);
  for (uint64_t n = changes - std::min<uint64_t>(changes, kMaxRingModes); n < changes; ++n) {
    const RingMode& mode = header.modes[n % kMaxRingModes];
    modes.push_back({{"from_ticks", Load(mode.from_ticks)},
                     {"mode", NameOf(Load(mode.mode), {"exact", "coarse", "ui_only", "off"})},
                     {"reason", NameOf(Load(mode.reason),
                                       {"start", "over budget", "within budget", "option"})}});
  }
  return modes;
}

json WatchedJson(const RingHeader& header) {
  json watched = json::array();
  for (size_t i = 0; i < kMaxWatchedThreads; ++i) {
    const RingWatchedThread& thread = header.watched[i];
    if (Load(thread.tid) == 0) continue;
    watched.push_back({{"tid", Load(thread.tid)},
                       {"loop", LoopNameOf(header, i)},
                       {"dispatch_begin_ticks", Load(thread.dispatch_begin_ticks)},
                       {"dispatch_depth", Load(thread.dispatch_depth)},
                       {"dispatch_count", Load(thread.dispatch_count)},
                       {"what", DispatchNameText(thread.what)},
                       {"frame_count", Load(thread.frame_count)}});
  }
  return watched;
}

json IncidentsJson(const RingHeader& header) {
  json incidents = json::array();
  for (size_t i = 0; i < kMaxWatchedThreads; ++i) {
    const RingIncident& incident = header.incidents[i];
    if (Load(incident.state) == 0) continue;
    incidents.push_back({{"watched_index", i},
                         {"state", NameOf(Load(incident.state), {"none", "growing", "finished"})},
                         {"kind", Load(incident.kind)},
                         {"sealed_revision", Load(incident.sealed_revision)},
                         {"begin_ticks", Load(incident.begin_ticks)},
                         {"end_ticks", Load(incident.end_ticks)},
                         {"id", ReadWordText(incident.id)}});
  }
  return incidents;
}

const char* ChecksumName(const RingChunk& chunk) {
  switch (CheckChunk(chunk)) {
    case ChunkCheck::kRight:
      return "right";
    case ChunkCheck::kWrong:
      return "wrong";
    case ChunkCheck::kNone:
      break;
  }
  return "none";
}

std::string ThreadName(const RingChunk& chunk) {
  const uint64_t name[2] = {chunk.thread_name[0], chunk.thread_name[1]};
  return HeaderText(reinterpret_cast<const char*>(name), sizeof(name));
}

// Words of events, as readers count them: those that were committed, else up to the first zero.
uint64_t WordsIn(const RingChunk& chunk) {
  if (chunk.open_calls > kMaxOpenCalls) return 0;
  const size_t first = sizeof(RingChunk) + chunk.open_calls * sizeof(RingOpenCall);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&chunk);
  const auto* words = reinterpret_cast<const uint64_t*>(bytes + first);
  const auto* end = reinterpret_cast<const uint64_t*>(bytes + kChunkBytes);
  const uint64_t committed = Load(chunk.committed_words);
  const bool closed = Load(chunk.owner) == kNoOwner;
  if (closed && committed != 0 && committed <= static_cast<uint64_t>(end - words)) return committed;
  return static_cast<uint64_t>(std::find(words, end, 0u) - words);
}

json ChunksJson(const RingReader& reader) {
  json chunks = json::array();
  for (size_t i = 0; i < reader.chunk_count(); ++i) {
    const RingChunk& chunk = reader.chunk(i);
    if (Load(chunk.sequence) == 0) continue;
    chunks.push_back(
        {{"index", i},
         {"sequence", Load(chunk.sequence)},
         {"state", Load(chunk.owner) == kNoOwner ? "closed" : "open"},
         {"tid", Load(chunk.tid)},
         {"serial", Load(chunk.thread_serial)},
         {"thread_chunk_index", Load(chunk.thread_chunk_index)},
         {"thread_name", ThreadName(chunk)},
         {"watched", chunk.watched != 0},
         {"lane", chunk.lane == static_cast<uint32_t>(RingLane::kMarkers) ? "markers" : "calls"},
         {"open_calls", Load(chunk.open_calls)},
         {"open_calls_truncated", Load(chunk.open_calls_truncated)},
         {"words", WordsIn(chunk)},
         {"committed_words", Load(chunk.committed_words)},
         {"words_before", Load(chunk.words_before)},
         {"base_ticks", Load(chunk.base_ticks)},
         {"close_ticks", Load(chunk.close_ticks)},
         {"checksum", ChecksumName(chunk)}});
  }
  return chunks;
}

}  // namespace

json RingToJson(const RingReader& reader, size_t events_per_thread) {
  const RingHeader& header = reader.header();
  const RingWindow window = reader.CopyWindow(0, UINT64_MAX);
  RingThreads threads = ThreadsOf(window, NamesOf(reader), events_per_thread);
  const uint64_t end_ticks =
      std::max({threads.newest_ticks, Load(header.heartbeat_ticks), header.clock_at_start.ticks});
  json ring = {{"version", header.version}, {"state", StateOf(header)}};
  ring["process"] = {{"pid", header.pid},
                     {"start_ticks", header.process_start_ticks},
                     {"boot_id", Text(header.boot_id)},
                     {"name", Text(header.process_name)},
                     {"app_name", Text(header.app_name)},
                     {"app_version", Text(header.app_version)},
                     {"loop", ReadWordText(header.loop_name)}};
  ring["clock"] = ClockJson(header, end_ticks);
  ring["window_ns"] = header.window_ns;
  ring["slow_threshold_ns"] = Load(header.slow_threshold_ns);
  ring["file_bytes"] = header.file_bytes;
  ring["chunk_count"] = header.chunk_count;
  ring["chunks_ready"] = Load(header.chunks_ready);
  ring["modes"] = ModesJson(header);
  ring["watched"] = WatchedJson(header);
  ring["incidents"] = IncidentsJson(header);
  ring["losses"] = {{"dropped_events", window.dropped_events},
                    {"overwritten_chunks", window.overwritten_chunks},
                    {"torn_chunks", window.torn_chunks},
                    {"corrupt_chunks", window.corrupt_chunks},
                    {"torn_events", threads.torn_events},
                    {"words_missing", threads.words_missing},
                    {"names_dropped", Load(header.names_dropped)}};
  ring["threads"] = std::move(threads.threads);
  ring["chunks"] = ChunksJson(reader);
  return ring;
}

}  // namespace jankbox::tools
