#include "tracer/ring/ring_reader.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/atomic_word.h"
#include "base/phase_names.h"
#include "base/uuid.h"
#include "tracer/ring/ring_checksums.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

// A chunk as copied, with what the window needs to place it.
struct CopiedChunk {
  WindowChunk chunk;
  int32_t tid = 0;
  uint64_t thread_serial = 0;
  uint32_t thread_chunk_index = 0;
  uint64_t words_before = 0;
  bool watched = false;
  RingLane lane = RingLane::kCalls;
  std::string thread_name;
};

// The words of an open chunk are read one by one, in order: a record whose head is there is whole.
size_t CopyOpenWords(const uint64_t* from, size_t limit, uint64_t* to) {
  size_t count = 0;
  for (; count < limit; ++count) {
    const uint64_t word = LoadRelaxed(from + count);
    if (word == 0) break;
    to[count] = word;
  }
  return count;
}

// Those of a closed one stay as they are, unless it is recycled, which its sequence says.
void CopyClosedWords(const uint64_t* from, size_t count, uint64_t* to) {
#if defined(__SANITIZE_THREAD__)
  for (size_t i = 0; i < count; ++i) to[i] = LoadRelaxed(from + i);
#else
  memcpy(to, from, count * sizeof(uint64_t));
#endif
}

// Copies the chunk that was seen with `sequence`, its words to `to`; false if it has been
// recycled since or is damaged.
bool CopyOf(const RingChunk& source, uint64_t sequence, uint64_t* to, CopiedChunk* copy) {
  copy->chunk.sequence = sequence;
  copy->chunk.base_ticks = source.base_ticks;
  copy->chunk.close_ticks = source.close_ticks.load(std::memory_order_relaxed);
  copy->tid = source.tid;
  copy->thread_serial = source.thread_serial;
  copy->thread_chunk_index = source.thread_chunk_index;
  copy->words_before = source.words_before;
  copy->watched = source.watched != 0;
  if (source.lane == static_cast<uint32_t>(RingLane::kMarkers)) copy->lane = RingLane::kMarkers;
  copy->chunk.open_calls_truncated = source.open_calls_truncated;
  const uint64_t name[2] = {source.thread_name[0], source.thread_name[1]};
  copy->thread_name = HeaderText(reinterpret_cast<const char*>(name), sizeof(name));
  const size_t open_calls = source.open_calls;
  if (open_calls > kMaxOpenCalls) return false;
  const uint64_t* words = reinterpret_cast<const uint64_t*>(&source + 1);
  for (size_t i = 0; i < open_calls; ++i) {
    const uint64_t ticks = LoadRelaxed(words + 2 * i);
    const uint64_t call = LoadRelaxed(words + 2 * i + 1);
    copy->chunk.open_calls.push_back({static_cast<uint32_t>(call) & kMaxMethodId,
                                      static_cast<EventKind>((call >> 32) & 15), ticks});
  }
  words += 2 * open_calls;
  const size_t limit = RingReader::kMaxChunkWords - 2 * open_calls;
  const bool closed = source.owner.load(std::memory_order_acquire) == kNoOwner;
  size_t count = source.committed_words.load(std::memory_order_relaxed);
  if (closed && count != 0 && count <= limit) {
    CopyClosedWords(words, count, to);
  } else {
    count = CopyOpenWords(words, limit, to);
  }
  copy->chunk.words.Refer(to, count);
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the fence in StartChunk
  return source.sequence.load(std::memory_order_relaxed) == sequence;
}

bool Earlier(const CopiedChunk& a, const CopiedChunk& b) {
  return a.chunk.sequence < b.chunk.sequence;
}

// The totals of one lane of a thread.
struct Lane {
  std::vector<WindowChunk> chunks;
  uint64_t words_before = 0;
  uint64_t words_missing = 0;
};

// Puts a lane's chunks in order, marking if some are missing.
Lane JoinLane(std::vector<CopiedChunk> chunks, RingWindow* window) {
  Lane lane;
  if (chunks.empty()) return lane;
  std::sort(chunks.begin(), chunks.end(), Earlier);
  // A chunk that ends before the window is left out: a chunk whose successor begins before it.
  size_t first = 0;
  while (first + 1 < chunks.size() && chunks[first + 1].chunk.base_ticks <= window->from_ticks) {
    ++first;
  }
  if (chunks[first].thread_chunk_index > 0 && chunks[first].chunk.base_ticks > window->from_ticks) {
    chunks[first].chunk.gap_before = true;
    ++window->overwritten_chunks;  // at least one; it is unknown how many were inside the window
                                   // any more
  }
  lane.words_before = chunks[first].words_before;
  for (size_t i = first; i < chunks.size(); ++i) {
    if (i > first) {
      const uint32_t missing = chunks[i].thread_chunk_index - chunks[i - 1].thread_chunk_index - 1;
      chunks[i].chunk.gap_before = missing != 0;
      window->overwritten_chunks += missing;
      const uint64_t known = chunks[i - 1].words_before + lane.chunks.back().words.size();
      if (chunks[i].words_before > known) lane.words_missing += chunks[i].words_before - known;
    }
    lane.chunks.push_back(std::move(chunks[i].chunk));
  }
  return lane;
}

