#include "collector/symbols/symbol_demand.h"

#include "collector/symbols/row_statements.h"

namespace jankbox::collector {
namespace {

constexpr char kSetIndexed[] =
    "UPDATE reports SET indexed = 1, wanted_version = max(wanted_version, coalesce("
    "(SELECT max(f.version) FROM report_keys k JOIN symbol_files f ON f.key = k.key"
    " WHERE k.id = ?1), 0)) WHERE id = ?1";
constexpr char kNextToMark[] =
    "SELECT f.key, f.version FROM symbol_files f WHERE f.marked = 0 ORDER BY f.key LIMIT 1";
constexpr char kIdsOfKey[] =
    "SELECT id FROM report_keys WHERE key = ?1 AND id > ?2 ORDER BY id LIMIT ?3";
constexpr char kMark[] =
    "UPDATE reports SET wanted_version = max(wanted_version, ?2) WHERE id = ?1";
constexpr char kMarked[] = "UPDATE symbol_files SET marked = 1 WHERE key = ?1 AND version = ?2";
constexpr char kMissing[] =
    "SELECT k.key, max(k.module), count(*) FROM report_keys k"
    " WHERE k.key NOT LIKE 'mapping-%'"
    " AND NOT EXISTS (SELECT 1 FROM symbol_files f WHERE f.key = k.key)"
    " GROUP BY k.key ORDER BY count(*) DESC, k.key LIMIT ?1";
constexpr char kToAskFor[] =
    "SELECT k.key FROM report_keys k LEFT JOIN asked_servers a ON a.key = k.key"
    " WHERE k.key NOT LIKE 'mapping-%' AND coalesce(a.asked_at_ms, 0) <= ?1"
    " AND NOT EXISTS (SELECT 1 FROM symbol_files f WHERE f.key = k.key)"
    " GROUP BY k.key ORDER BY count(*) DESC, k.key LIMIT 1";
constexpr char kPending[] =
    "SELECT (SELECT count(*) FROM reports WHERE indexed = 0)"
    " + (SELECT count(*) FROM reports WHERE wanted_version > named_version)"
    " + (SELECT count(*) FROM symbol_files WHERE marked = 0) + (SELECT count(*) FROM named),"
    " (SELECT count(*) FROM reports WHERE wanted_version > trace_version)"
    " + (SELECT count(*) FROM reports WHERE trace_version = 0 AND wanted_version = 0"
    " AND (SELECT version FROM symbol_state) > 0)";

}  // namespace

Result<std::vector<std::string>> SymbolDemand::ToIndex(int limit) {
  std::vector<std::string> ids;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, "SELECT id FROM reports WHERE indexed = 0 LIMIT ?1");
    statement.BindInteger(1, limit);
    return ForEachRow(&statement, [&](const Statement& row) { ids.emplace_back(row.Text(0)); });
  });
  if (!status.ok()) return status;
  return ids;
}

Status SymbolDemand::Add(const std::string& id, const std::string& content_hash,
                         const std::map<std::string, std::string>& keys) {
  return store_->Write([&](Database* database) {
    const Result<std::string> hash = ContentHashOf(database, id);
    if (!hash.ok() || hash.value() != content_hash) return hash.status();
    for (const auto& [key, module] : keys) {
      const Status status = RunStatement(
          database, "INSERT OR IGNORE INTO report_keys(key, id, module) VALUES(?1,?2,?3)",
          {key, id, module});
      if (!status.ok()) return status;
    }
    return RunStatement(database, kSetIndexed, {id});
  });
}

Result<bool> SymbolDemand::MarkSome() {
  bool found = false;
  const Status status = store_->Write([&](Database* database) { return MarkIn(database, &found); });
  if (!status.ok()) return status;
  return found;
}

// A transaction that fails has moved the position on: then the next call starts again.
Status SymbolDemand::MarkIn(Database* database, bool* found) {
  Statement next(database, kNextToMark);
  Result<bool> row = next.Step();
  *found = row.ok() && row.value();
  if (!*found) return row.status();
  const std::pair<std::string, int64_t> marking(next.Text(0), next.Integer(1));
  const std::string after = marking == marking_ ? marked_up_to_ : "";
  marking_ = {};
  std::string up_to;
  Statement ids(database, kIdsOfKey);
  ids.BindText(1, marking.first);
  ids.BindText(2, after);
  ids.BindInteger(3, kRowsOfATransaction);
  for (row = ids.Step(); row.ok() && row.value(); row = ids.Step()) {
    up_to = ids.Text(0);
    Statement mark(database, kMark);
    mark.BindText(1, up_to);
    mark.BindInteger(2, marking.second);
    const Status status = mark.Step().status();
    if (!status.ok()) return status;
  }
  if (!row.ok()) return row.status();
  if (up_to.empty()) {
    Statement done(database, kMarked);
    done.BindText(1, marking.first);
    done.BindInteger(2, marking.second);
    return done.Step().status();
  }
  marking_ = marking;
  marked_up_to_ = up_to;
  return Status::Ok();
}

Result<std::vector<MissingSymbols>> SymbolDemand::Missing() {
  std::vector<MissingSymbols> missing;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, kMissing);
    statement.BindInteger(1, kMaxListed);
    return ForEachRow(&statement, [&](const Statement& row) {
      missing.push_back({std::string(row.Text(0)), std::string(row.Text(1)),
                         static_cast<uint64_t>(row.Integer(2))});
    });
  });
  if (!status.ok()) return status;
  return missing;
}

Result<std::string> SymbolDemand::NextToAskFor(int64_t asked_before_ms, int64_t now_ms) {
  std::string key;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, kToAskFor);
    statement.BindInteger(1, asked_before_ms);
    return ForEachRow(&statement, [&](const Statement& row) { key = row.Text(0); });
  });
  if (!status.ok()) return status;
  if (key.empty()) return key;
  const Status noted = store_->Write([&](Database* database) {
    Statement statement(database, "INSERT OR REPLACE INTO asked_servers VALUES(?1,?2)");
    statement.BindText(1, key);
    statement.BindInteger(2, now_ms);
    return statement.Step().status();
  });
  if (!noted.ok()) return noted;
  return key;
}

Result<PendingNaming> SymbolDemand::Pending() {
  PendingNaming pending;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, kPending);
    return ForEachRow(&statement, [&](const Statement& row) {
      pending = {static_cast<uint64_t>(row.Integer(0)), static_cast<uint64_t>(row.Integer(1))};
    });
  });
  if (!status.ok()) return status;
  return pending;
}

}  // namespace jankbox::collector
