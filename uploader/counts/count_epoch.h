// The epochs of a book of counts, without the file: how one begins, and what is left of one that a
// reset ended. Pure; allocates. docs/formats/counts.md has the rules.
#ifndef JANKBOX_UPLOADER_COUNTS_COUNT_EPOCH_H_
#define JANKBOX_UPLOADER_COUNTS_COUNT_EPOCH_H_

#include "report/report.h"

namespace jankbox {

// An empty count. `begun`: why it begins, as in Counts.begun.
ReportCountBook NewCountBook(const char* begun);

// Begins the next epoch, without what the server lacks of this one. What rings may still have stays
// known.
void BeginEpoch(const char* begun, ReportCountBook* book);

// Gives the book other random ids. What the server lacks is not lost: it goes out under the old
// ones (`ended`) if a server may know these.
void ResetIds(ReportCountBook* book);

// Begins the next epoch. What the server lacks of this one is in `ended`: all counters, and the
// usage of a day.
void EndEpoch(const char* begun, ReportCountBook* book);

// Whether further counters or usage would soon find no place, and the server has what is here; for
// counters it need not have the usage.
bool IsFull(const ReportCountBook& book);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_COUNTS_COUNT_EPOCH_H_
