#include "uploader/spool/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/compact_sort.h"
#include "base/file.h"
#include "base/uuid.h"
#include "report/report.h"

namespace jankbox {
namespace {

constexpr uint32_t kMaxAttempts = 3;
constexpr char kZstdMagic[] = "\x28\xb5\x2f\xfd";

Status BelowFloor(const std::string& directory, uint64_t free_bytes, uint64_t floor_bytes) {
  return Status(StatusCode::kNoSpace,
                directory + ": No space left on device: " + std::to_string(free_bytes >> 20) +
                    " MiB free, the minimum is " + std::to_string(floor_bytes >> 20) +
                    " MiB (free some space, or lower the minimum with --min-free-mib)");
}

// Lengthens `fd` to `bytes`, with room on the disk if the file system can promise it.
Status Lengthen(int fd, uint64_t bytes, const std::string& what) {
  const off_t length = static_cast<off_t>(bytes);
  if (fallocate(fd, 0, 0, length) == 0) return Status::Ok();
  if (errno == EOPNOTSUPP && ftruncate(fd, length) == 0) return Status::Ok();
  return Status::FromErrno(errno, what);
}

// Of accounts that could not be written for want of space only ages and attempts are lost: what is
// kept must still be sent, which frees some.
Status UnlessDiskIsFull(const Status& status) {
  return status.code() == StatusCode::kNoSpace ? Status::Ok() : status;
}

bool BeginsAsZstd(int fd) {
  char magic[4];
  return pread(fd, magic, sizeof(magic), 0) == 4 && memcmp(magic, kZstdMagic, 4) == 0;
}

}  // namespace

uint64_t SpoolCounts::dropped() const {
  uint64_t total = 0;
  for (const uint64_t count : fates) total += count;
  return total - fates[static_cast<size_t>(SpoolFate::kSent)];
}

Spool::Spool(std::string directory, const SpoolLimits& limits, Clock clock)
    : directory_(std::move(directory)),
      limits_(limits),
      clock_(std::move(clock)),
      given_up_here_(std::make_unique<std::atomic<uint64_t>>(0)) {}

Result<Spool> Spool::Open(const std::string& directory, const SpoolLimits& limits, Clock clock) {
  Spool spool(directory, limits, std::move(clock));
  // Locked, or out of descriptors or memory: perhaps not when the first report comes.
  const auto passes = [](const Status& failed) { return failed.code() == StatusCode::kBusy; };
  Status status = spool.CheckFolder();
  if (!status.ok() && !passes(status)) return status;
  SealedFile::SweepOrphans(directory);
  // Below the floor nothing new is taken, and what is kept stays.
  const uint64_t free_bytes = FreeBytes(directory);
  if (free_bytes < limits.min_free_bytes) {
    return BelowFloor(directory, free_bytes, limits.min_free_bytes);
  }
  Result<SpoolTransaction> look = spool.Look();
  if (!look.ok() && !passes(look.status())) return look.status();
  if (look.ok()) {
    spool.MakeRoom(&look.value(), {});
    status = UnlessDiskIsFull(look->Commit(false));
    if (!status.ok() && !passes(status)) return status;
  }
  return spool;
}

Status Spool::CheckFolder() const {
  Status status = MakeDirectories(directory_, 0700);
  if (status.ok()) status = SealedFile::Create(directory_, ".probe").status();
  if (status.ok()) return status;
  return Status(status.code(), "cannot write reports to " + directory_ + ": " + status.message());
}

Result<SpoolTransaction> Spool::Look() { return SpoolTransaction::Begin(directory_, clock_()); }

bool Spool::MakeRoom(SpoolTransaction* look, SpoolDemand demand) {
  uint64_t given_up = 0;
  const bool fits = look->MakeRoom(limits_, std::move(demand), &given_up);
  given_up_here_->fetch_add(given_up, std::memory_order_relaxed);
  return fits;
}

Result<SpoolWriter> Spool::NewReport(const std::string& id, uint64_t expected_bytes) {
  if (!IsUuid(id)) return Status(StatusCode::kInvalidArgument, id + ": not a report's id");
  // Somebody may have removed the folder since it was opened.
  if (access(directory_.c_str(), F_OK) != 0) {
    const Status made = CheckFolder();
    if (!made.ok()) return made;
  }
  SealedFile::SweepOrphans(directory_);  // their reservations count
  Result<SpoolTransaction> look = Look();
  if (!look.ok()) return look.status();
  SpoolDemand demand;
  demand.free_bytes = FreeBytes(directory_);
  demand.incoming_count = 1;
  demand.incoming_bytes = std::max<uint64_t>(expected_bytes, 1);
  demand.replaces_id = id;
  if (!MakeRoom(&look.value(), demand)) {
    given_up_here_->fetch_add(1, std::memory_order_relaxed);
    ++look->state().not_written;
    look->MarkChanged();
    const Status stored = look->Commit(false);  // on a full disk the refusal stays uncounted
    return stored.ok() ? NoRoom(demand) : stored;
  }
  Status status = look->Commit(false);
  if (!status.ok()) return status;
  Result<SealedFile> file = SealedFile::Create(directory_, id + kReportFileSuffix);
  if (!file.ok()) return file.status();
  status = Lengthen(file->fd(), demand.incoming_bytes, directory_);
  if (!status.ok()) return status;
  SpoolRoom room = {[this, id](int fd, uint64_t reserved_bytes, uint64_t more_bytes) {
                      return Reserve(id, fd, reserved_bytes, more_bytes);
                    },
                    [this, id](SealedFile* sealed) { return Seal(id, sealed); }};
  return SpoolWriter(std::move(room), id, std::move(file.value()), demand.incoming_bytes);
}

Status Spool::NoRoom(const SpoolDemand& demand) const {
  if (demand.free_bytes < limits_.min_free_bytes + demand.incoming_bytes) {
    return BelowFloor(directory_, demand.free_bytes, limits_.min_free_bytes);
  }
  return Status(StatusCode::kNoSpace, directory_ + ": the report exceeds the spool's limits");
}

Status Spool::Reserve(const std::string& id, int fd, uint64_t reserved_bytes, uint64_t more_bytes) {
  Result<SpoolTransaction> look = Look();
  if (!look.ok()) return look.status();
  SpoolDemand demand;
  demand.free_bytes = FreeBytes(directory_);
  demand.incoming_bytes = more_bytes;
  demand.replaces_id = id;
  if (!MakeRoom(&look.value(), demand)) return NoRoom(demand);
  Status status = look->Commit(false);
  return status.ok() ? Lengthen(fd, reserved_bytes + more_bytes, directory_) : status;
}

Status Spool::Seal(const std::string& id, SealedFile* file) {
  Result<SpoolTransaction> look = Look();
  // A stopped holder of the lock must not cost the report: the next poll finds it and enters it.
  if (!look.ok()) return file->Seal();
  Status status = file->Seal();
  if (!status.ok()) return status;
  look->Register(id);
  return look->Commit(true);
}

Result<std::vector<SpoolEntry>> Spool::List() {
  Result<SpoolTransaction> look = Look();
  if (!look.ok()) return look.status();
  MakeRoom(&look.value(), {});
  Status status = UnlessDiskIsFull(look->Commit(false));
  if (!status.ok()) return status;
  std::vector<SpoolEntry> entries;
  for (const SpoolRecord& record : look->state().records) {
    if (record.fate != SpoolFate::kKept) continue;
    entries.push_back({record.id, ReportPath(directory_, record.id), record.file, record.age_ns});
  }
  CompactSort(&entries, [](const SpoolEntry& a, const SpoolEntry& b) {
    return a.age_ns != b.age_ns ? a.age_ns > b.age_ns : a.id < b.id;
  });
  return entries;
}

Result<ScopedFd> Spool::BeginUpload(const SpoolEntry& entry) {
  Result<SpoolTransaction> look = Look();
  if (!look.ok()) return look.status();
  SpoolRecord* record = look->Find(entry.id);
  if (record == nullptr || !(record->file == entry.file)) {
    return Status(StatusCode::kNotFound, entry.path + ": removed or replaced");
  }
  Result<ScopedFd> fd = OpenRegularFile(entry.path);
  if (!fd.ok()) return fd.status();
  if (record->attempts >= kMaxAttempts || !BeginsAsZstd(fd->get())) {
    const bool poison = record->attempts >= kMaxAttempts;
    look->Settle(record, poison ? SpoolFate::kPoison : SpoolFate::kCorrupt);
    Status status = look->Commit(true);
    if (!status.ok()) return status;
    return Status(
        StatusCode::kCorrupt,
        entry.path + (poison ? ": the process died during each of its uploads" : ": not a report"));
  }
  ++record->attempts;
  look->MarkChanged();
  Status status = UnlessDiskIsFull(look->Commit(false));
  if (!status.ok()) return status;
  return fd;
}

Status Spool::EndUpload(const SpoolEntry& entry) {
  Result<SpoolTransaction> look = Look();
  if (!look.ok()) return look.status();
  SpoolRecord* record = look->Find(entry.id);
  if (record == nullptr || !(record->file == entry.file)) return Status::Ok();
  record->attempts = 0;
  look->MarkChanged();
  return UnlessDiskIsFull(look->Commit(false));
}

Status Spool::MarkSent(const SpoolEntry& entry) { return Settle(entry, SpoolFate::kSent); }

Status Spool::Drop(const SpoolEntry& entry, SpoolFate why) { return Settle(entry, why); }

Status Spool::Settle(const SpoolEntry& entry, SpoolFate fate) {
  Result<SpoolTransaction> look = Look();
  if (!look.ok()) return look.status();
  SpoolRecord* record = look->Find(entry.id);
  if (record == nullptr) return Status::Ok();
  if (record->file == entry.file) {
    look->Settle(record, fate);
    return look->Commit(true);
  }
  // A later revision was sealed meanwhile and stays. The one that was sent has been counted as
  // replaced; what became of it is known better now.
  uint64_t& replaced = look->state().fates[static_cast<size_t>(SpoolFate::kReplaced)];
  if (fate == SpoolFate::kSent && replaced > 0) {
    --replaced;
    ++look->state().fates[static_cast<size_t>(SpoolFate::kSent)];
    look->MarkChanged();
  }
  return look->Commit(true);
}

Status Spool::Wipe() {
  Result<SpoolTransaction> look = Look();
  if (look.ok()) {
    for (SpoolRecord& record : look->state().records) {
      if (record.fate == SpoolFate::kKept) look->Settle(&record, SpoolFate::kWiped);
    }
    Status status = look->Commit(true);
    if (!status.ok()) return status;
  }
  // Half-written and quarantined ones; and all of them if the lock could not be had.
  Result<std::vector<std::string>> names = ListDirectory(directory_);
  if (!names.ok()) return names.status();
  for (const std::string& name : names.value()) {
    const bool half_written =
        name.starts_with(SealedFile::kTemporaryPrefix) && name.ends_with(kReportFileSuffix);
    const bool whole = IsUuid(name.substr(0, 36)) && (name.substr(36) == kReportFileSuffix ||
                                                      name.substr(36) == kQuarantineSuffix);
    const bool counts = name == kCountsName || name == kRecentCountsName;
    if (half_written || whole || counts) unlink(JoinPath(directory_, name).c_str());
  }
  return SyncDirectory(directory_);
}

Result<SpoolCounts> Spool::Counts() {
  Result<SpoolTransaction> look = Look();
  if (!look.ok()) return look.status();
  const SpoolState& state = look->state();
  SpoolCounts counts;
  counts.written = state.written;
  counts.sent = state.fates[static_cast<size_t>(SpoolFate::kSent)];
  counts.kept = state.kept();
  counts.not_written = state.not_written;
  counts.fates = state.fates;
  return counts;
}

}  // namespace jankbox
