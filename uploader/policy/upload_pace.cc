#include "uploader/policy/upload_pace.h"

#include <algorithm>

#include "base/proto_writer.h"
#include "report/proto_reader.h"
#include "uploader/policy/retry_after.h"

namespace jankbox {
namespace {

constexpr uint64_t kDayMs = 86'400'000;

uint64_t Until(uint64_t at_ms, uint64_t now_ms) { return at_ms > now_ms ? at_ms - now_ms : 0; }

// Whether what was spent counts for `day`: spent on it, or on the next one by a clock that was a
// little ahead. Days further ahead come from a clock that was wrong and must not block for years.
bool CountsFor(uint64_t spent_on, uint64_t day) { return spent_on == day || spent_on == day + 1; }

}  // namespace

uint64_t BackoffMs(uint32_t failures, uint64_t random) {
  const uint32_t doublings = std::min(failures - 1, 30u);
  const uint64_t ceiling_ms = std::min(kBackoffBaseMs << doublings, kBackoffCapMs);
  return random % (ceiling_ms + 1);
}

void FitToClock(UploadPace* pace, uint64_t now_ms) {
  pace->not_before_ms = std::min(pace->not_before_ms, now_ms + kBackoffCapMs);
  pace->server_says_ms = std::min(pace->server_says_ms, now_ms + kMaxRetryAfterS * 1000);
  pace->counts_not_before_ms = std::min(pace->counts_not_before_ms, now_ms + kDayMs);
}

uint64_t WaitMs(const UploadPace& pace, uint64_t now_ms, bool ignore_backoff) {
  const uint64_t server_ms = Until(pace.server_says_ms, now_ms);
  if (ignore_backoff) return server_ms;
  return std::max(server_ms, Until(pace.not_before_ms, now_ms));
}

bool BudgetAllows(const UploadPace& pace, const UploadBudget& budget, bool metered, uint64_t now_ms,
                  uint64_t bytes) {
  const uint64_t limit = metered ? budget.metered_bytes_a_day : budget.unmetered_bytes_a_day;
  const uint64_t spent = CountsFor(pace.day, now_ms / kDayMs) ? pace.day_bytes : 0;
  return spent <= limit && bytes <= limit - spent;
}

uint64_t NextDayMs(uint64_t now_ms) { return kDayMs - now_ms % kDayMs; }

uint64_t UsageAllowance(const UploadPace& pace, uint64_t now_ms) {
  if (!CountsFor(pace.usage_ms / kDayMs, now_ms / kDayMs)) return kUsageBytesADay;
  // A clock that was set back a little waits for the moment at which it was.
  if (now_ms < pace.usage_ms + kUsageEveryMs || pace.usage_bytes >= kUsageBytesADay) return 0;
  return kUsageBytesADay - pace.usage_bytes;
}

void NoteUsageSent(UploadPace* pace, uint64_t now_ms, uint64_t bytes) {
  if (!CountsFor(pace->usage_ms / kDayMs, now_ms / kDayMs)) {
    pace->usage_ms = now_ms;
    pace->usage_bytes = 0;
  }
  pace->usage_ms = std::max(pace->usage_ms, now_ms);
  pace->usage_bytes += bytes;
}

void NoteSpent(UploadPace* pace, uint64_t now_ms, uint64_t bytes) {
  const uint64_t day = now_ms / kDayMs;
  if (!CountsFor(pace->day, day)) {
    pace->day = day;
    pace->day_bytes = 0;
  }
  pace->day_bytes += bytes;
}

void NoteSuccess(UploadPace* pace) {
  pace->failures = 0;
  pace->not_before_ms = 0;
  pace->server_says_ms = 0;
}

void NoteFailure(UploadPace* pace, uint64_t now_ms, std::optional<uint64_t> retry_after_s,
                 uint64_t random) {
  if (pace->failures < UINT32_MAX) ++pace->failures;
  pace->not_before_ms = now_ms + BackoffMs(pace->failures, random);
  pace->server_says_ms = retry_after_s ? now_ms + *retry_after_s * 1000 : 0;
}

void NoteCountsRefused(UploadPace* pace, uint64_t now_ms) {
  pace->counts_not_before_ms = now_ms + kDayMs;
}

std::string EncodeUploadPace(const UploadPace& pace) {
  std::string bytes;
  ProtoWriter out(&bytes);
  out.Varint(1, pace.failures);
  out.Varint(2, pace.not_before_ms);
  out.Varint(3, pace.server_says_ms);
  out.Varint(4, pace.day);
  out.Varint(5, pace.day_bytes);
  out.Varint(6, pace.counts_not_before_ms);
  out.Varint(7, pace.usage_ms);
  out.Varint(8, pace.usage_bytes);
  return bytes;
}

UploadPace DecodeUploadPace(std::string_view bytes) {
  UploadPace pace;
  ProtoReader reader(bytes);
  ProtoField field;
  while (reader.Next(&field)) {
    if (field.number == 1) {
      pace.failures = static_cast<uint32_t>(std::min<uint64_t>(field.value, UINT32_MAX));
    }
    if (field.number == 2) pace.not_before_ms = field.value;
    if (field.number == 3) pace.server_says_ms = field.value;
    if (field.number == 4) pace.day = field.value;
    if (field.number == 5) pace.day_bytes = field.value;
    if (field.number == 6) pace.counts_not_before_ms = field.value;
    if (field.number == 7) pace.usage_ms = field.value;
    if (field.number == 8) pace.usage_bytes = field.value;
  }
  return reader.complete() ? pace : UploadPace();
}

}  // namespace jankbox
