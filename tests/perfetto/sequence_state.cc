#include "tests/perfetto/sequence_state.h"

namespace jankbox::testing {
namespace {

constexpr uint32_t kBoottime = 6;
constexpr uint32_t kFirstSequenceClock = 64;

bool Fail(std::string* error, const std::string& what) {
  *error = what;
  return false;
}

// Adds entries by iid; an iid is never 0 and never means two things.
template <typename Entries, typename Map, typename Get>
bool AddAll(const Entries& entries, Map* map, Get&& get, std::string* error) {
  for (const auto& entry : entries) {
    if (entry.iid() == 0) return Fail(error, "iid 0");
    if (!map->emplace(entry.iid(), get(entry)).second) return Fail(error, "iid interned twice");
  }
  return true;
}

}  // namespace

bool SequenceState::Update(const testproto::TracePacket& packet, std::string* error) {
  if (!packet.has_sequence_flags()) return Fail(error, "packet without sequence flags");
  const uint32_t flags = packet.sequence_flags();
  if ((flags & testproto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED) != 0) {
    if (cleared_) return Fail(error, "cleared twice");
    if (!packet.first_packet_on_sequence()) return Fail(error, "clear is not the first packet");
    cleared_ = true;
  } else if (!cleared_) {
    return Fail(error, "first packet does not clear the state");
  } else if ((flags & testproto::TracePacket::SEQ_NEEDS_INCREMENTAL_STATE) == 0) {
    return Fail(error, "packet does not say that it needs state");
  }
  if (packet.has_clock_snapshot() && !SetClock(packet.clock_snapshot(), error)) return false;
  if (packet.has_trace_packet_defaults()) {
    default_clock_ = packet.trace_packet_defaults().timestamp_clock_id();
    default_track_uuid_ = packet.trace_packet_defaults().track_event_defaults().track_uuid();
  }
  return !packet.has_interned_data() || Intern(packet.interned_data(), error);
}

bool SequenceState::SetClock(const testproto::ClockSnapshot& snapshot, std::string* error) {
  uint64_t boottime_ns = 0;
  std::set<uint32_t> ids;
  for (const auto& clock : snapshot.clocks()) {
    if (!ids.insert(clock.clock_id()).second) return Fail(error, "clock given twice");
    if (clock.clock_id() == kBoottime) boottime_ns = clock.timestamp();
  }
  for (uint32_t id : {1u, 3u, kBoottime}) {
    if (!ids.contains(id)) return Fail(error, "clock snapshot lacks a kernel clock");
  }
  for (const auto& clock : snapshot.clocks()) {
    if (clock.clock_id() < kFirstSequenceClock) continue;
    if (!clock.is_incremental() || clock.unit_multiplier_ns() == 0) {
      return Fail(error, "sequence clock is not a delta clock");
    }
    has_clock_ = true;
    unit_ns_ = clock.unit_multiplier_ns();
    clock_ns_ = clock.timestamp() * unit_ns_;
    boottime_offset_ = boottime_ns - clock_ns_;
  }
  return true;
}

bool SequenceState::TimeOf(const testproto::TracePacket& packet, uint64_t* boottime_ns,
                           std::string* error) {
  if (!packet.has_timestamp()) return Fail(error, "event without time");
  const uint32_t clock =
      packet.has_timestamp_clock_id() ? packet.timestamp_clock_id() : default_clock_;
  if (clock == kBoottime) {
    *boottime_ns = packet.timestamp();
  } else if (clock == kFirstSequenceClock && has_clock_) {
    clock_ns_ += packet.timestamp() * unit_ns_;
    *boottime_ns = clock_ns_ + boottime_offset_;
  } else {
    return Fail(error, "unknown clock");
  }
  if (*boottime_ns < last_ns_) return Fail(error, "time goes back");
  if (static_cast<int64_t>(*boottime_ns) < 0) return Fail(error, "time before boot");
  last_ns_ = *boottime_ns;
  return true;
}

bool SequenceState::Intern(const testproto::InternedData& interned, std::string* error) {
  auto name = [](const auto& entry) { return entry.name(); };
  auto str = [](const auto& entry) { return entry.str(); };
  auto self = [](const auto& entry) { return entry; };
  return AddAll(interned.event_names(), &names_, name, error) &&
         AddAll(interned.event_categories(), &categories_, name, error) &&
         AddAll(interned.function_names(), &functions_, str, error) &&
         AddAll(interned.build_ids(), &build_ids_, str, error) &&
         AddAll(interned.mapping_paths(), &paths_, str, error) &&
         AddAll(interned.frames(), &frames_, self, error) &&
         AddAll(interned.mappings(), &mappings_, self, error) &&
         AddAll(interned.callstacks(), &callstacks_, self, error);
}

bool SequenceState::Callstack(uint64_t iid, std::vector<ReadFrameOfStack>* frames,
                              std::string* error) const {
  const testproto::Callstack* callstack = Find(callstacks_, iid);
  if (callstack == nullptr) return Fail(error, "callstack not interned");
  if (callstack->frame_ids().empty()) return Fail(error, "empty callstack");
  for (uint64_t frame_id : callstack->frame_ids()) {
    const testproto::Frame* frame = Find(frames_, frame_id);
    if (frame == nullptr) return Fail(error, "frame not interned");
    const testproto::Mapping* mapping = Find(mappings_, frame->mapping_id());
    if (mapping == nullptr) return Fail(error, "mapping not interned");
    ReadFrameOfStack read;
    read.rel_pc = frame->rel_pc();
    if (frame->has_function_name_id()) {
      const std::string* function = Find(functions_, frame->function_name_id());
      if (function == nullptr) return Fail(error, "function name not interned");
      read.function = *function;
    }
    if (mapping->has_build_id()) {
      const std::string* build_id = Find(build_ids_, mapping->build_id());
      if (build_id == nullptr) return Fail(error, "build id not interned");
      read.build_id = *build_id;
    }
    for (uint64_t path_id : mapping->path_string_ids()) {
      const std::string* path = Find(paths_, path_id);
      if (path == nullptr) return Fail(error, "mapping path not interned");
      read.module += *path;
    }
    frames->push_back(read);
  }
  return true;
}

}  // namespace jankbox::testing
