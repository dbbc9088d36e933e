// The collector's SQLite file (collector/store_schema.h), and its reports: one row for each id,
// with the columns that queries need, and the Report message, as received and with names.
// THREAD-SAFE: one connection commits (uploads that arrive together share one commit), another one
// reads. Blocks on the disk.
#ifndef JANKBOX_COLLECTOR_STORE_H_
#define JANKBOX_COLLECTOR_STORE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "collector/database.h"
#include "collector/group_moves.h"
#include "collector/incident_group.h"
#include "report/report.pb.h"

namespace jankbox::collector {

struct StoredReport {
  proto::Report report;
  std::string content_hash;    // 16 bytes, XXH3-128 of the sealed file
  uint64_t trace_bytes = 0;    // size of the sealed file
  int64_t received_at_ms = 0;  // wall clock of the collector
  int64_t naming = 0;          // of `report`; 0: as received
};

struct ReportFilter {
  size_t limit = 1000;
  std::optional<std::string> fingerprint;
  std::optional<std::string> group;  // as IncidentGroup::key, now or earlier
  std::optional<proto::Kind> kind;
};

struct ReportList {
  std::vector<StoredReport> reports;  // newest first
  bool truncated = false;             // cut at kMaxListBytes of messages, before the limit
  ResolvedGroup group;                // of the filter
};

class ReportStore {
 public:
  static constexpr size_t kMaxListBytes = 16u << 20;

  ReportStore(Database writer, Database reader);

  // Opens or makes DIR/reports.db. kUnsupported if a newer collector wrote it.
  static Result<std::unique_ptr<ReportStore>> Open(const std::string& directory);

  // Inserts the row or replaces the one of the same id. Durable when it returns ok, unchanged when
  // it does not.
  Status Save(const StoredReport& stored);

  // With the names that are known.
  Result<std::optional<StoredReport>> Find(const std::string& id);
  Result<std::optional<StoredReport>> FindReceived(const std::string& id);
  Result<ReportList> List(const ReportFilter& filter);
  Result<std::vector<IncidentGroup>> Groups();

  // Runs `write` in a transaction, which it may share with others: durable when it returns ok,
  // unchanged when it does not. It runs on any caller's thread, once.
  Status Write(const std::function<Status(Database*)>& write);
  // Runs `read` in a transaction of its own.
  Status Read(const std::function<Status(Database*)>& read);

  // Names (BlobFolder::NameOf) of the blobs that rows point to.
  Result<std::set<std::string>> BlobNames();

 private:
  struct PendingWrite {
    const std::function<Status(Database*)>* write;
    Status status;
    bool done = false;
  };

  // Waits until `mine` is done by another thread's commit (false), or takes all that is queued.
  bool WaitForTurn(const PendingWrite& mine, std::vector<PendingWrite*>* batch)
      EXCLUDES(queue_mutex_);
  Status CommitBatch(const std::vector<PendingWrite*>& batch);
  Status Upsert(const StoredReport& stored);
  Result<std::optional<StoredReport>> FindBy(const char* sql, const std::string& id);
  static Status ListIn(Database* database, const ReportFilter& filter, ReportList* list);

  Mutex queue_mutex_;
  CondVar committed_;
  std::vector<PendingWrite*> queue_ GUARDED_BY(queue_mutex_);
  bool committing_ GUARDED_BY(queue_mutex_) = false;  // only its setter uses writer_
  Database writer_;

  Mutex reader_mutex_;
  Database reader_ GUARDED_BY(reader_mutex_);
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_STORE_H_
