// One upload from bytes to acknowledgement: checks the sealed file, then makes blob and row durable
// before it answers (decision 12). THREAD-SAFE: uploads of one id run one after the other. The body
// is untrusted; nothing is decompressed. Blocks on the disk.
#ifndef JANKBOX_COLLECTOR_INGEST_H_
#define JANKBOX_COLLECTOR_INGEST_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "collector/blob_folder.h"
#include "collector/store.h"
#include "report/report.pb.h"

namespace jankbox::collector {

enum class IngestOutcome {
  kAccepted,     // reply says which way; the report is durable
  kConflict,     // the same id and revision is stored with other content
  kInvalid,      // the body is not a sealed report
  kUnavailable,  // disk or database failed: not stored, worth a retry
};

struct IngestAnswer {
  IngestOutcome outcome = IngestOutcome::kUnavailable;
  proto::UploadReply reply;  // kAccepted
  std::string error;         // otherwise
};

class Ingest {
 public:
  // Both outlive this. `on_stored` is called after a report is durable; it does not wait.
  Ingest(ReportStore* store, BlobFolder* blobs, std::function<void()> on_stored)
      : store_(store), blobs_(blobs), on_stored_(std::move(on_stored)) {}

  // `received_at_ms` is the wall clock now.
  IngestAnswer Accept(std::string_view body, int64_t received_at_ms);

 private:
  IngestAnswer AcceptLocked(StoredReport* incoming, std::string_view body);
  IngestAnswer Replace(const StoredReport& incoming, std::string_view body,
                       const std::optional<StoredReport>& stored);
  Mutex& LockOf(std::string_view id);

  ReportStore* store_;
  BlobFolder* blobs_;
  const std::function<void()> on_stored_;
  std::array<Mutex, 64> id_locks_;  // by hash of the id
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_INGEST_H_
