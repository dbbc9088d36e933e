#include "collector/symbols/row_statements.h"

namespace jankbox::collector {

Status RunStatement(Database* database, const char* sql,
                    const std::vector<std::string_view>& texts) {
  Statement statement(database, sql);
  for (size_t i = 0; i < texts.size(); ++i) statement.BindText(static_cast<int>(i + 1), texts[i]);
  return statement.Step().status();
}

Status ForEachRow(Statement* statement, const std::function<void(const Statement&)>& take) {
  Result<bool> row = statement->Step();
  for (; row.ok() && row.value(); row = statement->Step()) take(*statement);
  return row.status();
}

Result<std::string> ContentHashOf(Database* database, const std::string& id) {
  Statement statement(database, "SELECT content_hash FROM reports WHERE id = ?1");
  statement.BindText(1, id);
  Result<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  return row.value() ? std::string(statement.Blob(0)) : std::string();
}

}  // namespace jankbox::collector
