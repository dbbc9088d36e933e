#include "diagnosis/seal/repeat_policy.h"

#include <algorithm>

namespace jankbox {
namespace {

constexpr uint64_t kDayNs = 86'400'000'000'000;

// The record of `fingerprint`, moved to the end; a new one if there is none.
RepeatRecord* Touch(const std::string& fingerprint, RepeatState* state) {
  auto& records = state->records;
  const auto it = std::find_if(records.begin(), records.end(), [&](const RepeatRecord& record) {
    return record.fingerprint == fingerprint;
  });
  if (it != records.end()) {
    std::rotate(it, it + 1, records.end());
    return &records.back();
  }
  if (records.size() >= RepeatState::kMaxRecords) {
    state->forgotten += records.front().count;
    records.erase(records.begin());
  }
  records.push_back({fingerprint});
  return &records.back();
}

bool DayHasRoom(const RepeatLimits& limits, bool severe, const RepeatState& state) {
  const uint64_t cap = limits.reports_a_day;
  return cap == 0 || state.written_today < cap + (severe ? (cap + 3) / 4 : 0);
}

bool IsWorst(const RepeatRecord& record, uint64_t duration_ns) {
  // By half at least: a slow creep does not fill the day.
  return duration_ns > record.worst_ns + record.worst_ns / 2;
}

void NoteWritten(uint64_t duration_ns, RepeatRecord* record, RepeatState* state) {
  ++state->written_today;
  ++record->written;
  record->unreported = 0;
  record->worst_ns = std::max(record->worst_ns, duration_ns);
}

}  // namespace

const char* ExemplarName(Exemplar exemplar) {
  static constexpr const char* kNames[] = {"", "first", "worst", "random", "every"};
  return kNames[static_cast<size_t>(exemplar)];
}

void PassTime(const RepeatLimits& limits, uint64_t elapsed_ns, RepeatState* state) {
  state->day_age_ns += elapsed_ns;
  if (state->day_age_ns >= kDayNs) {
    state->day_age_ns %= kDayNs;
    state->written_today = 0;
  }
  for (RepeatRecord& record : state->records) {
    if (record.written == 0) continue;
    record.age_ns += elapsed_ns;
    if (record.age_ns < limits.exemplar_age_ns) continue;
    record.written = 0;
    record.worst_ns = 0;
    record.age_ns = 0;
  }
}

RepeatAnswer CountIncident(const RepeatLimits& limits, const std::string& fingerprint,
                           uint64_t duration_ns, bool severe, uint64_t random, RepeatState* state) {
  RepeatRecord* record = Touch(fingerprint, state);
  ++record->count;
  RepeatAnswer answer;
  answer.count = record->count;
  answer.unreported = record->unreported;
  // Among n incidents the n-th is the random one with a chance of 1 in n, so that in the end each
  // had the same.
  if (limits.every_incident) {
    answer.exemplar = Exemplar::kEvery;
  } else if (record->written == 0) {
    answer.exemplar = Exemplar::kFirst;
  } else if (IsWorst(*record, duration_ns)) {
    answer.exemplar = Exemplar::kWorst;
  } else if (random % record->count == 0) {
    answer.exemplar = Exemplar::kRandom;
  }
  if (answer.exemplar != Exemplar::kNone && !DayHasRoom(limits, severe, *state)) {
    answer.exemplar = Exemplar::kNone;
    answer.reason = RefusalReason::kDailyCap;
  }
  if (answer.exemplar == Exemplar::kNone) {
    ++record->unreported;
  } else {
    NoteWritten(duration_ns, record, state);
  }
  return answer;
}

void CountUnseen(const std::string& fingerprint, uint64_t incidents, RepeatState* state) {
  RepeatRecord* record = Touch(fingerprint, state);
  record->count += incidents;
  record->unreported += incidents;
}

RepeatAnswer ReviseIncident(const RepeatLimits& limits, const std::string& fingerprint,
                            uint64_t duration_ns, bool severe, bool written, RepeatState* state) {
  RepeatRecord* record = Touch(fingerprint, state);
  RepeatAnswer answer;
  answer.count = record->count;
  answer.unreported = record->unreported;
  if (written) {  // it replaces the report that is there
    answer.exemplar = Exemplar::kEvery;
    record->worst_ns = std::max(record->worst_ns, duration_ns);
    return answer;
  }
  if (!DayHasRoom(limits, severe, *state)) {
    answer.reason = RefusalReason::kDailyCap;
  } else if (record->written == 0 || IsWorst(*record, duration_ns)) {
    answer.exemplar = record->written == 0 ? Exemplar::kFirst : Exemplar::kWorst;
    NoteWritten(duration_ns, record, state);
  }
  return answer;
}

void TakeBack(const std::string& fingerprint, RepeatState* state) {
  RepeatRecord* record = Touch(fingerprint, state);
  if (record->written == 0 || state->written_today == 0) return;
  --state->written_today;
  --record->written;
  ++record->unreported;
}

}  // namespace jankbox
