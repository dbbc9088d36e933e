#include "uploader/spool/spool_state.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked_bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/fnv1a.h"
#include "base/sealed_file.h"
#include "base/uuid.h"
#include "report/proto_reader.h"

namespace jankbox {
namespace {

constexpr char kStateName[] = ".state";
constexpr std::string_view kMagic = "JBXSPL02";
constexpr size_t kMaxStateBytes = 8u << 20;
constexpr uint64_t kDayNs = 86'400 * kNsPerSecond;

// The content of a file of version 0.1: FNV-1a (64 bits, little endian) stands after its magic.
std::optional<std::string_view> ContentOfFirstFormat(std::string_view bytes) {
  constexpr std::string_view kFirstMagic = "JBXSPL01";
  if (bytes.size() < kFirstMagic.size() + 8 || !bytes.starts_with(kFirstMagic)) return {};
  uint64_t checksum = 0;
  for (size_t i = 0; i < 8; ++i) {
    checksum |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[kFirstMagic.size() + i])) << 8 * i;
  }
  const std::string_view content = bytes.substr(kFirstMagic.size() + 8);
  if (Fnv1a(content) != checksum) return {};
  return content;
}

void EncodeRecord(const SpoolRecord& record, ProtoWriter* out) {
  out->Bytes(1, record.id);
  out->Varint(2, record.file.inode);
  out->Varint(3, record.file.mtime_ns);
  out->Varint(4, record.file.size_bytes);
  out->Varint(5, record.age_ns);
  out->Varint(6, record.attempts);
  out->Varint(7, static_cast<uint32_t>(record.fate));
}

bool DecodeRecord(std::string_view bytes, SpoolRecord* record) {
  ProtoReader reader(bytes);
  ProtoField field;
  uint64_t fate = 0;
  while (reader.Next(&field)) {
    switch (field.number) {
      case 1:
        record->id = field.bytes;
        break;
      case 2:
        record->file.inode = field.value;
        break;
      case 3:
        record->file.mtime_ns = field.value;
        break;
      case 4:
        record->file.size_bytes = field.value;
        break;
      case 5:
        record->age_ns = field.value;
        break;
      case 6:
        record->attempts = static_cast<uint32_t>(std::min<uint64_t>(field.value, UINT32_MAX));
        break;
      case 7:
        fate = field.value;
        break;
      default:
        break;
    }
  }
  record->fate = static_cast<SpoolFate>(fate);
  return reader.complete() && fate < kSpoolFates && IsUuid(record->id);
}

bool DecodeFateCount(std::string_view bytes, SpoolState* state) {
  ProtoReader reader(bytes);
  ProtoField field;
  uint64_t fate = 0;
  uint64_t count = 0;
  while (reader.Next(&field)) {
    if (field.number == 1) fate = field.value;
    if (field.number == 2) count = field.value;
  }
  if (!reader.complete() || fate == 0 || fate >= kSpoolFates) return false;
  state->fates[fate] = count;
  return true;
}

bool DecodeField(const ProtoField& field, SpoolState* state) {
  switch (field.number) {
    case 1:
      state->written = field.value;
      return true;
    case 2:
      return DecodeFateCount(field.bytes, state);
    case 3:
      state->records.emplace_back();
      return DecodeRecord(field.bytes, &state->records.back());
    case 4:
      return DecodeInstant(field.bytes, &state->last_look);
    case 5:
      state->not_written = field.value;
      return true;
    case 6:
      state->resets = field.value;
      return true;
    default:
      return true;  // a later version's
  }
}

bool Balances(const SpoolState& state) {
  uint64_t accounted = state.kept();
  for (const uint64_t count : state.fates) accounted += count;
  return accounted == state.written;
}

}  // namespace

const char* SpoolFateName(SpoolFate fate) {
  static constexpr const char* kNames[kSpoolFates] = {
      "kept",      "sent",    "quota_bytes", "quota_count", "age",      "free_space", "refused",
      "too_large", "corrupt", "poison",      "removed",     "replaced", "wiped"};
  return kNames[static_cast<size_t>(fate)];
}

