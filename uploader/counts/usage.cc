#include "uploader/counts/usage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/app_text.h"
#include "base/uuid.h"
#include "report/report_encoder.h"

namespace jankbox {
namespace {

// The bytes of a row in a message besides its texts: day, the four numbers as a day can have them,
// tags and lengths.
constexpr size_t kRowBytes = 36;

using Number = uint64_t ReportUsage::*;
constexpr Number kNumbers[] = {&ReportUsage::foreground_ms, &ReportUsage::sessions,
                               &ReportUsage::frames, &ReportUsage::messages};

size_t BytesOf(const ReportUsage& usage) {
  return kRowBytes + usage.app.size() + usage.version.size();
}

bool IsSameRow(const ReportUsage& a, const ReportUsage& b) {
  return a.day == b.day && a.app == b.app && a.version == b.version;
}

ReportUsage OtherOf(uint32_t day) {
  ReportUsage other;
  other.day = day;
  other.app = kOtherKey;
  return other;
}

ReportBookedUsage* FindRow(const ReportUsage& usage, ReportCountBook* book) {
  for (ReportBookedUsage& booked : book->usage) {
    if (IsSameRow(booked.usage, usage)) return &booked;
  }
  return nullptr;
}

// Whether one row more of that day leaves room for those that have none.
bool HasRoom(const ReportUsage& usage, const ReportCountBook& book) {
  size_t bytes = BytesOf(usage) + BytesOf(OtherOf(usage.day));
  for (const ReportBookedUsage& booked : book.usage) {
    const bool counts = booked.usage.day == usage.day && booked.usage.app != kOtherKey;
    if (counts) bytes += BytesOf(booked.usage);
  }
  return bytes <= kUsageDayBytes && book.usage.size() < kMaxUsage;
}

ReportBookedUsage* RowFor(const ReportUsage& usage, ReportCountBook* book) {
  ReportUsage row;
  row.day = usage.day;
  row.app = AppText(usage.app);
  row.version = AppText(usage.version);
  if (ReportBookedUsage* own = FindRow(row, book)) return own;
  if (!HasRoom(row, *book)) {
    row = OtherOf(book->usage.size() < kMaxUsage ? usage.day : 0);
    if (ReportBookedUsage* other = FindRow(row, book)) return other;
  }
  book->usage.push_back({std::move(row), 0});
  return &book->usage.back();
}

// The one of that id, which becomes the latest.
ReportCountedProcess* ProcessOf(const std::string& id, ReportCountBook* book) {
  auto& processes = book->processes;
  auto at = std::find_if(processes.begin(), processes.end(),
                         [&](const ReportCountedProcess& process) { return process.id == id; });
  if (at != processes.end()) {
    std::rotate(at, at + 1, processes.end());
  } else {
    if (processes.size() >= kMaxCountedProcesses) processes.erase(processes.begin());
    processes.emplace_back().id = id;
  }
  return &processes.back();
}

bool IsPossible(const ReportUsage& usage) {
  return usage.day <= kMaxUsageDay &&
         std::all_of(std::begin(kNumbers), std::end(kNumbers),
                     [&](Number number) { return usage.*number <= kMaxUsageNumber; });
}

ReportCounts WithoutCounters(ReportCounts counts) {
  counts.counters.clear();
  return counts;
}

}  // namespace

bool IsUsed(const ProcessUsage& usage) {
  return usage.total.messages != 0 || usage.total.frames != 0;
}

bool AddUsage(const ProcessUsage& usage, const ReportUsage& known, ReportCountBook* book) {
  if (!IsUsed(usage) || !IsPossible(usage.total)) return false;
  ReportCountedProcess* process = ProcessOf(usage.id, book);
  ReportUsage added;
  bool any = false;
  for (const Number number : kNumbers) {
    const uint64_t before = std::max(process->usage.*number, known.*number);
    added.*number = usage.total.*number - std::min(usage.total.*number, before);
    process->usage.*number = std::max(before, usage.total.*number);
    any = any || added.*number != 0;
  }
  if (!any) return false;
  ReportBookedUsage* row = RowFor(usage.total, book);
  for (const Number number : kNumbers) {
    row->usage.*number = std::min(row->usage.*number + added.*number, kMaxUsageNumber);
  }
  row->seq = ++book->seq;
  if (book->installation.empty()) book->installation = NewUuid(0);
  return true;
}

void ForgetProcess(const std::string& id, ReportCountBook* book) {
  std::erase_if(book->processes,
                [&](const ReportCountedProcess& process) { return process.id == id; });
}

bool HasUnsentUsage(const ReportCountBook& book) {
  return std::any_of(book.usage.begin(), book.usage.end(), [&](const ReportBookedUsage& booked) {
    return booked.seq > book.acknowledged_usage_seq;
  });
}

void AddUnsentUsage(const ReportCountBook& book, size_t max_bytes, ReportCounts* counts) {
  std::vector<const ReportBookedUsage*> unsent;
  for (const ReportBookedUsage& booked : book.usage) {
    if (booked.seq > book.acknowledged_usage_seq) unsent.push_back(&booked);
  }
  std::sort(unsent.begin(), unsent.end(),
            [](const auto* a, const auto* b) { return a->seq < b->seq; });
  ReportCounts alone = WithoutCounters(*counts);
  alone.installation = book.installation;
  alone.usage_base_seq = book.acknowledged_usage_seq;
  for (const ReportBookedUsage* booked : unsent) {
    alone.usage.push_back(booked->usage);
    alone.usage_seq = booked->seq;
    if (EncodeCounts(alone).size() > max_bytes) break;
    counts->usage.push_back(booked->usage);
    counts->usage_seq = booked->seq;
  }
  if (counts->usage.empty()) return;
  counts->installation = std::move(alone.installation);
  counts->usage_base_seq = alone.usage_base_seq;
}

size_t UsageBytes(const ReportCounts& counts) {
  return counts.usage.empty() ? 0 : EncodeCounts(WithoutCounters(counts)).size();
}

ReportCounts WithoutUsage(ReportCounts counts) {
  counts.usage.clear();
  counts.installation.clear();
  counts.usage_seq = counts.usage_base_seq = 0;
  return counts;
}

void DropEndedUsage(ReportCountBook* book) {
  book->ended = WithoutUsage(std::move(book->ended));
  if (book->ended.counters.empty()) book->ended = {};
}

bool ForgetUsageOf(const std::string& app, ReportCountBook* book) {
  const std::string name = AppText(app);
  const size_t unsent =
      std::erase_if(book->ended.usage, [&](const ReportUsage& usage) { return usage.app == name; });
  const size_t booked = std::erase_if(
      book->usage, [&](const ReportBookedUsage& row) { return row.usage.app == name; });
  if (book->ended.usage.empty()) DropEndedUsage(book);
  return unsent + booked != 0;
}

bool IsPlausibleUsage(const ReportCountBook& book) {
  const bool ended = book.ended.epoch.empty() || IsUuid(book.ended.epoch);
  const bool installed = book.installation.empty() ? book.usage.empty() : IsUuid(book.installation);
  return ended && installed && book.acknowledged_usage_seq <= book.seq &&
         std::all_of(book.usage.begin(), book.usage.end(), [&](const ReportBookedUsage& booked) {
           return booked.seq <= book.seq && IsPossible(booked.usage);
         });
}

}  // namespace jankbox
