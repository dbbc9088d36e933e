// Repeats are counted, not written again (decision 10). Of every fingerprint the first, the worst
// and a random incident become reports within seven days, and a day has a cap; all others are
// counted. Pure functions over a small state; time is passed in. Sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_REPEAT_POLICY_H_
#define JANKBOX_DIAGNOSIS_SEAL_REPEAT_POLICY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "monitors/incident/refusals.h"

namespace jankbox {

struct RepeatLimits {
  uint32_t reports_a_day = 100;                          // Chrome's background tracing; 0: no cap
  uint64_t exemplar_age_ns = 7 * 86'400'000'000'000ull;  // then a fingerprint is new again
  bool every_incident = false;                           // repeats are written like any other
};

// Why an incident became a report.
enum class Exemplar : uint32_t { kNone = 0, kFirst = 1, kWorst = 2, kRandom = 3, kEvery = 4 };

// "first", "worst", "random", "every"; "" for kNone.
const char* ExemplarName(Exemplar exemplar);

struct RepeatRecord {
  std::string fingerprint;
  uint64_t count = 0;       // incidents so far
  uint64_t written = 0;     // of them, reports
  uint64_t unreported = 0;  // of them, since the last report
  uint64_t worst_ns = 0;    // the longest one that was written
  uint64_t age_ns = 0;      // since the first report of its seven days
};

struct RepeatState {
  static constexpr size_t kMaxRecords = 512;  // beyond it the one not seen for longest is forgotten

  uint64_t day_age_ns = 0;
  uint64_t written_today = 0;
  uint64_t forgotten = 0;             // incidents of fingerprints that were forgotten
  std::vector<RepeatRecord> records;  // the one seen last is the last
};

struct RepeatAnswer {
  Exemplar exemplar = Exemplar::kNone;  // kNone: not to be written, for `reason`
  RefusalReason reason = RefusalReason::kFingerprint;
  uint64_t count = 0;       // of the fingerprint, this one included
  uint64_t unreported = 0;  // before this one, since the last report
};

// Lets `elapsed_ns` pass.
void PassTime(const RepeatLimits& limits, uint64_t elapsed_ns, RepeatState* state);

// Counts an incident and says whether it is to be written. `severe` ones (the app did not respond)
// have a quarter of the day's cap for themselves, on top of it. `random`: any 64 bits.
RepeatAnswer CountIncident(const RepeatLimits& limits, const std::string& fingerprint,
                           uint64_t duration_ns, bool severe, uint64_t random, RepeatState* state);

// Counts `incidents` of a fingerprint that nobody looked at.
void CountUnseen(const std::string& fingerprint, uint64_t incidents, RepeatState* state);

// The same incident came to be `duration_ns` long: whether its new revision is to be written.
// `written`: the earlier one was.
RepeatAnswer ReviseIncident(const RepeatLimits& limits, const std::string& fingerprint,
                            uint64_t duration_ns, bool severe, bool written, RepeatState* state);

// A report that CountIncident() allowed could not be written.
void TakeBack(const std::string& fingerprint, RepeatState* state);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_REPEAT_POLICY_H_
