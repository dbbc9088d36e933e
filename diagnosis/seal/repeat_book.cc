#include "diagnosis/seal/repeat_book.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked_bytes.h"
#include "base/file.h"
#include "base/proto_writer.h"
#include "base/sealed_file.h"
#include "report/proto_reader.h"
#include "uploader/spool/spool_lock.h"

namespace jankbox {
namespace {

constexpr char kName[] = ".repeats";
constexpr char kLockName[] = ".repeats.lock";
constexpr std::string_view kMagic = "JBXREP01";
constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kFingerprintBytes = 64;
constexpr uint32_t kLockMs = 1000;

bool DecodeRecord(std::string_view bytes, RepeatRecord* record) {
  ProtoReader reader(bytes);
  ProtoField field;
  uint64_t* const numbers[] = {&record->count, &record->written, &record->unreported,
                               &record->worst_ns, &record->age_ns};
  while (reader.Next(&field)) {
    if (field.number == 1) record->fingerprint = field.bytes;
    if (field.number >= 2 && field.number < 2 + std::size(numbers)) {
      *numbers[field.number - 2] = field.value;
    }
  }
  return reader.complete() && record->fingerprint.size() <= kFingerprintBytes;
}

}  // namespace

std::string EncodeRepeats(const RepeatState& state, const SpoolInstant& look) {
  std::string message;
  ProtoWriter out(&message);
  out.Varint(1, state.day_age_ns);
  out.Varint(2, state.written_today);
  out.Varint(3, state.forgotten);
  for (const RepeatRecord& record : state.records) {
    out.Message(4, [&](ProtoWriter& content) {
      content.Bytes(1, record.fingerprint);
      content.Varint(2, record.count);
      content.Varint(3, record.written);
      content.Varint(4, record.unreported);
      content.Varint(5, record.worst_ns);
      content.Varint(6, record.age_ns);
    });
  }
  out.Varint(5, look.realtime_ns);
  out.Varint(6, look.boottime_ns);
  out.Bytes(7, look.boot_id);
  return AddChecksum(kMagic, message);
}

Status DecodeRepeats(std::string_view bytes, RepeatState* state, SpoolInstant* look) {
  const Status damaged(StatusCode::kCorrupt, "damaged counts of repeats");
  const std::optional<std::string_view> message = CheckedContent(kMagic, bytes);
  if (!message.has_value()) return damaged;
  ProtoReader reader(*message);
  ProtoField field;
  uint64_t* const numbers[] = {&state->day_age_ns, &state->written_today, &state->forgotten};
  while (reader.Next(&field)) {
    if (field.number >= 1 && field.number <= 3) *numbers[field.number - 1] = field.value;
    if (field.number == 4) {
      if (state->records.size() >= RepeatState::kMaxRecords) return damaged;
      state->records.emplace_back();
      if (!DecodeRecord(field.bytes, &state->records.back())) return damaged;
    }
    if (field.number == 5) look->realtime_ns = field.value;
    if (field.number == 6) look->boottime_ns = field.value;
    if (field.number == 7) look->boot_id = field.bytes;
  }
  return reader.complete() ? Status::Ok() : damaged;
}

RepeatBook::RepeatBook(std::string folder, const RepeatLimits& limits, Clock clock)
    : folder_(std::move(folder)), limits_(limits), clock_(std::move(clock)) {}

void RepeatBook::Change(const std::function<void(RepeatState*)>& change) {
  // Without the lock (its holder is stopped, say) the worst is a count of another process that is
  // lost.
  const Result<SpoolLock> lock = SpoolLock::Acquire(JoinPath(folder_, kLockName), kLockMs);
  const Result<std::string> bytes = ReadFile(JoinPath(folder_, kName), kMaxBytes);
  if (bytes.ok()) {
    RepeatState state;
    SpoolInstant look;
    const bool whole = DecodeRepeats(bytes.value(), &state, &look).ok();
    state_ = whole ? std::move(state) : RepeatState();
    last_look_ = whole ? look : SpoolInstant();
  }
  const SpoolInstant now = clock_();
  PassTime(limits_, ElapsedNs(last_look_, now), &state_);
  change(&state_);
  last_look_ = now;
  // A count that a power cut takes is not worth an fsync for each incident.
  (void)ReplaceFile(folder_, kName, EncodeRepeats(state_, now), false);
}

}  // namespace jankbox
