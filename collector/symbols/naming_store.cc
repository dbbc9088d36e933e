#include "collector/symbols/naming_store.h"

#include <string_view>
#include <utility>

#include "collector/group_moves.h"
#include "collector/symbols/row_statements.h"

namespace jankbox::collector {
namespace {

constexpr char kToName[] = "SELECT id FROM reports WHERE wanted_version > named_version LIMIT ?1";
// The second part is for traces of which nothing is known: once there are symbols. A report is
// indexed by its message first: what its trace wants would make it seem to be indexed.
constexpr char kTracesToName[] =
    "SELECT id FROM reports WHERE wanted_version > trace_version AND indexed = 1 UNION"
    " SELECT id FROM reports WHERE trace_version = 0 AND indexed = 1"
    " AND (SELECT version FROM symbol_state) > 0 LIMIT ?1";
constexpr char kReceived[] =
    "SELECT m.report, r.content_hash, s.group_key, s.naming FROM reports r"
    " JOIN messages m ON m.id = r.id AND m.naming = 0 JOIN shown s ON s.id = r.id WHERE r.id = ?1";
constexpr char kSettled[] =
    "SELECT id, naming, content_hash, group_key, version FROM named"
    " WHERE naming <= (SELECT naming FROM symbol_state) LIMIT ?1";

Status AddMessage(Database* database, int64_t naming, int64_t version, const NamedMessage& named) {
  Result<std::string> hash = ContentHashOf(database, named.id);
  if (!hash.ok() || hash.value() != named.content_hash) return hash.status();  // a later revision
  if (named.message.empty()) {
    Statement done(database, "UPDATE reports SET named_version = ?2 WHERE id = ?1");
    done.BindText(1, named.id);
    done.BindInteger(2, version);
    return done.Step().status();
  }
  Statement message(database, "INSERT OR REPLACE INTO messages VALUES(?1,?2,?3)");
  message.BindText(1, named.id);
  message.BindInteger(2, naming);
  message.BindBlob(3, named.message);
  Status status = message.Step().status();
  if (!status.ok()) return status;
  Statement row(database, "INSERT OR REPLACE INTO named VALUES(?1,?2,?3,?4,?5)");
  row.BindText(1, named.id);
  row.BindInteger(2, naming);
  row.BindBlob(3, named.content_hash);
  row.BindText(4, named.group_key);
  row.BindInteger(5, version);
  status = row.Step().status();
  if (!status.ok()) return status;
  return NoteMove(database, named.old_group_key, named.group_key, naming);
}

struct SettledRow {
  std::string id;
  int64_t naming = 0;
  std::string content_hash;
  std::string group_key;
  int64_t version = 0;
};

Status SettleRow(Database* database, const SettledRow& row) {
  Statement update(database,
                   "UPDATE reports SET naming = ?2, group_key = ?3, named_version = ?4"
                   " WHERE id = ?1 AND content_hash = ?5");
  update.BindText(1, row.id);
  update.BindInteger(2, row.naming);
  update.BindText(3, row.group_key);
  update.BindInteger(4, row.version);
  update.BindBlob(5, row.content_hash);
  Status status = update.Step().status();
  if (!status.ok()) return status;
  status = RunStatement(database,
                        "DELETE FROM messages WHERE id = ?1 AND naming <> 0"
                        " AND naming <> (SELECT naming FROM reports WHERE id = ?1)",
                        {row.id});
  if (!status.ok()) return status;
  return RunStatement(database, "DELETE FROM named WHERE id = ?1", {row.id});
}

// False if nothing was left to settle.
Result<bool> SettleSome(Database* database) {
  std::vector<SettledRow> rows;
  Statement statement(database, kSettled);
  statement.BindInteger(1, kRowsOfATransaction);
  Result<bool> row = statement.Step();
  for (; row.ok() && row.value(); row = statement.Step()) {
    rows.push_back({std::string(statement.Text(0)), statement.Integer(1),
                    std::string(statement.Blob(2)), std::string(statement.Text(3)),
                    statement.Integer(4)});
  }
  if (!row.ok()) return row.status();
  for (const SettledRow& settled : rows) {
    const Status status = SettleRow(database, settled);
    if (!status.ok()) return status;
  }
  return !rows.empty();
}

}  // namespace

Status NamingStore::Recover() {
  const Status status = store_->Write([](Database* database) {
    return database->Execute(
        "DELETE FROM messages WHERE (id, naming) IN"
        " (SELECT id, naming FROM named WHERE naming > (SELECT naming FROM symbol_state));"
        "DELETE FROM named WHERE naming > (SELECT naming FROM symbol_state);"
        "DELETE FROM group_moves WHERE naming > (SELECT naming FROM symbol_state)");
  });
  return status.ok() ? Settle() : status;
}

Result<std::vector<std::string>> NamingStore::Ids(const char* sql, int limit) {
  std::vector<std::string> ids;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, sql);
    statement.BindInteger(1, limit);
    Result<bool> row = statement.Step();
    for (; row.ok() && row.value(); row = statement.Step()) ids.emplace_back(statement.Text(0));
    return row.status();
  });
  if (!status.ok()) return status;
  return ids;
}

