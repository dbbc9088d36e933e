#include "uploader/counts/count_book.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked_bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sealed_file.h"
#include "report/message_decoder.h"
#include "report/report_encoder.h"
#include "uploader/counts/count_epoch.h"
#include "uploader/counts/file_birth.h"
#include "uploader/spool/spool_folder.h"
#include "uploader/spool/spool_lock.h"

namespace jankbox {
namespace {

constexpr std::string_view kMagic = "JBXCNT01";
// 501 counters of every bucket are below 1 MiB, and two epochs may have them.
constexpr size_t kMaxBytes = 4u << 20;
constexpr uint32_t kLockMs = 1000;

// kUnreadable: the process is out of descriptors or memory.
enum class FileState { kNone, kUnreadable, kDamaged, kCopy, kWhole };

struct CountFile {
  FileState state = FileState::kNone;
  ReportCountBook book;
};

CountFile ReadCountFile(const std::string& path) {
  CountFile file;
  const Result<ScopedFd> fd = OpenRegularFile(path);
  if (!fd.ok() && fd.status().code() == StatusCode::kNotFound) return file;
  file.state = FileState::kDamaged;
  const Result<std::string> bytes = fd.ok() ? ReadFile(path, kMaxBytes) : fd.status();
  if (!bytes.ok() && bytes.status().code() == StatusCode::kBusy) {
    file.state = FileState::kUnreadable;
    return file;
  }
  const std::optional<std::string_view> content =
      bytes.ok() ? CheckedContent(kMagic, bytes.value()) : std::nullopt;
  if (!content || !DecodeCountBook(*content, &file.book).ok() || !IsPlausible(file.book)) {
    file.book = {};
    return file;
  }
  // A file system that keeps no such time cannot tell: the server does (Acknowledge).
  const uint64_t born_ns = FileBirthNs(fd->get());
  const bool copy = born_ns != 0 && file.book.birth_ns != 0 && born_ns != file.book.birth_ns;
  file.state = copy ? FileState::kCopy : FileState::kWhole;
  return file;
}

Status Unreadable(const std::string& folder) {
  return Status(StatusCode::kBusy,
                JoinPath(folder, kCountsName) + ": the process is out of descriptors or memory");
}

// Whatever follows has a higher generation than both files.
ReportCountBook BeginAgain(const char* why, const CountFile& synced, const CountFile& recent) {
  ReportCountBook book = NewCountBook(why);
  book.generation = std::max(synced.book.generation, recent.book.generation);
  // Of a copy: what a ring of this folder still has was counted before it was made.
  book.counted_ids = recent.book.counted_ids;
  for (const std::string& id : synced.book.counted_ids) {
    auto& ids = book.counted_ids;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  const bool is_recent = recent.book.generation > synced.book.generation;
  book.processes = is_recent ? recent.book.processes : synced.book.processes;
  return book;
}

}  // namespace

CountBook::CountBook(std::string folder, Clock clock)
    : folder_(std::move(folder)), clock_(std::move(clock)) {}

Result<CountBook::Loaded> CountBook::Load(const SpoolInstant& now) const {
  CountFile synced = ReadCountFile(JoinPath(folder_, kCountsName));
  CountFile recent = ReadCountFile(JoinPath(folder_, kRecentCountsName));
  const auto either = [&](FileState state) {
    return synced.state == state || recent.state == state;
  };
  if (either(FileState::kUnreadable)) return Unreadable(folder_);
  if (either(FileState::kCopy)) return Loaded{BeginAgain("copy", synced, recent), false, true};
  if (!either(FileState::kWhole)) {
    const char* why = either(FileState::kDamaged) ? "damaged" : "new";
    return Loaded{BeginAgain(why, {}, {}), false, true};
  }
  const bool is_recent =
      recent.state == FileState::kWhole &&
      (synced.state != FileState::kWhole || recent.book.generation > synced.book.generation);
  Loaded loaded;
  loaded.book = std::move(is_recent ? recent.book : synced.book);
  loaded.synced = !is_recent;
  // The machine stopped, or a power cut damaged the later file: what followed may be missing.
  const bool stopped = loaded.book.boot_id != now.boot_id && !loaded.book.closed;
  if (stopped || either(FileState::kDamaged)) {
    ++loaded.book.unsure_stops;
    loaded.changed = true;
  }
  return loaded;
}

Status CountBook::Store(const SpoolInstant& now, const Outcome& outcome,
                        ReportCountBook* book) const {
  ++book->generation;
  const bool due =
      book->boot_id != now.boot_id || now.boottime_ns >= book->synced_boottime_ns + kSyncEveryNs;
  const bool durable = outcome.durable || (due && !outcome.lazy);
  book->boot_id = now.boot_id;
  if (durable) book->synced_boottime_ns = now.boottime_ns;
  const auto content = [book](int fd) {
    book->birth_ns = FileBirthNs(fd);
    return AddChecksum(kMagic, EncodeCountBook(*book));
  };
  const Status status =
      ReplaceFile(folder_, durable ? kCountsName : kRecentCountsName, content, durable);
  if (status.ok() && durable) unlink(JoinPath(folder_, kRecentCountsName).c_str());
  return status;
}

Status CountBook::Change(const Edit& edit) {
  // Without the lock another process's counts could be overwritten: the caller tries again later.
  const Result<SpoolLock> lock = SpoolLock::Acquire(JoinPath(folder_, kCountsLockName), kLockMs);
  if (!lock.ok()) return lock.status();
  const SpoolInstant now = clock_();
  Result<Loaded> read = Load(now);
  if (!read.ok()) return read.status();
  Loaded& loaded = read.value();
  ReportCountBook& book = loaded.book;
  const std::string epoch = book.epoch;
  const bool was_closed = book.closed;
  Outcome outcome = edit(&book);
  const size_t ids = book.counted_ids.size() + book.processes.size();
  for (const std::string& id : settled_) {
    ForgetId(id, &book);
    ForgetProcess(id, &book);
  }
  outcome.changed = outcome.changed || book.counted_ids.size() + book.processes.size() != ids;
  // An epoch that begins where there was none is not worth a file before it counts.
  if (loaded.changed && book.generation != 0) outcome = {.changed = true, .durable = true};
  // No epoch is begun twice, and after a power cut closed counts have nothing missing.
  const bool opened = was_closed && !book.closed;
  if (opened || book.epoch != epoch) outcome.durable = true;
  Status status = Status::Ok();
  if (outcome.changed || (outcome.durable && !loaded.synced)) {
    status = Store(now, outcome, &book);
  }
  if (status.ok()) {
    for (const std::string& id : settled_) {
      std::erase_if(usage_, [&](const NotedUsage& noted) { return noted.usage.id == id; });
    }
    settled_.clear();
  }
  return status;
}

bool CountBook::AddUnwritten(ReportCountBook* book) {
  bool added = lost_ != 0;
  book->lost_incidents += lost_;
  for (const CountedIncident& incident : unwritten_) added = AddIncident(incident, book) || added;
  if (added) book->closed = false;
  return added;
}

bool CountBook::AddNotedUsage(ReportCountBook* book) const {
  bool added = false;
  for (const NotedUsage& noted : usage_) {
    added = AddUsage(noted.usage, noted.written, book) || added;
  }
  // No incident was counted since this write.
  if (added && book->generation == 0) book->closed = true;
  return added;
}

void CountBook::WasWritten(const Status& status) {
  if (!status.ok()) return;
  unwritten_.clear();
  lost_ = 0;
  for (NotedUsage& noted : usage_) noted.written = noted.usage.total;
}

Status CountBook::Count(const CountedIncident& incident) {
  CountLater(incident);
  return Write();
}

void CountBook::CountLater(const CountedIncident& incident) {
  if (unwritten_.size() >= kMaxUnwritten) {
    lost_ += unwritten_.front().counter.incidents;
    unwritten_.erase(unwritten_.begin());
  }
  unwritten_.push_back(incident);
  counted_.push_back(incident.id);
}

Status CountBook::Write() {
  const Status status = Change([this](ReportCountBook* book) {
    const bool used = AddNotedUsage(book);
    return Outcome{.changed = AddUnwritten(book) || used};
  });
  WasWritten(status);
  return status;
}

void CountBook::NoteUsage(const ProcessUsage& usage) {
  if (!IsUsed(usage)) return;  // what it has counts with its first message
  for (NotedUsage& noted : usage_) {
    if (noted.usage.id != usage.id) continue;
    noted.usage = usage;
    return;
  }
  usage_.push_back({usage, {}});
}

Status CountBook::WriteUsage() {
  const Status status = Change([this](ReportCountBook* book) {
    const bool used = AddNotedUsage(book);
    const bool added = AddUnwritten(book);
    return Outcome{.changed = added || used, .lazy = !added};
  });
  WasWritten(status);
  return status;
}

void CountBook::CountEndedUsage(const ProcessUsage& usage) {
  NoteUsage(usage);
  EndUsage(usage.id);
  (void)WriteUsage().ok();  // else with the next change
}

Status CountBook::ForgetUsage(const std::string& app) {
  return Change([&](ReportCountBook* book) {
    if (!ForgetUsageOf(app, book)) return Outcome{};
    ResetIds(book);
    if (book->usage.empty()) book->installation.clear();
    return Outcome{.changed = true, .durable = true};
  });
}

Status CountBook::Reset() {
  return Change([](ReportCountBook* book) {
    if (book->generation == 0) return Outcome{};  // there is no id yet
    ResetIds(book);
    return Outcome{.changed = true, .durable = true};
  });
}

void CountBook::Settle() {
  settled_.insert(settled_.end(), counted_.begin(), counted_.end());
  counted_.clear();
}

Status CountBook::Close() {
  const bool idle = unwritten_.empty() && counted_.empty() && settled_.empty() && usage_.empty();
  if (idle) return Status::Ok();
  const Status status = Change([this](ReportCountBook* book) {
    const bool used = AddNotedUsage(book);
    const bool added = AddUnwritten(book);
    // Usage is not worth a wait for the disk at each end of a program.
    if (!added && (book->closed || book->generation == 0)) {
      return Outcome{.changed = used, .lazy = true};
    }
    book->closed = true;
    return Outcome{.changed = true, .durable = true};
  });
  WasWritten(status);
  return status;
}

Result<ReportCounts> CountBook::Unsent(size_t usage_bytes) {
  ReportCounts counts;
  const Status status = Change([&](ReportCountBook* book) {
    if (!book->ended.epoch.empty()) {
      counts = book->ended;
      if (UsageBytes(counts) > usage_bytes) counts = WithoutUsage(std::move(counts));
      if (!counts.counters.empty() || !counts.usage.empty()) return Outcome{.durable = true};
    }
    counts = UnsentCounts(*book);
    AddUnsentUsage(*book, usage_bytes, &counts);
    if (counts.counters.empty() && counts.usage.empty()) return Outcome{};
    const bool was_unseen = book->unseen;
    book->unseen = false;
    return Outcome{.changed = was_unseen, .durable = true};
  });
  if (!status.ok()) return status;
  return counts;
}

// It does not grow any more, and all of its counters are sent at once, and all of its usage.
bool CountBook::AcknowledgeEnded(const ReportCounts& sent, ReportCountBook* book) {
  if (book->ended.epoch != sent.epoch) return false;
  ReportCounts& ended = book->ended;
  // Not an earlier message of that epoch, which was under way at the reset.
  const bool has_counters = !sent.counters.empty() &&
                            EncodeCounts(WithoutUsage(sent)) == EncodeCounts(WithoutUsage(ended));
  const bool has_usage = !sent.usage.empty() && sent.usage_seq == ended.usage_seq &&
                         sent.usage.size() == ended.usage.size();
  if (has_counters) ended.counters.clear();
  if (has_usage) ended.usage.clear();
  if (ended.usage.empty()) DropEndedUsage(book);
  return has_counters || has_usage;
}

Status CountBook::Acknowledge(const ReportCounts& sent, const CountsAnswer& answer) {
  return Change([&](ReportCountBook* book) {
    if (AcknowledgeEnded(sent, book)) return Outcome{.changed = true};
    if (book->epoch != sent.epoch) return Outcome{};
    if (answer.forked || answer.seq > book->seq || answer.usage_seq > book->seq) {
      BeginEpoch("copy", book);
      return Outcome{.changed = true};
    }
    const uint64_t usage_seq = std::min(sent.usage_seq, answer.usage_seq);
    book->acknowledged_seq =
        answer.resend ? 0 : std::max(book->acknowledged_seq, std::min(sent.seq, answer.seq));
    book->acknowledged_usage_seq =
        answer.resend ? 0 : std::max(book->acknowledged_usage_seq, usage_seq);
    if (IsFull(*book) && book->ended.epoch.empty()) {
      const std::string installation = book->installation;
      EndEpoch("full", book);
      book->installation = installation;
    }
    return Outcome{.changed = true};
  });
}

Result<ReportCountBook> CountBook::Read(const std::string& folder) {
  CountFile synced = ReadCountFile(JoinPath(folder, kCountsName));
  CountFile recent = ReadCountFile(JoinPath(folder, kRecentCountsName));
  if (synced.state == FileState::kUnreadable || recent.state == FileState::kUnreadable) {
    return Unreadable(folder);
  }
  // A reader does not mind a copy.
  const auto readable = [](const CountFile& file) { return file.state >= FileState::kCopy; };
  if (readable(recent) && recent.book.generation > synced.book.generation) return recent.book;
  if (readable(synced)) return synced.book;
  const bool none = synced.state == FileState::kNone && recent.state == FileState::kNone;
  return Status(none ? StatusCode::kNotFound : StatusCode::kCorrupt,
                JoinPath(folder, kCountsName) + (none ? ": there are no counts" : ": damaged"));
}

}  // namespace jankbox
