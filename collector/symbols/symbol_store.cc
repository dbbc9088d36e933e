#include "collector/symbols/symbol_store.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/short_key.h"
#include "collector/symbols/row_statements.h"

namespace jankbox::collector {
namespace {

constexpr std::string_view kMappingPrefix = "mapping-";

// For FileOf().
constexpr char kColumns[] =
    "SELECT f.key, f.path, f.uploaded, f.bytes, f.content_hash, f.contents, f.app, f.app_version,"
    " f.received_at_ms, f.problem";
constexpr char kReports[] = ", (SELECT count(*) FROM report_keys k WHERE k.key = f.key)";

constexpr char kPut[] =
    "INSERT OR REPLACE INTO symbol_files(key, path, uploaded, bytes, content_hash, contents, app,"
    " app_version, received_at_ms, problem, version, marked)"
    " SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,'',version,0 FROM symbol_state";
SymbolFile FileOf(const Statement& row, const std::string& directory) {
  SymbolFile file;
  file.key = row.Text(0);
  file.uploaded = row.Integer(2) != 0;
  file.path = file.uploaded ? JoinPath(directory, row.Text(1)) : std::string(row.Text(1));
  file.bytes = static_cast<uint64_t>(row.Integer(3));
  file.content_hash = row.Blob(4);
  file.contents = static_cast<ElfContents>(row.Integer(5));
  file.app = row.Text(6);
  file.app_version = row.Text(7);
  file.received_at_ms = row.Integer(8);
  file.problem = row.Text(9);
  file.reports = static_cast<uint64_t>(row.Integer(10));
  return file;
}

Result<std::optional<SymbolFile>> FindIn(Database* database, const std::string& directory,
                                         const std::string& key) {
  const std::string sql =
      std::string(kColumns) + kReports + " FROM symbol_files f WHERE f.key = ?1";
  Statement statement(database, sql.c_str());
  statement.BindText(1, key);
  std::optional<SymbolFile> file;
  const Status status =
      ForEachRow(&statement, [&](const Statement& row) { file = FileOf(row, directory); });
  if (!status.ok()) return status;
  return file;
}

PutOutcome::Result OutcomeOf(const SymbolFile& there, const SymbolFile& file) {
  const bool same = there.bytes == file.bytes && there.content_hash == file.content_hash;
  if (there.uploaded && file.uploaded && same) return PutOutcome::Result::kDuplicate;
  if (there.path == file.path || file.contents > there.contents) return PutOutcome::Result::kStored;
  const bool replaces = file.contents == there.contents && file.uploaded;
  return replaces ? PutOutcome::Result::kStored : PutOutcome::Result::kKept;
}

// The path of an uploaded file is its name, so that the data folder may be moved.
Status PutIn(Database* database, const SymbolFile& file) {
  const Status status = database->Execute("UPDATE symbol_state SET version = version + 1");
  if (!status.ok()) return status;
  Statement statement(database, kPut);
  statement.BindText(1, file.key);
  statement.BindText(2, file.uploaded ? BaseName(file.path) : std::string_view(file.path));
  statement.BindInteger(3, file.uploaded);
  statement.BindInteger(4, ToSqlInteger(file.bytes));
  statement.BindBlob(5, file.content_hash);
  statement.BindInteger(6, static_cast<int64_t>(file.contents));
  statement.BindText(7, file.app);
  statement.BindText(8, file.app_version);
  statement.BindInteger(9, file.received_at_ms);
  return statement.Step().status();
}

Status NoteFolderFile(Database* database, const std::string& path, const FolderFile& file) {
  Statement statement(database, "INSERT OR REPLACE INTO folder_files VALUES(?1,?2,?3)");
  statement.BindText(1, path);
  statement.BindInteger(2, ToSqlInteger(file.bytes));
  statement.BindInteger(3, file.changed_ns);
  return statement.Step().status();
}

}  // namespace

std::string MappingKey(const std::string& app, const std::string& app_version) {
  return std::string(kMappingPrefix) + ShortKey(app + '\0' + app_version);
}

bool IsMappingKey(const std::string& key) { return key.starts_with(kMappingPrefix); }

Result<std::optional<SymbolFile>> SymbolStore::Find(const std::string& key) {
  Result<std::optional<SymbolFile>> file = std::optional<SymbolFile>();
  const Status status = store_->Read([&](Database* database) {
    file = FindIn(database, directory_, key);
    return file.status();
  });
  if (!status.ok()) return status;
  return file;
}

Result<std::vector<SymbolFile>> SymbolStore::List() {
  std::vector<SymbolFile> files;
  const Status status = store_->Read([&](Database* database) {
    const std::string sql =
        std::string(kColumns) + kReports + " FROM symbol_files f ORDER BY f.key LIMIT ?1";
    Statement statement(database, sql.c_str());
    statement.BindInteger(1, kMaxListed);
    return ForEachRow(&statement,
                      [&](const Statement& row) { files.push_back(FileOf(row, directory_)); });
  });
  if (!status.ok()) return status;
  return files;
}

Result<std::map<std::string, SymbolFile>> SymbolStore::FindAll(const std::set<std::string>& keys) {
  std::map<std::string, SymbolFile> files;
  const std::string list = nlohmann::json(keys).dump();
  const Status status = store_->Read([&](Database* database) {
    const std::string sql = std::string(kColumns) +
                            ", 0 FROM symbol_files f"
                            " WHERE f.key IN (SELECT value FROM json_each(?1))";
    Statement statement(database, sql.c_str());
    statement.BindText(1, list);
    return ForEachRow(&statement, [&](const Statement& row) {
      SymbolFile file = FileOf(row, directory_);
      files[file.key] = std::move(file);
    });
  });
  if (!status.ok()) return status;
  return files;
}

Result<std::set<std::string>> SymbolStore::UploadedPaths() {
  std::set<std::string> paths;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, "SELECT path FROM symbol_files WHERE uploaded = 1");
    return ForEachRow(
        &statement, [&](const Statement& row) { paths.insert(JoinPath(directory_, row.Text(0))); });
  });
  if (!status.ok()) return status;
  return paths;
}