// Adds one thread, whose chunks of both lanes are `chunks`, to `window`.
void AddThread(std::vector<CopiedChunk> chunks, RingWindow* window) {
  WindowThread thread;
  const CopiedChunk& newest = *std::max_element(chunks.begin(), chunks.end(), Earlier);
  thread.tid = newest.tid;
  thread.serial = newest.thread_serial;
  thread.name = newest.thread_name;
  std::vector<CopiedChunk> calls, markers;
  for (CopiedChunk& chunk : chunks) {
    thread.ui = thread.ui || chunk.watched;
    (chunk.lane == RingLane::kCalls ? calls : markers).push_back(std::move(chunk));
  }
  Lane lane = JoinLane(std::move(calls), window);
  thread.words_before = lane.words_before;
  thread.words_missing = lane.words_missing;
  thread.chunks = std::move(lane.chunks);
  lane = JoinLane(std::move(markers), window);
  thread.marker_words_before = lane.words_before;
  thread.marker_words_missing = lane.words_missing;
  thread.markers = std::move(lane.chunks);
  window->threads.push_back(std::move(thread));
}

}  // namespace

std::string HeaderText(const char* field, size_t size) {
  return std::string(field, strnlen(field, size));
}

std::string DispatchNameText(const std::atomic<uint64_t>* words) {
  return ReadWordText(words, kDispatchNameWords);
}

ProcessIdentity RecorderOf(const RingHeader& ring) {
  return {HeaderText(ring.boot_id, sizeof(ring.boot_id)), ring.pid, ring.process_start_ticks};
}

RecordedUsage UsageOf(const RingHeader& ring) {
  RecordedUsage usage;
  const std::string id = ReadWordText(ring.usage_id);
  if (IsUuid(id)) usage.id = id;
  usage.day = ring.usage_day.load(std::memory_order_relaxed);
  usage.foreground_ns = ring.foreground_ns.load(std::memory_order_relaxed);
  usage.sessions = ring.sessions.load(std::memory_order_relaxed);
  for (const RingWatchedThread& thread : ring.watched) {
    usage.frames += thread.frame_count.load(std::memory_order_relaxed);
    // Its start-up is no message.
    const uint64_t dispatches = thread.dispatch_count.load(std::memory_order_relaxed);
    const bool starts_up = DispatchNameText(thread.what) == kStartUpName;
    usage.messages += dispatches - std::min<uint64_t>(dispatches, starts_up ? 1 : 0);
  }
  return usage;
}

bool RingReader::IsOurs(const RingHeader& h) {
  return memcmp(h.magic, kRingMagic, sizeof(kRingMagic)) == 0 && h.version == kRingVersion &&
         h.abi == kRingAbi && h.names_offset == kRingSectionAlignment &&
         h.modules_offset == kRingSectionAlignment + kNamesBytes &&
         h.chunks_offset == kRingSectionAlignment + kNamesBytes + kModulesBytes &&
         h.chunk_bytes == kChunkBytes && h.ready.load(std::memory_order_acquire) == 1;
}

Result<RingReader> RingReader::FromBytes(std::string_view bytes) {
  std::vector<uint64_t> copy((bytes.size() + 7) / 8);
  if (!bytes.empty()) memcpy(copy.data(), bytes.data(), bytes.size());
  Result<RingReader> reader = OverBytes({reinterpret_cast<const char*>(copy.data()), bytes.size()});
  if (reader.ok()) reader->owned_ = std::move(copy);
  return reader;
}

