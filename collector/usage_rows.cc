#include "collector/usage_rows.h"

#include <array>
#include <optional>

#include "report/counts_format.h"

namespace jankbox::collector {

const char kUsageTable[] = R"sql(
ALTER TABLE epochs ADD COLUMN usage_seq INTEGER NOT NULL DEFAULT 0;
CREATE TABLE usage(
  epoch TEXT NOT NULL,
  day INTEGER NOT NULL,
  app TEXT NOT NULL,
  version TEXT NOT NULL,
  seq INTEGER NOT NULL,
  foreground_ms INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  frames INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  installation TEXT NOT NULL,
  received_at_ms INTEGER NOT NULL,
  PRIMARY KEY(epoch, day, app, version)) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_day ON usage(day, app, version);
)sql";

namespace {

constexpr char kFindUsage[] =
    "SELECT seq, foreground_ms, sessions, frames, messages FROM usage"
    " WHERE epoch=?1 AND day=?2 AND app=?3 AND version=?4";
constexpr char kSaveUsage[] =
    "INSERT INTO usage(epoch, day, app, version, seq, foreground_ms, sessions, frames, messages,"
    " installation, received_at_ms) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)"
    " ON CONFLICT(epoch, day, app, version) DO UPDATE SET seq=?5, foreground_ms=?6, sessions=?7,"
    " frames=?8, messages=?9, installation=?10, received_at_ms=?11";

using Numbers = std::array<uint64_t, 4>;

Numbers NumbersOf(const proto::Usage& usage) {
  return {usage.foreground_ms(), usage.sessions(), usage.frames(), usage.messages()};
}

struct StoredUsage {
  uint64_t seq = 0;
  Numbers numbers{};
};

void BindRow(const proto::Counts& counts, const proto::Usage& usage, Statement* statement) {
  statement->BindText(1, counts.epoch());
  statement->BindInteger(2, usage.day());
  statement->BindText(3, usage.app());
  statement->BindText(4, usage.version());
}

Result<std::optional<StoredUsage>> FindUsage(Database* database, const proto::Counts& counts,
                                             const proto::Usage& usage) {
  Statement statement(database, kFindUsage);
  BindRow(counts, usage, &statement);
  const Result<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  if (!row.value()) return std::optional<StoredUsage>();
  StoredUsage stored;
  stored.seq = static_cast<uint64_t>(statement.Integer(0));
  for (size_t i = 0; i < stored.numbers.size(); ++i) {
    stored.numbers[i] = static_cast<uint64_t>(statement.Integer(static_cast<int>(i) + 1));
  }
  return std::optional<StoredUsage>(stored);
}

// Within an epoch numbers only grow, as those of counters.
bool FitsTo(const StoredUsage& stored, uint64_t seq, const Numbers& sent) {
  for (size_t i = 0; i < sent.size(); ++i) {
    if (seq >= stored.seq && sent[i] < stored.numbers[i]) return false;
    if (seq <= stored.seq && sent[i] > stored.numbers[i]) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<const proto::Usage*>> NewerUsage(Database* database, const proto::Counts& counts,
                                                    bool* forked) {
  std::vector<const proto::Usage*> newer;
  size_t added = 0;
  for (const proto::Usage& usage : counts.usage()) {
    const Result<std::optional<StoredUsage>> found = FindUsage(database, counts, usage);
    if (!found.ok()) return found.status();
    const std::optional<StoredUsage>& stored = found.value();
    if (!stored) ++added;
    if (stored && !FitsTo(*stored, counts.seq(), NumbersOf(usage))) *forked = true;
    if (!stored || stored->seq < counts.seq()) newer.push_back(&usage);
  }
  if (added == 0) return newer;
  Statement known(database, "SELECT count(*) FROM usage WHERE epoch=?1");
  known.BindText(1, counts.epoch());
  const Result<bool> row = known.Step();
  if (!row.ok()) return row.status();
  if (static_cast<uint64_t>(known.Integer(0)) + added > kMaxUsage + 1) {
    return Status(StatusCode::kInvalidArgument, "the epoch has usage of too many days");
  }
  return newer;
}

Status SaveUsage(Database* database, const proto::Counts& counts,
                 const std::vector<const proto::Usage*>& rows, int64_t received_at_ms) {
  for (const proto::Usage* usage : rows) {
    Statement statement(database, kSaveUsage);
    BindRow(counts, *usage, &statement);
    statement.BindInteger(5, ToSqlInteger(counts.seq()));
    int column = 6;
    for (const uint64_t number : NumbersOf(*usage)) {
      statement.BindInteger(column++, ToSqlInteger(number));
    }
    statement.BindText(10, counts.installation());
    statement.BindInteger(11, received_at_ms);
    const Status status = statement.Step().status();
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

}  // namespace jankbox::collector
