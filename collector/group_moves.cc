#include "collector/group_moves.h"

#include <utility>

namespace jankbox::collector {
namespace {

constexpr int64_t kMaxResolvedGroups = 1000;

// Groups that have reports, of those that can be reached from ?1. UNION ends at a key that was
// reached before.
constexpr char kMoved[] =
    "WITH RECURSIVE reached(key) AS (SELECT ?1 UNION"
    " SELECT m.new_key FROM group_moves m JOIN reached r ON m.old_key = r.key"
    " WHERE m.naming <= (SELECT naming FROM symbol_state) LIMIT ?2)"
    " SELECT key FROM reached WHERE key <> ?1 AND key IN (SELECT group_key FROM shown)"
    " ORDER BY key";

}  // namespace

Status ResolveGroup(Database* database, const std::string& key, ResolvedGroup* resolved) {
  Statement own(database, "SELECT 1 FROM shown WHERE group_key = ?1 LIMIT 1");
  own.BindText(1, key);
  const Result<bool> has_reports = own.Step();
  if (!has_reports.ok()) return has_reports.status();
  std::vector<std::string> moved;
  Statement statement(database, kMoved);
  statement.BindText(1, key);
  statement.BindInteger(2, kMaxResolvedGroups);
  Result<bool> row = statement.Step();
  for (; row.ok() && row.value(); row = statement.Step()) moved.emplace_back(statement.Text(0));
  if (!row.ok()) return row.status();
  if (has_reports.value()) {
    *resolved = {{key}, std::move(moved)};
  } else if (moved.empty()) {
    *resolved = {{key}, {}};
  } else {
    *resolved = {std::move(moved), {}};
  }
  return Status::Ok();
}

Status NoteMove(Database* database, const std::string& from, const std::string& to,
                int64_t naming) {
  if (from == to) return Status::Ok();
  Statement statement(database, "INSERT OR IGNORE INTO group_moves VALUES(?1,?2,?3)");
  statement.BindText(1, from);
  statement.BindText(2, to);
  statement.BindInteger(3, naming);
  return statement.Step().status();
}

}  // namespace jankbox::collector