Result<RingReader> RingReader::OverBytes(std::string_view bytes) {
  const Status corrupt(StatusCode::kCorrupt, "not a ring file of this version and machine");
  if (bytes.size() < kRingSectionAlignment) return corrupt;
  RingReader reader(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  reader.at_rest_ = true;
  const RingHeader& h = reader.header();
  if (!IsOurs(h) || bytes.size() < h.chunks_offset) return corrupt;
  return reader;
}

size_t RingReader::chunk_count() const {
  const uint64_t present = (bytes_ - header().chunks_offset) / kChunkBytes;
  return std::min<uint64_t>(present, header().chunks_ready.load(std::memory_order_acquire));
}

RingWindow RingReader::CopyWindow(uint64_t from_ticks, uint64_t to_ticks,
                                  std::shared_ptr<WindowBuffer> buffer) const {
  const RingHeader& h = header();
  RingWindow window;
  window.buffer = buffer != nullptr ? std::move(buffer) : std::make_shared<WindowBuffer>();
  window.from_ticks = from_ticks;
  window.to_ticks = to_ticks;
  window.dropped_events = h.dropped_events.load(std::memory_order_relaxed);
  const size_t ready = chunk_count();
  // Newest first: a chunk that is copied after a later one of its thread was seen is complete,
  // because its thread had finished it by then. Oldest first, events written between two copies
  // would be missing without a trace.
  std::vector<std::pair<uint64_t, const RingChunk*>> newest_first;
  for (size_t i = 0; i < ready; ++i) {
    const uint64_t sequence = chunk(i).sequence.load(std::memory_order_acquire);
    if (sequence != 0) newest_first.emplace_back(sequence, &chunk(i));
  }
  std::sort(newest_first.rbegin(), newest_first.rend());
  if (!window.buffer->Reset(newest_first.size() * kMaxChunkWords)) {
    window.torn_chunks = newest_first.size();
    return window;
  }
  std::map<uint64_t, std::vector<CopiedChunk>> by_thread;
  for (const auto& [sequence, chunk] : newest_first) {
    const uint64_t closed = chunk->close_ticks.load(std::memory_order_relaxed);
    if (closed != 0 && closed < from_ticks) continue;
    if (at_rest_ && CheckChunk(*chunk) == ChunkCheck::kWrong) {
      ++window.corrupt_chunks;
      continue;
    }
    CopiedChunk copy;
    if (!CopyOf(*chunk, sequence, window.buffer->Take(kMaxChunkWords), &copy)) {
      ++window.torn_chunks;
    } else if (copy.chunk.base_ticks <= to_ticks) {
      by_thread[copy.thread_serial].push_back(std::move(copy));
    }
  }
  for (auto& [serial, chunks] : by_thread) AddThread(std::move(chunks), &window);
  return window;
}

bool RingReader::CopyChunk(size_t index, uint64_t sequence, uint64_t* words,
                           WindowChunk* copy) const {
  CopiedChunk copied;
  if (!CopyOf(chunk(index), sequence, words, &copied)) return false;
  *copy = std::move(copied.chunk);
  return true;
}

bool RingReader::HasMoreWords(size_t index, size_t words) const {
  const RingChunk& source = chunk(index);
  const size_t open_words = source.open_calls * (sizeof(RingOpenCall) / sizeof(uint64_t));
  if (open_words + words >= kMaxChunkWords) return false;
  return LoadRelaxed(reinterpret_cast<const uint64_t*>(&source + 1) + open_words + words) != 0;
}

std::vector<MethodRegistry::Entry> RingReader::Names() const {
  std::vector<MethodRegistry::Entry> names;
  const uint8_t* section = base_ + header().names_offset;
  const uint64_t used =
      std::min<uint64_t>(header().names_bytes.load(std::memory_order_acquire), kNamesBytes);
  for (uint64_t at = 0; at + sizeof(RingName) <= used;) {
    RingName name;
    memcpy(&name, section + at, sizeof(name));
    const uint64_t bytes_at = at + sizeof(name);
    if (name.id == 0 || name.bytes > used - bytes_at) break;
    MethodRegistry::Entry entry{name.id & kMaxMethodId, "", 0};
    if (name.kind == RingName::kAddress && name.bytes == sizeof(entry.address)) {
      memcpy(&entry.address, section + bytes_at, sizeof(entry.address));
    } else {
      entry.name.assign(reinterpret_cast<const char*>(section) + bytes_at, name.bytes);
    }
    names.push_back(std::move(entry));
    at = (bytes_at + name.bytes + 7) & ~uint64_t{7};
  }
  return names;
}

std::string RingReader::ModulesText() const {
  const uint32_t used =
      std::min<uint32_t>(header().modules_bytes.load(std::memory_order_acquire), kModulesBytes);
  return std::string(reinterpret_cast<const char*>(base_) + header().modules_offset, used);
}

}  // namespace jankbox
