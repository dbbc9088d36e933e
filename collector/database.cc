#include "collector/database.h"

#include <sqlite3.h>

#include <utility>

namespace jankbox::collector {
namespace {

constexpr int kBusyTimeoutMs = 2000;

StatusCode CodeOf(int primary) {
  switch (primary) {
    case SQLITE_FULL:
      return StatusCode::kNoSpace;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return StatusCode::kBusy;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return StatusCode::kPermissionDenied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return StatusCode::kCorrupt;
    default:
      return StatusCode::kIo;
  }
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

Result<Database> Database::Open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;
  const int opened = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  Database database(handle, path);
  if (handle == nullptr) return Status(StatusCode::kNoSpace, path + ": no memory for SQLite");
  if (opened != SQLITE_OK) return database.LastError();
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  Status status = database.Execute(
      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA journal_size_limit=4194304;"
      "PRAGMA trusted_schema=OFF");
  if (!status.ok()) return status;
  return database;
}

Status Database::Execute(const char* sql) {
  return sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK ? Status::Ok()
                                                                                  : LastError();
}

Status Database::LastError() const {
  const int code = sqlite3_errcode(handle_.get());
  return Status(CodeOf(code & 0xff), path_ + ": " + sqlite3_errmsg(handle_.get()));
}

Result<int> Database::UserVersion() {
  Statement statement(this, "PRAGMA user_version");
  Result<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  return static_cast<int>(statement.Integer(0));
}

Statement::Statement(Database* database, const char* sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  failed_ = sqlite3_prepare_v2(database->handle_.get(), sql, -1, &statement, nullptr) != SQLITE_OK;
  statement_.reset(statement);
}

void Statement::BindText(int index, std::string_view text) {
  failed_ = failed_ || sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(),
                                           SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK;
}

void Statement::BindBlob(int index, std::string_view bytes) {
  failed_ = failed_ || sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(),
                                           SQLITE_STATIC) != SQLITE_OK;
}

void Statement::BindInteger(int index, int64_t value) {
  failed_ = failed_ || sqlite3_bind_int64(statement_.get(), index, value) != SQLITE_OK;
}

Result<bool> Statement::Step() {
  if (failed_) return database_->LastError();
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->LastError();
}

std::string_view Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string_view Statement::Blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

}  // namespace jankbox::collector
