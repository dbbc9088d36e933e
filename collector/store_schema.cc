#include "collector/store_schema.h"

#include "collector/count_sums.h"
#include "collector/usage_rows.h"

namespace jankbox::collector {
namespace {

constexpr char kReportTable[] = R"sql(
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

// The message of a report: as it was received (naming 0), and with the names that are shown. Apart
// from the reports' rows, which are short, so that group keys can be read and changed quickly.
constexpr char kMessageTable[] = R"sql(
CREATE TABLE messages(
  id TEXT NOT NULL,
  naming INTEGER NOT NULL,
  report BLOB NOT NULL,
  PRIMARY KEY(id, naming)) STRICT;
)sql";

constexpr char kMigrateFrom3[] = R"sql(
DROP INDEX IF EXISTS reports_by_group_key;
INSERT INTO messages SELECT id, 0, report FROM reports;
ALTER TABLE reports DROP COLUMN report;
)sql";

// docs/decisions/0024-names-in-the-collector.md. `naming`: which message is shown. `indexed`: the
// report is in report_keys. Versions are of symbol_state: with which symbols the message and the
// trace were named, and with which they should be. `marked`: the reports of a file's key have its
// version as wanted_version. `named`: names that are shown, or will be, together.
constexpr char kNamingTables[] = R"sql(
ALTER TABLE reports ADD COLUMN naming INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN wanted_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN named_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reports ADD COLUMN trace_version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX reports_by_group_key ON reports(group_key);
CREATE INDEX reports_to_index ON reports(id) WHERE indexed = 0;
CREATE INDEX reports_to_name ON reports(id) WHERE wanted_version > named_version;
CREATE INDEX traces_to_name ON reports(id) WHERE wanted_version > trace_version;
CREATE INDEX traces_to_read ON reports(id) WHERE trace_version = 0;
CREATE TABLE symbol_state(naming INTEGER NOT NULL, version INTEGER NOT NULL) STRICT;
INSERT INTO symbol_state VALUES(0, 0);
CREATE TABLE symbol_files(
  key TEXT PRIMARY KEY NOT NULL,
  path TEXT NOT NULL,
  uploaded INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  contents INTEGER NOT NULL,
  app TEXT NOT NULL,
  app_version TEXT NOT NULL,
  received_at_ms INTEGER NOT NULL,
  problem TEXT NOT NULL,
  version INTEGER NOT NULL,
  marked INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE folder_files(
  path TEXT PRIMARY KEY NOT NULL,
  bytes INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE report_keys(
  key TEXT NOT NULL,
  id TEXT NOT NULL,
  module TEXT NOT NULL,
  PRIMARY KEY(key, id)) STRICT, WITHOUT ROWID;
CREATE INDEX report_keys_by_id ON report_keys(id);
CREATE TABLE asked_servers(
  key TEXT PRIMARY KEY NOT NULL,
  asked_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE named(
  id TEXT PRIMARY KEY NOT NULL,
  naming INTEGER NOT NULL,
  content_hash BLOB NOT NULL,
  group_key TEXT NOT NULL,
  version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE trace_names(
  id TEXT PRIMARY KEY NOT NULL,
  content_hash BLOB NOT NULL,
  frames BLOB NOT NULL) STRICT;
CREATE TABLE group_moves(
  old_key TEXT NOT NULL,
  new_key TEXT NOT NULL,
  naming INTEGER NOT NULL,
  PRIMARY KEY(old_key, new_key)) STRICT, WITHOUT ROWID;
CREATE VIEW shown AS
  SELECT r.id, r.revision, r.content_hash, r.trace_bytes, r.received_at_ms, r.kind, r.fingerprint,
    r.process, r.duration_ns, r.counted,
    coalesce(n.group_key, r.group_key) AS group_key, coalesce(n.naming, r.naming) AS naming
  FROM reports r LEFT JOIN named n
    ON n.id = r.id AND n.content_hash = r.content_hash
      AND n.naming <= (SELECT naming FROM symbol_state);
)sql";

std::string StepsFrom(int version) {
  const std::string usage = kUsageTable;
  if (version == 0) {
    return std::string(kReportTable) + kMessageTable + kCountTables + kNamingTables + usage;
  }
  if (version == 4) return usage;
  std::string steps;
  if (version == 1) steps += kMigrateFrom1;
  if (version <= 2) steps += std::string(kMigrateFrom2) + kCountTables;
  return steps + kMessageTable + kMigrateFrom3 + kNamingTables + usage;
}

}  // namespace

Status PrepareSchema(Database* database, const std::string& path) {
  Result<int> version = database->UserVersion();
  if (!version.ok()) return version.status();
  if (version.value() == kSchemaVersion) return Status::Ok();
  if (version.value() >= 0 && version.value() < kSchemaVersion) {
    return database->Execute(("BEGIN IMMEDIATE;" + StepsFrom(version.value()) +
                              "PRAGMA user_version = " + std::to_string(kSchemaVersion) +
                              "; COMMIT;")
                                 .c_str());
  }
  return Status(StatusCode::kUnsupported, path + ": written by a newer jankbox-collector (schema " +
                                              std::to_string(version.value()) +
                                              ", this one supports " +
                                              std::to_string(kSchemaVersion) + ")");
}

}  // namespace jankbox::collector
