#include "collector/incident_group.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace jankbox::collector {
namespace {

// Ascending by duration, so that the last row of a group is its worst; the index covers the whole
// query.
constexpr char kScan[] =
    "SELECT group_key, kind, duration_ns, received_at_ms, process, id FROM reports"
    " ORDER BY group_key, duration_ns";

struct Gathered {
  IncidentGroup group;
  std::vector<uint64_t> durations_ns;  // ascending
  std::string worst_id;
};

// Reports without a key differ by kind.
using KeyAndKind = std::pair<std::string, int64_t>;

void Add(const Statement& row, Gathered* gathered) {
  IncidentGroup& group = gathered->group;
  const uint64_t duration_ns = static_cast<uint64_t>(row.Integer(2));
  const int64_t received_ms = row.Integer(3);
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  group.total_ns = group.total_ns > kMax - duration_ns ? kMax : group.total_ns + duration_ns;
  group.worst_ns = duration_ns;
  group.first_received_ms =
      group.count == 0 ? received_ms : std::min(group.first_received_ms, received_ms);
  group.last_received_ms =
      group.count == 0 ? received_ms : std::max(group.last_received_ms, received_ms);
  ++group.count;
  if (group.processes.size() < IncidentGroup::kMaxProcesses) group.processes.emplace(row.Text(4));
  gathered->durations_ns.push_back(duration_ns);
  gathered->worst_id = std::string(row.Text(5));
}

Result<std::vector<Gathered>> Scan(Database* database) {
  std::map<KeyAndKind, Gathered> by_key;
  Statement statement(database, kScan);
  Result<bool> row = statement.Step();
  for (; row.ok() && row.value(); row = statement.Step()) {
    const std::string key(statement.Text(0));
    Gathered& gathered = by_key[{key, key.empty() ? statement.Integer(1) : 0}];
    gathered.group.key = key;
    Add(statement, &gathered);
  }
  if (!row.ok()) return row.status();
  std::vector<Gathered> all;
  for (auto& [key, gathered] : by_key) all.push_back(std::move(gathered));
  std::stable_sort(all.begin(), all.end(), [](const Gathered& a, const Gathered& b) {
    return a.group.total_ns > b.group.total_ns;
  });
  if (all.size() > kMaxGroups) all.resize(kMaxGroups);
  return all;
}

Status ReadWorst(Database* database, Gathered* gathered) {
  Statement statement(database, "SELECT report FROM reports WHERE id=?1");
  statement.BindText(1, gathered->worst_id);
  Result<bool> row = statement.Step();
  if (!row.ok()) return row.status();
  const std::string_view message = row.value() ? statement.Blob(0) : std::string_view();
  const int size = static_cast<int>(message.size());
  if (!gathered->group.worst.ParseFromArray(message.data(), size)) {
    return Status(StatusCode::kCorrupt, "cannot parse stored report " + gathered->worst_id);
  }
  return Status::Ok();
}

Result<std::vector<IncidentGroup>> Gather(Database* database) {
  Result<std::vector<Gathered>> all = Scan(database);
  if (!all.ok()) return all.status();
  std::vector<IncidentGroup> groups;
  for (Gathered& gathered : all.value()) {
    gathered.group.p50_ns = gathered.durations_ns[(gathered.durations_ns.size() - 1) / 2];
    Status status = ReadWorst(database, &gathered);
    if (!status.ok()) return status;
    groups.push_back(std::move(gathered.group));
  }
  return groups;
}

}  // namespace

Result<std::vector<IncidentGroup>> QueryGroups(Database* database) {
  Status begun = database->Execute("BEGIN");
  if (!begun.ok()) return begun;
  Result<std::vector<IncidentGroup>> groups = Gather(database);
  Status ended = database->Execute("COMMIT");
  if (groups.ok() && !ended.ok()) return ended;
  return groups;
}

}  // namespace jankbox::collector
