// When the next upload may be tried, and how much of the day's budget is left: pure functions of
// now, facts and a random number. The pace is kept beside the spool, so that a restart neither
// forgets a server's Retry-After nor renews the budget. Threads: any.
#ifndef JANKBOX_UPLOADER_POLICY_UPLOAD_PACE_H_
#define JANKBOX_UPLOADER_POLICY_UPLOAD_PACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jankbox {

inline constexpr uint64_t kBackoffBaseMs = 1000;
inline constexpr uint64_t kBackoffCapMs = 3'600'000;
// Of usage: that is sent on one day, and between two messages with it.
inline constexpr uint64_t kUsageBytesADay = 1024;
inline constexpr uint64_t kUsageEveryMs = 3 * 3'600'000;

struct UploadBudget {
  uint64_t metered_bytes_a_day = 1u << 20;
  uint64_t unmetered_bytes_a_day = 5u << 20;
};

// Times are realtime.
struct UploadPace {
  uint32_t failures = 0;              // in a row
  uint64_t not_before_ms = 0;         // own backoff
  uint64_t server_says_ms = 0;        // Retry-After
  uint64_t day = 0;                   // since 1970, UTC
  uint64_t day_bytes = 0;             // sent on it, whatever came back
  uint64_t counts_not_before_ms = 0;  // the server takes no counts
  uint64_t usage_ms = 0;              // when usage was sent last
  uint64_t usage_bytes = 0;           // of it on the day of that moment
};

// Full jitter: anywhere from 0 to min(cap, base * 2^(failures - 1)). REQUIRES failures > 0.
uint64_t BackoffMs(uint32_t failures, uint64_t random);

// Times that are further ahead than could have been asked for (the clock was set back) become the
// longest that could. Before the pace is used.
void FitToClock(UploadPace* pace, uint64_t now_ms);

// Milliseconds until an upload may be tried. `ignore_backoff`: a user waits for it; a server's
// Retry-After still applies.
uint64_t WaitMs(const UploadPace& pace, uint64_t now_ms, bool ignore_backoff);

// Whether `bytes` more fit the day's budget. A clock that is set back by less than a day does not
// renew it; one that is set further may once.
bool BudgetAllows(const UploadPace& pace, const UploadBudget& budget, bool metered, uint64_t now_ms,
                  uint64_t bytes);
// Milliseconds until the next day's budget.
uint64_t NextDayMs(uint64_t now_ms);

// How many bytes of usage may be sent now.
uint64_t UsageAllowance(const UploadPace& pace, uint64_t now_ms);
void NoteUsageSent(UploadPace* pace, uint64_t now_ms, uint64_t bytes);

void NoteSpent(UploadPace* pace, uint64_t now_ms, uint64_t bytes);
void NoteSuccess(UploadPace* pace);
// The server refused the counts: the next day's library or server may be another one.
void NoteCountsRefused(UploadPace* pace, uint64_t now_ms);
void NoteFailure(UploadPace* pace, uint64_t now_ms, std::optional<uint64_t> retry_after_s,
                 uint64_t random);

std::string EncodeUploadPace(const UploadPace& pace);
// Damaged bytes give a fresh pace.
UploadPace DecodeUploadPace(std::string_view bytes);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_POLICY_UPLOAD_PACE_H_