SpoolInstant KernelInstant() {
  SpoolInstant now{RealtimeNs(), BoottimeNs(), ReadProcFile("/proc/sys/kernel/random/boot_id", 36)};
  return now;
}

uint64_t ElapsedNs(const SpoolInstant& last, const SpoolInstant& now) {
  if (last.realtime_ns == 0 && last.boottime_ns == 0) return 0;
  if (last.boot_id == now.boot_id && now.boottime_ns >= last.boottime_ns) {
    return now.boottime_ns - last.boottime_ns;
  }
  if (now.realtime_ns <= last.realtime_ns) return 0;
  return std::min(now.realtime_ns - last.realtime_ns, kDayNs);
}

uint64_t SpoolState::kept() const {
  return static_cast<uint64_t>(
      std::count_if(records.begin(), records.end(),
                    [](const SpoolRecord& record) { return record.fate == SpoolFate::kKept; }));
}

void EncodeInstant(const SpoolInstant& instant, ProtoWriter* out) {
  out->Varint(1, instant.realtime_ns);
  out->Varint(2, instant.boottime_ns);
  out->Bytes(3, instant.boot_id);
}

bool DecodeInstant(std::string_view bytes, SpoolInstant* instant) {
  ProtoReader reader(bytes);
  ProtoField field;
  while (reader.Next(&field)) {
    if (field.number == 1) instant->realtime_ns = field.value;
    if (field.number == 2) instant->boottime_ns = field.value;
    if (field.number == 3) instant->boot_id = field.bytes;
  }
  return reader.complete();
}

std::string EncodeSpoolState(const SpoolState& state) {
  std::string message;
  ProtoWriter out(&message);
  out.Varint(1, state.written);
  for (size_t fate = 1; fate < kSpoolFates; ++fate) {
    if (state.fates[fate] == 0) continue;
    out.Message(2, [&](ProtoWriter& count) {
      count.Varint(1, fate);
      count.Varint(2, state.fates[fate]);
    });
  }
  for (const SpoolRecord& record : state.records) {
    out.Message(3, [&record](ProtoWriter& content) { EncodeRecord(record, &content); });
  }
  out.Message(4, [&state](ProtoWriter& look) { EncodeInstant(state.last_look, &look); });
  out.Varint(5, state.not_written);
  out.Varint(6, state.resets);

  return AddChecksum(kMagic, message);
}

Result<SpoolState> DecodeSpoolState(std::string_view bytes) {
  const Status damaged(StatusCode::kCorrupt, "damaged spool state");
  std::optional<std::string_view> message = CheckedContent(kMagic, bytes);
  if (!message.has_value()) message = ContentOfFirstFormat(bytes);
  if (!message.has_value()) return damaged;
  SpoolState state;
  ProtoReader reader(*message);
  ProtoField field;
  while (reader.Next(&field)) {
    if (!DecodeField(field, &state)) return damaged;
  }
  if (!reader.complete() || !Balances(state)) return damaged;
  return state;
}

Result<SpoolState> LoadSpoolState(const std::string& directory) {
  Result<std::string> bytes = ReadFile(JoinPath(directory, kStateName), kMaxStateBytes);
  if (!bytes.ok() && bytes.status().code() == StatusCode::kBusy) return bytes.status();
  if (!bytes.ok() && bytes.status().code() == StatusCode::kNotFound) return SpoolState();
  Result<SpoolState> state = bytes.ok() ? DecodeSpoolState(bytes.value()) : bytes.status();
  if (state.ok()) return std::move(state.value());
  SpoolState fresh;
  fresh.resets = 1;
  return fresh;
}

Status StoreSpoolState(const std::string& directory, const SpoolState& state, bool durable) {
  return ReplaceFile(directory, kStateName, EncodeSpoolState(state), durable);
}

}  // namespace jankbox
