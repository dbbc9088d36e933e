#include "diagnosis/seal/end_book.h"

#include <algorithm>
#include <optional>

#include "base/checked_bytes.h"
#include "base/file.h"
#include "base/proto_writer.h"
#include "base/sealed_file.h"
#include "report/proto_reader.h"
#include "uploader/spool/spool_lock.h"

namespace jankbox {
namespace {

constexpr char kName[] = ".ends";
constexpr char kLockName[] = ".ends.lock";
constexpr std::string_view kMagic = "JBXEND01";
constexpr size_t kMaxBytes = 16 << 10;
constexpr size_t kMaxReasons = 64;  // signals, exit statuses and a few words
constexpr uint32_t kLockMs = 1000;
constexpr uint64_t kDayNs = 86'400'000'000'000;

bool DecodeCount(std::string_view bytes, ReportEndCount* count) {
  ProtoReader reader(bytes);
  ProtoField field;
  while (reader.Next(&field)) {
    if (field.number == 1) count->reason = field.bytes;
    if (field.number == 2) count->count = field.value;
  }
  return reader.complete();
}

void Add(const std::string& reason, EndBook* book) {
  auto same = std::find_if(book->counts.begin(), book->counts.end(),
                           [&](const ReportEndCount& count) { return count.reason == reason; });
  if (same == book->counts.end()) {
    if (book->counts.size() >= kMaxReasons) return;
    same = book->counts.insert(book->counts.end(), {reason, 0});
  }
  ++same->count;
}

}  // namespace

std::string EncodeEnds(const EndBook& book, const SpoolInstant& now) {
  std::string message;
  ProtoWriter out(&message);
  out.Varint(1, book.day_age_ns);
  out.Varint(2, book.reports_today);
  for (const ReportEndCount& count : book.counts) {
    out.Message(3, [&](ProtoWriter& content) {
      content.Bytes(1, count.reason);
      content.Varint(2, count.count);
    });
  }
  out.Message(4, [&now](ProtoWriter& instant) { EncodeInstant(now, &instant); });
  return AddChecksum(kMagic, message);
}

bool DecodeEnds(std::string_view bytes, EndBook* book, SpoolInstant* last) {
  const std::optional<std::string_view> message = CheckedContent(kMagic, bytes);
  if (!message) return false;
  ProtoReader reader(*message);
  ProtoField field;
  while (reader.Next(&field)) {
    if (field.number == 1) book->day_age_ns = field.value;
    if (field.number == 2) book->reports_today = field.value;
    if (field.number == 3) {
      if (book->counts.size() >= kMaxReasons) return false;
      if (!DecodeCount(field.bytes, &book->counts.emplace_back())) return false;
    }
    if (field.number == 4 && !DecodeInstant(field.bytes, last)) return false;
  }
  return reader.complete();
}

Status CountEnd(const std::string& folder, const SpoolInstant& now, const std::string& reason,
                const SealEnd& seal) {
  // Without the lock (its holder is stopped, say) the worst is a count that is lost.
  const Result<SpoolLock> lock = SpoolLock::Acquire(JoinPath(folder, kLockName), kLockMs);
  const Result<std::string> bytes = ReadFile(JoinPath(folder, kName), kMaxBytes);
  EndBook book;
  SpoolInstant last;
  if (!bytes.ok() || !DecodeEnds(bytes.value(), &book, &last)) {
    book = {};
    last = now;
  }
  book.day_age_ns += ElapsedNs(last, now);
  if (book.day_age_ns >= kDayNs) {
    book.day_age_ns %= kDayNs;
    book.reports_today = 0;
  }
  Add(reason, &book);
  if (seal != nullptr && book.reports_today < kExitReportsADay) {
    // Without room for its report the end is only counted: a ring that waits for room costs more.
    if (seal(book.counts).ok()) ++book.reports_today;
  }
  // A count that a power cut takes is not worth an fsync.
  (void)ReplaceFile(folder, kName, EncodeEnds(book, now), false);
  return Status::Ok();
}

}  // namespace jankbox