Result<std::vector<std::string>> NamingStore::ToName(int limit) { return Ids(kToName, limit); }

Result<std::vector<std::string>> NamingStore::TracesToName(int limit) {
  return Ids(kTracesToName, limit);
}

Result<int64_t> NamingStore::Version() {
  int64_t version = 0;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, "SELECT version FROM symbol_state");
    const Result<bool> row = statement.Step();
    if (row.ok() && row.value()) version = statement.Integer(0);
    return row.status();
  });
  if (!status.ok()) return status;
  return version;
}

Result<std::optional<ReceivedReport>> NamingStore::Received(const std::string& id) {
  std::optional<ReceivedReport> received;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, kReceived);
    statement.BindText(1, id);
    const Result<bool> row = statement.Step();
    if (!row.ok() || !row.value()) return row.status();
    received.emplace();
    const std::string_view message = statement.Blob(0);
    // A row that cannot be parsed is an empty report here: it wants no symbols.
    static_cast<void>(
        received->report.ParseFromArray(message.data(), static_cast<int>(message.size())));
    received->content_hash = statement.Blob(1);
    received->group_key = statement.Text(2);
    received->named = statement.Integer(3) != 0;
    return Status::Ok();
  });
  if (!status.ok()) return status;
  return received;
}

Result<int64_t> NamingStore::Begin() {
  const Status status = Recover();
  if (!status.ok()) return status;
  int64_t naming = 0;
  const Status read = store_->Read([&](Database* database) {
    Statement statement(database, "SELECT naming + 1 FROM symbol_state");
    const Result<bool> row = statement.Step();
    if (row.ok() && row.value()) naming = statement.Integer(0);
    return row.status();
  });
  if (!read.ok()) return read;
  return naming;
}

Status NamingStore::Add(int64_t naming, int64_t version,
                        const std::vector<NamedMessage>& messages) {
  return store_->Write([&](Database* database) {
    for (const NamedMessage& named : messages) {
      const Status status = AddMessage(database, naming, version, named);
      if (!status.ok()) return status;
    }
    return Status::Ok();
  });
}

Status NamingStore::Show(int64_t naming) {
  return store_->Write([&](Database* database) {
    Statement statement(database, "UPDATE symbol_state SET naming = ?1");
    statement.BindInteger(1, naming);
    return statement.Step().status();
  });
}

Status NamingStore::Settle() {
  for (bool more = true; more;) {
    const Status status = store_->Write([&](Database* database) {
      const Result<bool> settled = SettleSome(database);
      more = settled.ok() && settled.value();
      return settled.status();
    });
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status NamingStore::SetTraceNames(const std::string& id, const std::string& content_hash,
                                  int64_t version, const std::string& frames) {
  return store_->Write([&](Database* database) {
    const Result<std::string> hash = ContentHashOf(database, id);
    if (!hash.ok() || hash.value() != content_hash) return hash.status();
    Status status = RunStatement(database, "DELETE FROM trace_names WHERE id = ?1", {id});
    if (!status.ok()) return status;
    if (!frames.empty()) {
      Statement names(database, "INSERT INTO trace_names VALUES(?1,?2,?3)");
      names.BindText(1, id);
      names.BindBlob(2, content_hash);
      names.BindBlob(3, frames);
      status = names.Step().status();
      if (!status.ok()) return status;
    }
    Statement done(database, "UPDATE reports SET trace_version = ?2 WHERE id = ?1");
    done.BindText(1, id);
    done.BindInteger(2, version);
    return done.Step().status();
  });
}

Result<std::string> NamingStore::TraceNames(const std::string& id,
                                            const std::string& content_hash) {
  std::string frames;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database,
                        "SELECT frames FROM trace_names WHERE id = ?1 AND content_hash = ?2");
    statement.BindText(1, id);
    statement.BindBlob(2, content_hash);
    const Result<bool> row = statement.Step();
    if (row.ok() && row.value()) frames = statement.Blob(0);
    return row.status();
  });
  if (!status.ok()) return status;
  return frames;
}

}  // namespace jankbox::collector
