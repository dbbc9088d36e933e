#include "uploader/spool/spool_transaction.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/compact_sort.h"
#include "base/file.h"

namespace jankbox {
namespace {

constexpr char kLockName[] = ".lock";
constexpr uint32_t kLockTimeoutMs = 5000;
constexpr size_t kMaxQuarantined = 4;
// Ages are written down at least this often, since BOOTTIME ends with the boot.
constexpr uint64_t kAgesStoredEveryNs = 3600 * kNsPerSecond;

}  // namespace

SpoolTransaction::SpoolTransaction(SpoolLock lock, std::string directory, const SpoolInstant& now)
    : lock_(std::move(lock)), directory_(std::move(directory)), now_(now) {}

Result<SpoolTransaction> SpoolTransaction::Begin(const std::string& directory,
                                                 const SpoolInstant& now) {
  Result<SpoolLock> lock = SpoolLock::Acquire(JoinPath(directory, kLockName), kLockTimeoutMs);
  if (!lock.ok()) return lock.status();
  SpoolTransaction look(std::move(lock.value()), directory, now);
  Result<SpoolFolder> folder = ScanSpoolFolder(directory);
  if (!folder.ok()) return folder.status();
  look.folder_ = std::move(folder.value());
  Result<SpoolState> state = LoadSpoolState(directory);
  if (!state.ok()) return state.status();
  look.state_ = std::move(state.value());
  look.Reconcile();
  return look;
}

void SpoolTransaction::Reconcile() {
  const uint64_t elapsed_ns = ElapsedNs(state_.last_look, now_);
  std::map<std::string_view, const FoundReport*> unseen;
  for (const FoundReport& found : folder_.reports) unseen[found.id] = &found;
  std::vector<SpoolRecord> records;
  for (SpoolRecord& record : state_.records) {
    const auto at = unseen.find(record.id);
    if (at != unseen.end() && at->second->file == record.file) {
      record.age_ns += elapsed_ns;
      records.push_back(std::move(record));
      unseen.erase(at);
    } else if (record.fate == SpoolFate::kKept) {
      Count(at == unseen.end() ? SpoolFate::kRemoved : SpoolFate::kReplaced);
    }  // else settled, and its file is gone
  }
  state_.records = std::move(records);
  // Sealed without a word in the accounts: a writer that was killed just after its rename.
  for (const auto& [id, found] : unseen) {
    const uint64_t mtime_ns = found->file.mtime_ns;
    Enter(*found, now_.realtime_ns > mtime_ns ? now_.realtime_ns - mtime_ns : 0);
  }
  if (elapsed_ns > kAgesStoredEveryNs) changed_ = true;
  state_.last_look = now_;
}

void SpoolTransaction::Enter(const FoundReport& found, uint64_t age_ns) {
  state_.records.push_back({.id = found.id, .file = found.file, .age_ns = age_ns});
  ++state_.written;
  changed_ = true;
  if (found.file.size_bytes == 0) Settle(&state_.records.back(), SpoolFate::kCorrupt);
}

void SpoolTransaction::Count(SpoolFate fate) {
  ++state_.fates[static_cast<size_t>(fate)];
  changed_ = true;
}

SpoolRecord* SpoolTransaction::Find(const std::string& id) {
  for (SpoolRecord& record : state_.records) {
    if (record.id == id && record.fate == SpoolFate::kKept) return &record;
  }
  return nullptr;
}

void SpoolTransaction::Settle(SpoolRecord* record, SpoolFate fate) {
  record->fate = fate;
  Count(fate);
  fates_changed_ = true;
}

bool SpoolTransaction::MakeRoom(const SpoolLimits& limits, SpoolDemand demand, uint64_t* given_up) {
  demand.in_flight_count = folder_.in_flight_count;
  demand.in_flight_bytes = folder_.in_flight_bytes;
  demand.quarantined_bytes = folder_.quarantined_bytes;
  const EvictionPlan plan = PlanEvictions(state_.records, limits, demand);
  for (const SpoolEviction& eviction : plan.evictions) {
    Settle(&state_.records[eviction.record], eviction.why);
  }
  *given_up += plan.evictions.size();
  TrimQuarantine(limits, plan.drop_quarantined);
  return plan.fits;
}

void SpoolTransaction::Register(const std::string& id) {
  FoundReport found{.id = id, .file = {}};
  if (!IdentifyFile(ReportPath(directory_, id), &found.file)) return;
  if (const SpoolRecord* earlier = Find(id)) {
    Count(SpoolFate::kReplaced);
    state_.records.erase(state_.records.begin() + (earlier - state_.records.data()));
  }
  Enter(found, 0);
}

Status SpoolTransaction::Commit(bool durable) {
  Status status;
  if (changed_) status = StoreSpoolState(directory_, state_, durable || fates_changed_);
  RemoveSettledFiles();
  // On a full disk the accounts cannot be written until the files are gone. A kill in between would
  // count these as removed by another tool.
  if (!status.ok() && fates_changed_) status = StoreSpoolState(directory_, state_, true);
  changed_ = false;
  fates_changed_ = false;
  return status;
}

void SpoolTransaction::RemoveSettledFiles() {
  for (const SpoolRecord& record : state_.records) {
    if (record.fate == SpoolFate::kKept) continue;
    const std::string path = ReportPath(directory_, record.id);
    FileIdentity file;
    if (!IdentifyFile(path, &file) || !(file == record.file)) continue;
    const bool set_aside = file.size_bytes > 0 && (record.fate == SpoolFate::kCorrupt ||
                                                   record.fate == SpoolFate::kPoison);
    if (!set_aside || rename(path.c_str(), QuarantinePath(directory_, record.id).c_str()) != 0) {
      unlink(path.c_str());
    }
  }
}

void SpoolTransaction::TrimQuarantine(const SpoolLimits& limits, bool all) {
  std::vector<FoundReport>& found = folder_.quarantined;
  CompactSort(&found, [](const FoundReport& a, const FoundReport& b) {
    return a.file.mtime_ns > b.file.mtime_ns;
  });
  for (size_t i = 0; i < found.size(); ++i) {
    const uint64_t mtime_ns = found[i].file.mtime_ns;
    // A wall clock that was set back or forward only makes these go sooner.
    const uint64_t age_ns =
        std::max(now_.realtime_ns, mtime_ns) - std::min(now_.realtime_ns, mtime_ns);
    if (!all && i < kMaxQuarantined && age_ns / kNsPerSecond < limits.max_age_s) continue;
    unlink(QuarantinePath(directory_, found[i].id).c_str());
    folder_.quarantined_bytes -= found[i].file.size_bytes;
  }
}

}  // namespace jankbox
