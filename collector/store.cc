#include "collector/store.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/logger.h"
#include "collector/blob_folder.h"
#include "collector/count_sums.h"
#include "report/group_key.h"

namespace jankbox::collector {
namespace {

constexpr char kTable[] = R"sql(
CREATE TABLE reports(
  id TEXT PRIMARY KEY NOT NULL,
  revision INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  trace_bytes INTEGER NOT NULL,
  received_at_ms INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  process TEXT NOT NULL,
  duration_ns INTEGER NOT NULL,
  report BLOB NOT NULL,
  group_key TEXT NOT NULL,
  counted INTEGER NOT NULL) STRICT;
CREATE INDEX reports_by_time ON reports(received_at_ms, id);
)sql";

// Reports of schema 1 have no group key: their fingerprint puts them together.
constexpr char kMigrateFrom1[] = R"sql(
ALTER TABLE reports ADD COLUMN group_key TEXT NOT NULL DEFAULT '';
UPDATE reports SET group_key = fingerprint;
DROP INDEX reports_by_group;
)sql";

// Those of schema 2 are of devices that send no counts.
constexpr char kMigrateFrom2[] = R"sql(
ALTER TABLE reports ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
DROP INDEX IF EXISTS reports_by_group_key;
DROP INDEX IF EXISTS reports_by_fingerprint;
)sql";

constexpr char kGroupIndex[] = R"sql(
CREATE INDEX reports_by_group_key
  ON reports(group_key, duration_ns, kind, received_at_ms, process, fingerprint, counted, id);
)sql";

constexpr char kUpsert[] =
    "INSERT INTO reports(id, revision, content_hash, trace_bytes, received_at_ms, kind,"
    " fingerprint, process, duration_ns, report, group_key, counted)"
    " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)"
    " ON CONFLICT(id) DO UPDATE SET revision=?2, content_hash=?3, trace_bytes=?4,"
    " received_at_ms=?5, kind=?6, fingerprint=?7, process=?8, duration_ns=?9, report=?10,"
    " group_key=?11, counted=?12";

constexpr char kFind[] =
    "SELECT report, content_hash, trace_bytes, received_at_ms FROM reports WHERE id=?1";

// A filter that is not wanted is switched off by its flag (?1, ?3, ?6), so that the text is
// constant.
constexpr char kList[] =
    "SELECT report, content_hash, trace_bytes, received_at_ms FROM reports"
    " WHERE (?1 = 0 OR fingerprint = ?2) AND (?3 = 0 OR kind = ?4)"
    " AND (?6 = 0 OR group_key = ?7)"
    " ORDER BY received_at_ms DESC, id DESC LIMIT ?5";

// Columns of kFind and kList.
Result<StoredReport> RowOf(const Statement& row) {
  StoredReport stored;
  const std::string_view message = row.Blob(0);
  if (!stored.report.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return Status(StatusCode::kCorrupt, "cannot parse a stored report");
  }
  stored.content_hash = std::string(row.Blob(1));
  stored.trace_bytes = static_cast<uint64_t>(row.Integer(2));
  stored.received_at_ms = row.Integer(3);
  return stored;
}

Status PrepareSchema(Database* database, const std::string& path) {
  Result<int> version = database->UserVersion();
  if (!version.ok()) return version.status();
  if (version.value() == ReportStore::kSchemaVersion) return Status::Ok();
  if (version.value() >= 0 && version.value() < ReportStore::kSchemaVersion) {
    std::string steps = version.value() == 0 ? kTable : "";
    if (version.value() == 1) steps += kMigrateFrom1;
    if (version.value() >= 1) steps += kMigrateFrom2;
    steps += kGroupIndex;
    steps += kCountTables;
    return database->Execute(("BEGIN IMMEDIATE;" + steps + "PRAGMA user_version = " +
                              std::to_string(ReportStore::kSchemaVersion) + "; COMMIT;")
                                 .c_str());
  }
  return Status(StatusCode::kUnsupported, path + ": written by a newer jankbox-collector (schema " +
                                              std::to_string(version.value()) +
                                              ", this one supports " +
                                              std::to_string(ReportStore::kSchemaVersion) + ")");
}

}  // namespace

ReportStore::ReportStore(Database writer, Database reader)
    : writer_(std::move(writer)), reader_(std::move(reader)) {}

Result<std::unique_ptr<ReportStore>> ReportStore::Open(const std::string& directory) {
  const std::string path = JoinPath(directory, "reports.db");
  Result<Database> writer = Database::Open(path);
  if (!writer.ok()) return writer.status();
  Status status = PrepareSchema(&writer.value(), path);
  if (!status.ok()) return status;
  Result<Database> reader = Database::Open(path);
  if (!reader.ok()) return reader.status();
  return std::make_unique<ReportStore>(std::move(writer.value()), std::move(reader.value()));
}

Status ReportStore::Save(const StoredReport& stored) {
  return Write([&](Database*) { return Upsert(stored); });
}

