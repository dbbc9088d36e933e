#include "uploader/counts/count_epoch.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/uuid.h"
#include "uploader/counts/counters.h"
#include "uploader/counts/usage.h"
#include "uploader/policy/upload_pace.h"

namespace jankbox {

ReportCountBook NewCountBook(const char* begun) {
  ReportCountBook book;
  book.epoch = NewUuid(0);  // random, without the time of the first incident
  book.begun = begun;
  book.unseen = true;
  return book;
}

void BeginEpoch(const char* begun, ReportCountBook* book) {
  ReportCountBook next = NewCountBook(begun);
  next.generation = book->generation;
  next.counted_ids = std::move(book->counted_ids);
  next.processes = std::move(book->processes);
  *book = std::move(next);
}

void ResetIds(ReportCountBook* book) {
  if (book->unseen) {
    book->epoch = NewUuid(0);
    book->begun = "reset";
    if (!book->installation.empty()) book->installation = NewUuid(0);
    return;
  }
  EndEpoch("reset", book);
}

void EndEpoch(const char* begun, ReportCountBook* book) {
  ReportCounts rest = UnsentCounts(*book);
  AddUnsentUsage(*book, kUsageBytesADay, &rest);
  BeginEpoch(begun, book);
  if (!rest.counters.empty() || !rest.usage.empty()) book->ended = std::move(rest);
}

bool IsFull(const ReportCountBook& book) {
  const bool counted = std::all_of(
      book.counters.begin(), book.counters.end(),
      [&](const ReportBookedCounter& booked) { return booked.seq <= book.acknowledged_seq; });
  if (!counted) return false;
  const bool all_used = book.usage.size() >= kFullUsage && !HasUnsentUsage(book);
  return book.counters.size() >= kFullCounters || all_used;
}

}  // namespace jankbox
