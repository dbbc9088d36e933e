#include "collector/count_store.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "collector/usage_rows.h"
#include "report/counts_format.h"

namespace jankbox::collector {

namespace {

constexpr char kFindCounter[] =
    "SELECT seq, incidents, total_ns FROM counts WHERE epoch=?1 AND version=?2 AND key=?3";
constexpr char kSaveCounter[] =
    "INSERT INTO counts(epoch, version, key, seq, incidents, total_ns, first_received_at_ms,"
    " received_at_ms, counter) VALUES(?1,?2,?3,?4,?5,?6,?7,?7,?8)"
    " ON CONFLICT(epoch, version, key) DO UPDATE SET seq=?4, incidents=?5, total_ns=?6,"
    " received_at_ms=?7, counter=?8";
constexpr char kSaveEpoch[] =
    "INSERT INTO epochs(epoch, seq, begun, unsure_stops, lost_incidents, first_received_at_ms,"
    " last_received_at_ms, usage_seq) VALUES(?1,?2,?3,?4,?5,?6,?6,?7)"
    " ON CONFLICT(epoch) DO UPDATE SET seq=max(seq,?2), unsure_stops=max(unsure_stops,?4),"
    " lost_incidents=max(lost_incidents,?5), last_received_at_ms=?6, usage_seq=max(usage_seq,?7)";

struct StoredCounter {
  uint64_t seq = 0;
  uint64_t incidents = 0;
  uint64_t total_ns = 0;
};

Result<std::optional<StoredCounter>> FindCounter(Database* database, const std::string& epoch,
                                                 const proto::Counter& counter) {
  Statement statement(database, kFindCounter);
  statement.BindText(1, epoch);
  statement.BindText(2, counter.version());
  statement.BindText(3, counter.key());
  Result<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  if (!row.value()) return std::optional<StoredCounter>();
  return std::optional<StoredCounter>({static_cast<uint64_t>(statement.Integer(0)),
                                       static_cast<uint64_t>(statement.Integer(1)),
                                       static_cast<uint64_t>(statement.Integer(2))});
}

Result<uint64_t> NumberOf(Database* database, const char* sql, const std::string& epoch) {
  Statement statement(database, sql);
  statement.BindText(1, epoch);
  Result<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  return row.value() ? static_cast<uint64_t>(statement.Integer(0)) : 0;
}

// Within an epoch numbers only grow, so those of a later seq are not lower. Else two devices count
// in it: one is a copy of the other.
bool FitsTo(const StoredCounter& stored, uint64_t seq, const proto::Counter& sent) {
  const bool not_lower = sent.incidents() >= stored.incidents && sent.total_ns() >= stored.total_ns;
  const bool not_higher =
      sent.incidents() <= stored.incidents && sent.total_ns() <= stored.total_ns;
  return (seq < stored.seq || not_lower) && (seq > stored.seq || not_higher);
}

Status SaveCounter(Database* database, const proto::Counts& counts, const proto::Counter& counter,
                   int64_t received_at_ms) {
  const std::string message = counter.SerializeAsString();
  Statement statement(database, kSaveCounter);
  statement.BindText(1, counts.epoch());
  statement.BindText(2, counter.version());
  statement.BindText(3, counter.key());
  statement.BindInteger(4, ToSqlInteger(counts.seq()));
  statement.BindInteger(5, ToSqlInteger(counter.incidents()));
  statement.BindInteger(6, ToSqlInteger(counter.total_ns()));
  statement.BindInteger(7, received_at_ms);
  statement.BindBlob(8, message);
  return statement.Step().status();
}

struct KnownSeqs {
  uint64_t counters = 0;
  uint64_t usage = 0;
};

// `known`: as of now.
Status SaveEpoch(Database* database, const proto::Counts& counts, const KnownSeqs& known,
                 int64_t received_at_ms) {
  Statement statement(database, kSaveEpoch);
  statement.BindText(1, counts.epoch());
  statement.BindInteger(2, ToSqlInteger(known.counters));
  statement.BindText(3, counts.begun());
  statement.BindInteger(4, ToSqlInteger(counts.unsure_stops()));
  statement.BindInteger(5, ToSqlInteger(counts.lost_incidents()));
  statement.BindInteger(6, received_at_ms);
  statement.BindInteger(7, ToSqlInteger(known.usage));
  return statement.Step().status();
}

// Those of `counts` that are to be stored; sets `forked` if they cannot come from the device of
// what is stored.
Result<std::vector<const proto::Counter*>> NewerCounters(Database* database,
                                                         const proto::Counts& counts,
                                                         bool* forked) {
  std::vector<const proto::Counter*> newer;
  size_t added = 0;
  for (const proto::Counter& counter : counts.counters()) {
    Result<std::optional<StoredCounter>> found = FindCounter(database, counts.epoch(), counter);
    if (!found.ok()) return found.status();
    const std::optional<StoredCounter>& stored = found.value();
    if (!stored) ++added;
    if (stored && !FitsTo(*stored, counts.seq(), counter)) *forked = true;
    if (!stored || stored->seq < counts.seq()) newer.push_back(&counter);
  }
  Result<uint64_t> known =
      NumberOf(database, "SELECT count(*) FROM counts WHERE epoch=?1", counts.epoch());
  if (!known.ok()) return known.status();
  if (known.value() + added > kMaxCounters + 1) {
    return Status(StatusCode::kInvalidArgument, "the epoch has too many counters");
  }
  return newer;
}

Result<KnownSeqs> FindSeqs(Database* database, const std::string& epoch) {
  Statement statement(database, "SELECT seq, usage_seq FROM epochs WHERE epoch=?1");
  statement.BindText(1, epoch);
  const Result<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  if (!row.value()) return KnownSeqs();
  return KnownSeqs{static_cast<uint64_t>(statement.Integer(0)),
                   static_cast<uint64_t>(statement.Integer(1))};
}

Status AcceptIn(Database* database, const proto::Counts& counts, int64_t received_at_ms,
                proto::CountsReply* reply) {
  const Result<KnownSeqs> known = FindSeqs(database, counts.epoch());
  if (!known.ok()) return known.status();
  reply->set_epoch(counts.epoch());
  reply->set_seq(known->counters);
  reply->set_usage_seq(known->usage);
  bool forked = false;
  Result<std::vector<const proto::Counter*>> newer = NewerCounters(database, counts, &forked);
  if (!newer.ok()) return newer.status();
  Result<std::vector<const proto::Usage*>> usage = NewerUsage(database, counts, &forked);
  if (!usage.ok()) return usage.status();
  if (forked) {
    reply->set_result(proto::CountsReply::FORKED);
    return Status::Ok();
  }
  for (const proto::Counter* counter : newer.value()) {
    const Status status = SaveCounter(database, counts, *counter, received_at_ms);
    if (!status.ok()) return status;
  }
  const Status saved = SaveUsage(database, counts, usage.value(), received_at_ms);
  if (!saved.ok()) return saved;
  const bool misses_some =
      known->counters < counts.base_seq() || known->usage < counts.usage_base_seq();
  // What is missing stays so until the device sends it, even if it does not get this answer.
  KnownSeqs now = known.value();
  if (!misses_some) {
    now.counters = std::max(now.counters, counts.seq());
    now.usage = std::max(now.usage, counts.usage_seq());
  }
  reply->set_result(misses_some ? proto::CountsReply::RESEND : proto::CountsReply::STORED);
  reply->set_seq(now.counters);
  reply->set_usage_seq(now.usage);
  return SaveEpoch(database, counts, now, received_at_ms);
}

}  // namespace

Result<proto::CountsReply> CountStore::Accept(const proto::Counts& counts, int64_t received_at_ms) {
  proto::CountsReply reply;
  Status invalid = Status::Ok();
  const Status status = store_->Write([&](Database* database) {
    reply.Clear();
    Status accepted = AcceptIn(database, counts, received_at_ms, &reply);
    // No reason to give up the writes of others in the same transaction; nothing was written yet.
    if (accepted.code() == StatusCode::kInvalidArgument) {
      invalid = accepted;
      return Status::Ok();
    }
    return accepted;
  });
  if (!status.ok()) return status;
  if (!invalid.ok()) return invalid;
  return reply;
}

Result<UsageRates> CountStore::Usage() {
  Result<UsageRates> rates = UsageRates();
  const Status status = store_->Read([&](Database* database) {
    rates = QueryUsage(database);
    return rates.status();
  });
  if (!status.ok()) return status;
  return rates;
}

Result<CountSums> CountStore::Sums() {
  Result<CountSums> sums = CountSums();
  const Status status = store_->Read([&](Database* database) {
    sums = SumCounts(database);
    return sums.status();
  });
  if (!status.ok()) return status;
  return sums;
}

}  // namespace jankbox::collector