Status ReportStore::Write(const std::function<Status(Database*)>& write) {
  PendingWrite mine{&write, Status::Ok(), false};
  {
    MutexLock lock(&queue_mutex_);
    queue_.push_back(&mine);
  }
  for (std::vector<PendingWrite*> batch; WaitForTurn(mine, &batch);) {
    const Status status = CommitBatch(batch);
    MutexLock lock(&queue_mutex_);
    for (PendingWrite* written : batch) {
      written->status = status;
      written->done = true;
    }
    committing_ = false;
    committed_.NotifyAll();
  }
  return mine.status;
}

bool ReportStore::WaitForTurn(const PendingWrite& mine, std::vector<PendingWrite*>* batch) {
  MutexLock lock(&queue_mutex_);
  while (!mine.done && committing_) committed_.Wait(&queue_mutex_);
  if (mine.done) return false;
  committing_ = true;
  batch->clear();
  batch->swap(queue_);
  return true;
}

Status ReportStore::CommitBatch(const std::vector<PendingWrite*>& batch) {
  Status status = writer_.Execute("BEGIN IMMEDIATE");
  if (!status.ok()) return status;
  for (size_t i = 0; i < batch.size() && status.ok(); ++i) {
    status = (*batch[i]->write)(&writer_);
  }
  if (status.ok()) status = writer_.Execute("COMMIT");
  // SQLite rolls back on its own after some errors; a second rollback then fails harmlessly.
  if (!status.ok()) static_cast<void>(writer_.Execute("ROLLBACK").ok());
  return status;
}

Status ReportStore::Upsert(const StoredReport& stored) {
  const proto::Report& report = stored.report;
  const std::string message = report.SerializeAsString();
  Statement statement(&writer_, kUpsert);
  statement.BindText(1, report.id());
  statement.BindInteger(2, report.revision());
  statement.BindBlob(3, stored.content_hash);
  statement.BindInteger(4, ToSqlInteger(stored.trace_bytes));
  statement.BindInteger(5, stored.received_at_ms);
  statement.BindInteger(6, report.kind());
  statement.BindText(7, report.fingerprint());
  statement.BindText(8, report.process());
  statement.BindInteger(9, ToSqlInteger(report.duration_ns()));
  statement.BindBlob(10, message);
  const std::string group = GroupKeyOf(report).key;
  statement.BindText(11, group);
  statement.BindInteger(12, report.counted());
  return statement.Step().status();
}

Result<std::optional<StoredReport>> ReportStore::Find(const std::string& id) {
  MutexLock lock(&reader_mutex_);
  Statement statement(&reader_, kFind);
  statement.BindText(1, id);
  Result<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  if (!row.value()) return std::optional<StoredReport>();
  Result<StoredReport> stored = RowOf(statement);
  if (!stored.ok()) return stored.status();
  return std::optional<StoredReport>(std::move(stored.value()));
}

Result<ReportList> ReportStore::List(const ReportFilter& filter) {
  ReportList list;
  size_t message_bytes = 0;
  const std::string fingerprint = filter.fingerprint.value_or("");
  const std::string group = filter.group.value_or("");
  MutexLock lock(&reader_mutex_);
  Statement statement(&reader_, kList);
  statement.BindInteger(1, filter.fingerprint.has_value());
  statement.BindText(2, fingerprint);
  statement.BindInteger(3, filter.kind.has_value());
  statement.BindInteger(4, filter.kind.value_or(proto::KIND_UNSPECIFIED));
  statement.BindInteger(5, ToSqlInteger(filter.limit));
  statement.BindInteger(6, filter.group.has_value());
  statement.BindText(7, group);
  Result<bool> row = statement.Step();
  for (; row.ok() && row.value(); row = statement.Step()) {
    message_bytes += statement.Blob(0).size();
    list.truncated = message_bytes > kMaxListBytes;
    if (list.truncated) break;
    Result<StoredReport> stored = RowOf(statement);
    if (stored.ok()) {
      list.reports.push_back(std::move(stored.value()));
    } else {
      Log().warn("omitted from a list: {}", stored.status().message());
    }
  }
  if (!row.ok()) return row.status();
  return list;
}

Result<std::vector<IncidentGroup>> ReportStore::Groups() {
  std::vector<IncidentGroup> groups;
  const Status status = Read([&](Database* database) {
    Result<std::vector<IncidentGroup>> queried = QueryGroups(database);
    if (queried.ok()) groups = std::move(queried.value());
    return queried.status();
  });
  if (!status.ok()) return status;
  return groups;
}

Status ReportStore::Read(const std::function<Status(Database*)>& read) {
  MutexLock lock(&reader_mutex_);
  const Status begun = reader_.Execute("BEGIN");
  if (!begun.ok()) return begun;
  const Status status = read(&reader_);
  const Status ended = reader_.Execute("COMMIT");
  return status.ok() ? ended : status;
}

Result<std::set<std::string>> ReportStore::BlobNames() {
  std::set<std::string> names;
  MutexLock lock(&reader_mutex_);
  Statement statement(&reader_, "SELECT id, revision FROM reports");
  Result<bool> row = statement.Step();
  for (; row.ok() && row.value(); row = statement.Step()) {
    names.insert(BlobFolder::NameOf(
        {std::string(statement.Text(0)), static_cast<uint32_t>(statement.Integer(1))}));
  }
  if (!row.ok()) return row.status();
  return names;
}

}  // namespace jankbox::collector
