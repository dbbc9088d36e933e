// What one writer sequence has established: clock, defaults, interned entries. Part of the strict
// trace reader.
#ifndef JANKBOX_TESTS_PERFETTO_SEQUENCE_STATE_H_
#define JANKBOX_TESTS_PERFETTO_SEQUENCE_STATE_H_

#include <cstdint>
#include <map>
#include <string>

#include "tests/perfetto/trace.pb.h"
#include "tests/perfetto/trace_content.h"

namespace jankbox::testing {

class SequenceState {
 public:
  // Takes in all of `packet` but its event. False, with `error`, if that breaks a rule.
  bool Update(const testproto::TracePacket& packet, std::string* error);

  // The time of a packet that has one; moves the sequence's clock.
  bool TimeOf(const testproto::TracePacket& packet, uint64_t* boottime_ns, std::string* error);

  uint64_t default_track_uuid() const { return default_track_uuid_; }
  const std::string* Name(uint64_t iid) const { return Find(names_, iid); }
  const std::string* Category(uint64_t iid) const { return Find(categories_, iid); }
  bool Callstack(uint64_t iid, std::vector<ReadFrameOfStack>* frames, std::string* error) const;

 private:
  template <typename Map>
  static const typename Map::mapped_type* Find(const Map& map, uint64_t iid) {
    auto it = map.find(iid);
    return it == map.end() ? nullptr : &it->second;
  }
  bool Intern(const testproto::InternedData& interned, std::string* error);
  bool SetClock(const testproto::ClockSnapshot& snapshot, std::string* error);

  bool cleared_ = false;
  bool has_clock_ = false;
  uint64_t unit_ns_ = 1;
  uint64_t clock_ns_ = 0;         // of the delta clock
  uint64_t boottime_offset_ = 0;  // BOOTTIME - delta clock
  uint64_t last_ns_ = 0;
  uint32_t default_clock_ = 6;
  uint64_t default_track_uuid_ = 0;
  std::map<uint64_t, std::string> names_;
  std::map<uint64_t, std::string> categories_;
  std::map<uint64_t, std::string> functions_;
  std::map<uint64_t, std::string> build_ids_;
  std::map<uint64_t, std::string> paths_;
  std::map<uint64_t, testproto::Frame> frames_;
  std::map<uint64_t, testproto::Mapping> mappings_;
  std::map<uint64_t, testproto::Callstack> callstacks_;
};

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_PERFETTO_SEQUENCE_STATE_H_
