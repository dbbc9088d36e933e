// How much the apps of a device were used, by day and version, without the file: what is added to
// which row, and which rows are to be sent. Pure; allocates. docs/formats/counts.md has the rules.
#ifndef JANKBOX_UPLOADER_COUNTS_USAGE_H_
#define JANKBOX_UPLOADER_COUNTS_USAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/counts_format.h"
#include "report/report.h"

namespace jankbox {

inline constexpr size_t kUsageDayBytes = 800;  // that the rows of one day take in a message
inline constexpr size_t kFullUsage =
    96;  // rows; from here on the next epoch begins once all is sent
inline constexpr size_t kMaxCountedProcesses = 256;

// What one recording of a process has counted since it began.
struct ProcessUsage {
  std::string id;     // of its ring
  ReportUsage total;  // its day and version are those that get what is new
};

// Without a message and a frame no user interface was at work.
bool IsUsed(const ProcessUsage& usage);

// Adds what `usage` has beyond what was added under its id before, and beyond the numbers of
// `known`, which the caller knows to be added. False if there is nothing new.
bool AddUsage(const ProcessUsage& usage, const ReportUsage& known, ReportCountBook* book);

// No ring has the usage of that recording any more.
void ForgetProcess(const std::string& id, ReportCountBook* book);

// Whether the server lacks any usage of this epoch.
bool HasUnsentUsage(const ReportCountBook& book);

// Adds to `counts` the rows that the server lacks, those that changed first, as long as
// UsageBytes() is at most `max_bytes`.
void AddUnsentUsage(const ReportCountBook& book, size_t max_bytes, ReportCounts* counts);

// The bytes of a message that has only the usage of `counts`; 0: there is none.
size_t UsageBytes(const ReportCounts& counts);

ReportCounts WithoutUsage(ReportCounts counts);

// Nothing is left to send of the usage of the epoch that ended.
void DropEndedUsage(ReportCountBook* book);

// Removes what was counted of `app`, sent or not. False if there was nothing.
bool ForgetUsageOf(const std::string& app, ReportCountBook* book);

bool IsPlausibleUsage(const ReportCountBook& book);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_COUNTS_USAGE_H_
