#include "collector/ingest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <functional>
#include <utility>

#include "base/logger.h"
#include "report/earlier_fields.h"
#include "report/report_file.h"

namespace jankbox::collector {
namespace {

// A repeated message costs two bytes on the wire and a hundred as JSON. The SDK sends far fewer.
constexpr int kMaxFrames = 1024;
constexpr int kMaxNotes = 256;
constexpr int kMaxSources = 64;

std::string ContentHash(std::string_view body) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(body.data(), body.size()));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest));
}

Result<proto::Report> CheckedReport(std::string_view body) {
  Result<proto::Report> report = ParseReport(body);
  if (!report.ok()) return report;
  if (report->revision() == 0) return Status(StatusCode::kInvalidArgument, "revision is zero");
  if (report->top_frames_size() > kMaxFrames || report->identity().own_frames_size() > kMaxFrames ||
      report->notes_size() > kMaxNotes || report->verdict().sources_size() > kMaxSources) {
    return Status(StatusCode::kInvalidArgument, "too many frames, notes or sources");
  }
  return report;
}

IngestAnswer Refused(IngestOutcome outcome, std::string error) {
  IngestAnswer answer;
  answer.outcome = outcome;
  answer.error = std::move(error);
  return answer;
}

IngestAnswer Unavailable(const Status& status) {
  Log().error("cannot store a report: {}", status.message());
  return Refused(IngestOutcome::kUnavailable, status.code() == StatusCode::kNoSpace
                                                  ? "the collector's disk is full"
                                                  : "the collector cannot write at the moment");
}

IngestAnswer Accepted(const proto::Report& report, proto::UploadReply::Result result) {
  IngestAnswer answer;
  answer.outcome = IngestOutcome::kAccepted;
  answer.reply.set_id(report.id());
  answer.reply.set_revision(report.revision());
  answer.reply.set_result(result);
  return answer;
}

// A later revision only adds.
Status KeepEarlier(const proto::Report& earlier, proto::Report* later) {
  // An SDK of 0.1 sealed the death of an ANR's process as that.
  const bool died = later->kind() == proto::RECOVERED;
  const proto::Kind kind = died ? earlier.kind() : later->kind();
  const std::string merged =
      WithEarlierFields(earlier.SerializeAsString(), later->SerializeAsString());
  if (!later->ParseFromString(merged)) {
    return Status(StatusCode::kCorrupt, "cannot parse merged revisions");
  }
  later->set_kind(kind);
  return Status::Ok();
}

}  // namespace

IngestAnswer Ingest::Accept(std::string_view body, int64_t received_at_ms) {
  Result<proto::Report> report = CheckedReport(body);
  if (!report.ok()) return Refused(IngestOutcome::kInvalid, report.status().message());
  StoredReport incoming;
  incoming.report = std::move(report.value());
  incoming.content_hash = ContentHash(body);
  incoming.trace_bytes = body.size();
  incoming.received_at_ms = received_at_ms;
  // The row that is read below does not change until the new one is committed.
  MutexLock lock(&LockOf(incoming.report.id()));
  return AcceptLocked(&incoming, body);
}

IngestAnswer Ingest::AcceptLocked(StoredReport* incoming, std::string_view body) {
  const proto::Report& report = incoming->report;
  Result<std::optional<StoredReport>> stored = store_->FindReceived(report.id());
  if (!stored.ok()) return Unavailable(stored.status());
  if (!stored->has_value()) return Replace(*incoming, body, stored.value());
  const StoredReport& row = stored->value();
  if (row.report.revision() > report.revision()) {
    return Accepted(report, proto::UploadReply::SUPERSEDED);
  }
  if (row.report.revision() < report.revision()) {
    const Status kept = KeepEarlier(row.report, &incoming->report);
    return kept.ok() ? Replace(*incoming, body, stored.value()) : Unavailable(kept);
  }
  if (row.content_hash != incoming->content_hash) {
    return Refused(IngestOutcome::kConflict, "revision " + std::to_string(report.revision()) +
                                                 " of report " + report.id() +
                                                 " is already stored with different content");
  }
  // A row whose blob was lost (removed by hand, or its commit outlived an I/O error) is made whole.
  if (blobs_->Holds({report.id(), report.revision()}, row.trace_bytes)) {
    return Accepted(report, proto::UploadReply::DUPLICATE);
  }
  incoming->received_at_ms = row.received_at_ms;
  return Replace(*incoming, body, std::nullopt);
}

IngestAnswer Ingest::Replace(const StoredReport& incoming, std::string_view body,
                             const std::optional<StoredReport>& stored) {
  const BlobKey key{incoming.report.id(), incoming.report.revision()};
  Status status = blobs_->Put(key, body);
  if (!status.ok()) return Unavailable(status);
  status = store_->Save(incoming);
  if (!status.ok()) {
    blobs_->Remove(key);
    return Unavailable(status);
  }
  if (stored.has_value()) blobs_->Remove({stored->report.id(), stored->report.revision()});
  on_stored_();
  return Accepted(incoming.report, proto::UploadReply::STORED);
}

Mutex& Ingest::LockOf(std::string_view id) {
  return id_locks_[std::hash<std::string_view>()(id) % id_locks_.size()];
}

}  // namespace jankbox::collector
