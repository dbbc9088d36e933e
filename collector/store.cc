#include "collector/store.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/logger.h"
#include "collector/blob_folder.h"
#include "collector/store_schema.h"
#include "report/group_key.h"

namespace jankbox::collector {
namespace {

constexpr char kUpsert[] =
    "INSERT INTO reports(id, revision, content_hash, trace_bytes, received_at_ms, kind,"
    " fingerprint, process, duration_ns, group_key, counted)"
    " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)"
    " ON CONFLICT(id) DO UPDATE SET revision=?2, content_hash=?3, trace_bytes=?4,"
    " received_at_ms=?5, kind=?6, fingerprint=?7, process=?8, duration_ns=?9, group_key=?10,"
    " counted=?11, naming=0, indexed=0, wanted_version=0, named_version=0, trace_version=0";

constexpr char kFind[] =
    "SELECT m.report, s.content_hash, s.trace_bytes, s.received_at_ms, s.naming FROM shown s"
    " JOIN messages m ON m.id = s.id AND m.naming = s.naming WHERE s.id=?1";

constexpr char kFindReceived[] =
    "SELECT m.report, r.content_hash, r.trace_bytes, r.received_at_ms, 0 FROM reports r"
    " JOIN messages m ON m.id = r.id AND m.naming = 0 WHERE r.id=?1";

// A filter that is not wanted is switched off by its flag (?1, ?3, ?6), so that the text is
// constant. CROSS JOIN: messages are read of the rows that the filters leave.
constexpr char kList[] =
    "SELECT m.report, s.content_hash, s.trace_bytes, s.received_at_ms, s.naming FROM shown s"
    " CROSS JOIN messages m ON m.id = s.id AND m.naming = s.naming"
    " WHERE (?1 = 0 OR s.fingerprint = ?2) AND (?3 = 0 OR s.kind = ?4)"
    " AND (?6 = 0 OR s.group_key IN (SELECT value FROM json_each(?7)))"
    " ORDER BY s.received_at_ms DESC, s.id DESC LIMIT ?5";

// Columns of the queries above.
Result<StoredReport> RowOf(const Statement& row) {
  StoredReport stored;
  const std::string_view message = row.Blob(0);
  if (!stored.report.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return Status(StatusCode::kCorrupt, "cannot parse a stored report");
  }
  stored.content_hash = std::string(row.Blob(1));
  stored.trace_bytes = static_cast<uint64_t>(row.Integer(2));
  stored.received_at_ms = row.Integer(3);
  stored.naming = row.Integer(4);
  return stored;
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
  const std::string group = GroupKeyOf(report).key;
  statement.BindText(10, group);
  statement.BindInteger(11, report.counted());
  Status status = statement.Step().status();
  if (!status.ok()) return status;
  // The names of an earlier revision go with it.
  for (const char* sql :
       {"DELETE FROM messages WHERE id=?1", "DELETE FROM trace_names WHERE id=?1"}) {
    Statement removal(&writer_, sql);
    removal.BindText(1, report.id());
    status = removal.Step().status();
    if (!status.ok()) return status;
  }
  const std::string message = report.SerializeAsString();
  Statement insertion(&writer_, "INSERT INTO messages(id, naming, report) VALUES(?1, 0, ?2)");
  insertion.BindText(1, report.id());
  insertion.BindBlob(2, message);
  return insertion.Step().status();
}

Result<std::optional<StoredReport>> ReportStore::Find(const std::string& id) {
  return FindBy(kFind, id);
}

Result<std::optional<StoredReport>> ReportStore::FindReceived(const std::string& id) {
  return FindBy(kFindReceived, id);
}

Result<std::optional<StoredReport>> ReportStore::FindBy(const char* sql, const std::string& id) {
  MutexLock lock(&reader_mutex_);
  Statement statement(&reader_, sql);
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
  const Status status = Read([&](Database* database) {
    if (filter.group.has_value()) {
      const Status resolved = ResolveGroup(database, *filter.group, &list.group);
      if (!resolved.ok()) return resolved;
    }
    return ListIn(database, filter, &list);
  });
  if (!status.ok()) return status;
  return list;
}

Status ReportStore::ListIn(Database* database, const ReportFilter& filter, ReportList* list) {
  size_t message_bytes = 0;
  const std::string fingerprint = filter.fingerprint.value_or("");
  const std::string groups = nlohmann::json(list->group.keys)
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Statement statement(database, kList);
  statement.BindInteger(1, filter.fingerprint.has_value());
  statement.BindText(2, fingerprint);
  statement.BindInteger(3, filter.kind.has_value());
  statement.BindInteger(4, filter.kind.value_or(proto::KIND_UNSPECIFIED));
  statement.BindInteger(5, ToSqlInteger(filter.limit));
  statement.BindInteger(6, filter.group.has_value());
  statement.BindText(7, groups);
  Result<bool> row = statement.Step();
  for (; row.ok() && row.value(); row = statement.Step()) {
    message_bytes += statement.Blob(0).size();
    list->truncated = message_bytes > kMaxListBytes;
    if (list->truncated) break;
    Result<StoredReport> stored = RowOf(statement);
    if (stored.ok()) {
      list->reports.push_back(std::move(stored.value()));
    } else {
      Log().warn("omitted from a list: {}", stored.status().message());
    }
  }
  return row.status();
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
