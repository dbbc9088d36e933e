// docs/formats/ring.md is what others write readers from: its tables are held against the structs.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tracer/ring/ring_format.h"

namespace jankbox {
namespace {

struct Field {
  std::string name;
  size_t offset;
  size_t bytes;
  bool operator==(const Field&) const = default;
};

void PrintTo(const Field& field, std::ostream* out) {
  *out << field.name << " at " << field.offset << ", " << field.bytes << " bytes";
}

// The rows `| offset | bytes | field | …` of the table below the heading `heading`.
std::vector<Field> Documented(const std::string& heading) {
  std::ifstream file(JANKBOX_SOURCE_DIR "/docs/formats/ring.md");
  std::vector<Field> fields;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') inside = line == heading;
    Field field;
    char bar;
    std::istringstream row(line);
    const bool is_field = line.starts_with("| ") && !line.starts_with("| offset") &&
                          (row >> bar >> field.offset >> bar >> field.bytes >> bar >> field.name);
    if (inside && is_field) fields.push_back(field);
  }
  return fields;
}

#define FIELD(type, name) \
  { #name, offsetof(type, name), sizeof(type::name) }

std::vector<Field> FieldsOfTheHeader() {
  using H = RingHeader;
  return {FIELD(H, magic),
          FIELD(H, version),
          FIELD(H, abi),
          FIELD(H, file_bytes),
          FIELD(H, names_offset),
          FIELD(H, modules_offset),
          FIELD(H, chunks_offset),
          FIELD(H, chunk_bytes),
          FIELD(H, chunk_count),
          FIELD(H, tick_source),
          FIELD(H, pid),
          FIELD(H, process_start_ticks),
          FIELD(H, boot_id),
          FIELD(H, process_name),
          FIELD(H, app_name),
          FIELD(H, app_version),
          FIELD(H, loop_name),
          FIELD(H, clock_at_start),
          FIELD(H, slow_threshold_ns),
          FIELD(H, window_ns),
          FIELD(H, ready),
          FIELD(H, closed),
          FIELD(H, chunks_ready),
          FIELD(H, modules_bytes),
          FIELD(H, names_bytes),
          FIELD(H, names_dropped),
          FIELD(H, next_chunk),
          FIELD(H, next_sequence),
          FIELD(H, next_thread_serial),
          FIELD(H, dropped_events),
          FIELD(H, heartbeat_ticks),
          FIELD(H, calibrated_ticks),
          FIELD(H, calibrated_monotonic_ns),
          FIELD(H, coarse_error_ticks),
          FIELD(H, mode_changes),
          FIELD(H, modes),
          FIELD(H, next_marker_chunk),
          FIELD(H, coarse_ticks),
          FIELD(H, coarse_padding),
          FIELD(H, incidents),
          FIELD(H, watched),
          FIELD(H, reports_folder),
          FIELD(H, foreground),
          FIELD(H, end_call),
          FIELD(H, end_signal),
          FIELD(H, keeps_seen),
          FIELD(H, end_call_ticks),
          FIELD(H, oom_kills),
          FIELD(H, oom_file),
          FIELD(H, uncounted),
          FIELD(H, parent_pid),
          FIELD(H, hooks_changing),
          FIELD(H, parent_start_ticks),
          FIELD(H, hooks_changed_ticks),
          FIELD(H, parent_padding)};
}

TEST(RingDocument, HeaderTableIsTheHeader) {
  std::vector<Field> actual = FieldsOfTheHeader();
  using H = RingHeader;
  actual.insert(actual.end(), {FIELD(H, usage_id), FIELD(H, foreground_ns), FIELD(H, sessions),
                               FIELD(H, usage_day)});
  EXPECT_EQ(Documented("## Header"), actual);
  // A field that is not in the list above would leave a hole, or the list would end before
  // the struct does.
  size_t at = 0;
  for (const Field& field : actual) {
    const size_t alignment = field.offset % 64 == 0 ? 64 : 8;
    EXPECT_LT(field.offset - at, alignment) << "before " << field.name;
    at = field.offset + field.bytes;
  }
  EXPECT_EQ(at, sizeof(RingHeader));
}

TEST(RingDocument, TablesOfThePartsAreTheStructs) {
  using W = RingWatchedThread;
  EXPECT_EQ(Documented("### mode"),
            (std::vector<Field>{FIELD(RingMode, from_ticks), FIELD(RingMode, mode),
                                FIELD(RingMode, reason)}));
  EXPECT_EQ(Documented("### incident"),
            (std::vector<Field>{FIELD(RingIncident, state), FIELD(RingIncident, kind),
                                FIELD(RingIncident, sealed_revision), FIELD(RingIncident, reserved),
                                FIELD(RingIncident, begin_ticks), FIELD(RingIncident, end_ticks),
                                FIELD(RingIncident, id)}));
  EXPECT_EQ(Documented("### watched"),
            (std::vector<Field>{FIELD(W, tid), FIELD(W, dispatch_depth),
                                FIELD(W, dispatch_begin_ticks), FIELD(W, dispatch_count),
                                FIELD(W, what), FIELD(W, slow_version), FIELD(W, slow_seen_version),
                                FIELD(W, slow_begin_ticks), FIELD(W, slow_end_ticks),
                                FIELD(W, slow_what), FIELD(W, frame_count), FIELD(W, loop_name),
                                FIELD(W, loop_named_by_app), FIELD(W, loop_name_version),
                                FIELD(W, slow_total_ticks), FIELD(W, slow_seen_ticks)}));
  using U = RingUncounted;
  EXPECT_EQ(Documented("### uncounted"),
            (std::vector<Field>{FIELD(U, state), FIELD(U, kind), FIELD(U, tid), FIELD(U, incidents),
                                FIELD(U, begin_ns), FIELD(U, end_ns), FIELD(U, total_ns),
                                FIELD(U, max_ns), FIELD(U, id), FIELD(U, what)}));
}

TEST(RingDocument, ChunkTableIsTheChunk) {
  using C = RingChunk;
  EXPECT_EQ(Documented("## Chunks"),
            (std::vector<Field>{FIELD(C, sequence), FIELD(C, owner), FIELD(C, tid),
                                FIELD(C, thread_serial), FIELD(C, thread_chunk_index),
                                FIELD(C, open_calls), FIELD(C, open_calls_truncated),
                                FIELD(C, committed_words), FIELD(C, base_ticks),
                                FIELD(C, close_ticks), FIELD(C, thread_name), FIELD(C, watched),
                                FIELD(C, lane), FIELD(C, words_before), FIELD(C, checksum)}));
}

// Numbers that the page names outside of its tables.
static_assert(kRingVersion == 4 && kMaxRingModes == 32 && kMaxWatchedThreads == 8);
static_assert(kMaxUncounted == 70 && kUncountedTogether == 2);
static_assert(kRingSectionAlignment == 16384 && kNamesBytes == 262144 && kModulesBytes == 65536 &&
              kChunkBytes == 16384 && kMaxOpenCalls == 128);
static_assert(sizeof(RingWatchedThread) == 256 && sizeof(RingIncident) == 72 &&
              sizeof(RingMode) == 16 && sizeof(RingChunk) == 96 && sizeof(ClockReading) == 32);

}  // namespace
}  // namespace jankbox
