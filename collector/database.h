// One SQLite connection and its statements, errors as Status. A connection belongs to one thread at
// a time: its owner locks. Values reach SQL as bound parameters only. Blocks on the disk.
#ifndef JANKBOX_COLLECTOR_DATABASE_H_
#define JANKBOX_COLLECTOR_DATABASE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace jankbox::collector {

class Database {
 public:
  // Opens or makes the file: WAL, synchronous=FULL (a commit survives a power cut). A lock held by
  // another program is waited for up to 2 s, then kBusy.
  static Result<Database> Open(const std::string& path);

  // Runs constant SQL text without values.
  Status Execute(const char* sql);

  // The last error of this connection: kNoSpace, kBusy, kPermissionDenied, kCorrupt or kIo.
  Status LastError() const;

  Result<int> UserVersion();

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(sqlite3* handle, std::string path);

  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

// SQLite's integers have a sign: larger numbers become the largest.
inline int64_t ToSqlInteger(uint64_t value) {
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(value, kMax));
}

// A prepared statement. An error of preparing or binding is kept and comes back from Step().
class Statement {
 public:
  Statement(Database* database, const char* sql);

  // Parameters count from 1. Bytes stay the caller's until the statement is destroyed.
  void BindText(int index, std::string_view text);
  void BindBlob(int index, std::string_view bytes);
  void BindInteger(int index, int64_t value);

  // True: a row is ready. False: done.
  Result<bool> Step();

  // Columns count from 0. Valid until the next Step().
  std::string_view Text(int column) const;
  std::string_view Blob(int column) const;
  int64_t Integer(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool failed_ = false;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_DATABASE_H_