Result<PutOutcome> SymbolStore::Put(const SymbolFile& file) {
  PutOutcome outcome;
  const Status status = store_->Write([&](Database* database) {
    const Result<std::optional<SymbolFile>> there = FindIn(database, directory_, file.key);
    if (!there.ok()) return there.status();
    outcome = {};
    if (there->has_value()) outcome.result = OutcomeOf(*there.value(), file);
    if (outcome.result != PutOutcome::Result::kStored) return Status::Ok();
    if (there->has_value() && there.value()->uploaded) outcome.replaced_path = there.value()->path;
    return PutIn(database, file);
  });
  if (!status.ok()) return status;
  return outcome;
}

Status SymbolStore::NoteProblem(const std::string& key, const std::string& problem) {
  return store_->Write([&](Database* database) {
    Statement statement(database, "UPDATE symbol_files SET problem = ?2 WHERE key = ?1");
    statement.BindText(1, key);
    statement.BindText(2, problem);
    return statement.Step().status();
  });
}

Result<std::map<std::string, FolderFile>> SymbolStore::FolderFiles() {
  std::map<std::string, FolderFile> files;
  const Status status = store_->Read([&](Database* database) {
    Statement statement(database, "SELECT path, bytes, changed_ns FROM folder_files");
    return ForEachRow(&statement, [&](const Statement& row) {
      files[std::string(row.Text(0))] = {static_cast<uint64_t>(row.Integer(1)), row.Integer(2)};
    });
  });
  if (!status.ok()) return status;
  return files;
}

Status SymbolStore::NoteFolderFiles(const std::map<std::string, FolderFile>& files) {
  return store_->Write([&](Database* database) {
    for (const auto& [path, file] : files) {
      const Status status = NoteFolderFile(database, path, file);
      if (!status.ok()) return status;
    }
    return Status::Ok();
  });
}

Status SymbolStore::ForgetFolderFile(const std::string& path) {
  return store_->Write([&](Database* database) {
    for (const char* sql : {"DELETE FROM folder_files WHERE path = ?1",
                            "DELETE FROM symbol_files WHERE path = ?1 AND uploaded = 0"}) {
      Statement statement(database, sql);
      statement.BindText(1, path);
      const Status status = statement.Step().status();
      if (!status.ok()) return status;
    }
    return Status::Ok();
  });
}

}  // namespace jankbox::collector
