// Short statements of the symbols' tables. Within a transaction of the caller's; blocks on the
// disk.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_ROW_STATEMENTS_H_
#define JANKBOX_COLLECTOR_SYMBOLS_ROW_STATEMENTS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "collector/database.h"

namespace jankbox::collector {

inline constexpr int kRowsOfATransaction = 256;  // which uploads may share

// A statement with the parameters ?1 and on, and without rows.
Status RunStatement(Database* database, const char* sql,
                    const std::vector<std::string_view>& texts);

// Calls `take` with each row.
Status ForEachRow(Statement* statement, const std::function<void(const Statement&)>& take);

// Of the report as it is stored; empty if it is not.
Result<std::string> ContentHashOf(Database* database, const std::string& id);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_ROW_STATEMENTS_H_
