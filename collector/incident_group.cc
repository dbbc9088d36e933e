#include "collector/incident_group.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "collector/count_sums.h"

namespace jankbox::collector {
namespace {

constexpr char kScan[] =
    "SELECT group_key, kind, duration_ns, received_at_ms, process, fingerprint, counted, id,"
    " naming FROM shown";

// Reports of one exact key that their devices' counters have, too.
struct CountedReports {
  uint64_t reports = 0;
  uint64_t total_ns = 0;
};

struct Gathered {
  IncidentGroup group;
  std::vector<uint64_t> durations_ns;             // of reports
  std::string worst_id;                           // empty: there is no report
  std::map<std::string, CountedReports> counted;  // by exact key
  uint64_t from_counters = 0;                     // incidents
  std::array<uint64_t, kDurationBuckets> buckets{};
};

// Reports without a key differ by kind.
using KeyAndKind = std::pair<std::string, int64_t>;
using Groups = std::map<KeyAndKind, Gathered>;

// The group that has the incidents of an exact key: that of its latest report, of those with names
// if there are any, since a report that just arrived gets its names soon.
struct Home {
  std::pair<bool, int64_t> named_and_received_ms;
  KeyAndKind group;
};
using Homes = std::map<std::string, Home>;

uint64_t Less(uint64_t value, uint64_t part) { return value - std::min(value, part); }

void NoteReceived(int64_t first_ms, int64_t last_ms, IncidentGroup* group) {
  const bool is_first = group->last_received_ms == 0;
  if (is_first || first_ms < group->first_received_ms) group->first_received_ms = first_ms;
  group->last_received_ms = std::max(group->last_received_ms, last_ms);
}

void Add(const Statement& row, Gathered* gathered) {
  IncidentGroup& group = gathered->group;
  const uint64_t duration_ns = static_cast<uint64_t>(row.Integer(2));
  ++group.reports;
  const bool is_incident = row.Integer(1) != proto::MANUAL;  // somebody asked for those
  if (is_incident && row.Integer(6) != 0) {
    CountedReports& counted = gathered->counted[std::string(row.Text(5))];
    ++counted.reports;
    AddSaturating(&counted.total_ns, duration_ns);
  } else if (is_incident) {
    ++group.incidents;
    AddSaturating(&group.total_ns, duration_ns);
  }
  const std::string_view id = row.Text(7);
  const std::string_view worst_id = gathered->worst_id;
  if (std::pair(duration_ns, id) >= std::pair(group.worst_ns, worst_id)) {
    group.worst_ns = duration_ns;
    gathered->worst_id = std::string(id);
  }
  NoteReceived(row.Integer(3), row.Integer(3), &group);
  if (group.processes.size() < IncidentGroup::kMaxProcesses) group.processes.emplace(row.Text(4));
  gathered->durations_ns.push_back(duration_ns);
}

Status Scan(Database* database, Groups* groups, Homes* homes) {
  Statement statement(database, kScan);
  Result<bool> row = statement.Step();
  for (; row.ok() && row.value(); row = statement.Step()) {
    const std::string key(statement.Text(0));
    const KeyAndKind at = {key, key.empty() ? statement.Integer(1) : 0};
    Gathered& gathered = (*groups)[at];
    gathered.group.key = key;
    Add(statement, &gathered);
    Home& home = (*homes)[std::string(statement.Text(5))];
    const std::pair<bool, int64_t> order = {statement.Integer(8) != 0, statement.Integer(3)};
    if (order >= home.named_and_received_ms) home = {order, at};
  }
  return row.status();
}

// A group of incidents that no report shows: what their counter says.
void DescribeByCounter(const KeyCount& count, IncidentGroup* group) {
  proto::Report* report = &group->worst;
  report->set_kind(count.latest.kind());
  report->set_fingerprint(count.latest.key());
  report->set_duration_ns(count.max_ns);
  report->mutable_identity()->set_app(count.latest.app());
  report->mutable_identity()->set_cause(count.latest.cause());
  report->mutable_identity()->set_message(count.latest.message());
  report->mutable_identity()->set_blamed_function(count.latest.blamed_function());
  report->set_what(count.latest.message());
  if (!count.latest.app().empty()) group->processes.insert(count.latest.app());
}

// Adds the counted incidents of an exact key to the group that has them. `elsewhere`: reports of
// them that are in other groups.
void AddCount(const std::string& key, const KeyCount& count, const CountedReports& elsewhere,
              Gathered* home) {
  IncidentGroup& group = home->group;
  const CountedReports own = home->counted[key];
  home->counted.erase(key);
  // A report may arrive before the counters of its device.
  const uint64_t incidents = std::max(Less(count.incidents, elsewhere.reports), own.reports);
  AddSaturating(&group.incidents, incidents);
  AddSaturating(&group.total_ns, std::max(Less(count.total_ns, elsewhere.total_ns), own.total_ns));
  AddSaturating(&home->from_counters, incidents);
  for (size_t i = 0; i < home->buckets.size(); ++i)
    AddSaturating(&home->buckets[i], count.buckets[i]);
  group.worst_ns = std::max(group.worst_ns, count.max_ns);
  NoteReceived(count.first_received_ms, count.last_received_ms, &group);
}

void AddCounts(const CountSums& sums, const Homes& homes, Groups* groups) {
  std::map<std::string, CountedReports> everywhere;
  for (const auto& [at, gathered] : *groups) {
    for (const auto& [key, counted] : gathered.counted) {
      everywhere[key].reports += counted.reports;
      AddSaturating(&everywhere[key].total_ns, counted.total_ns);
    }
  }
  for (const auto& [key, count] : sums.keys) {
    const auto home = homes.find(key);
    const bool unseen = home == homes.end();
    const KeyAndKind at = unseen ? KeyAndKind(key, 0) : home->second.group;
    Gathered& gathered = (*groups)[at];
    CountedReports elsewhere = everywhere[key];
    elsewhere.reports = Less(elsewhere.reports, gathered.counted[key].reports);
    elsewhere.total_ns = Less(elsewhere.total_ns, gathered.counted[key].total_ns);
    gathered.group.key = at.first;
    if (gathered.group.reports == 0) DescribeByCounter(count, &gathered.group);
    AddCount(key, count, elsewhere, &gathered);
  }
}

void Finish(Gathered* gathered) {
  IncidentGroup& group = gathered->group;
  for (const auto& [key, counted] : gathered->counted) {  // whose counters are not here
    AddSaturating(&group.incidents, counted.reports);
    AddSaturating(&group.total_ns, counted.total_ns);
  }
  std::vector<uint64_t>& durations_ns = gathered->durations_ns;
  if (gathered->from_counters > durations_ns.size()) {
    KeyCount all;
    all.buckets = gathered->buckets;
    all.max_ns = group.worst_ns;
    for (const uint64_t incidents : all.buckets) AddSaturating(&all.incidents, incidents);
    group.p50_ns = all.p50_ns();
  } else if (!durations_ns.empty()) {
    const auto middle =
        durations_ns.begin() + static_cast<ptrdiff_t>((durations_ns.size() - 1) / 2);
    std::nth_element(durations_ns.begin(), middle, durations_ns.end());
    group.p50_ns = *middle;
  }
}

Status ReadWorst(Database* database, Gathered* gathered) {
  if (gathered->worst_id.empty()) return Status::Ok();
  Statement statement(database,
                      "SELECT m.report FROM shown s JOIN messages m"
                      " ON m.id = s.id AND m.naming = s.naming WHERE s.id=?1");
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

}  // namespace

Result<std::vector<IncidentGroup>> QueryGroups(Database* database) {
  Groups groups;
  Homes homes;
  Status status = Scan(database, &groups, &homes);
  if (!status.ok()) return status;
  Result<CountSums> sums = SumCounts(database);
  if (!sums.ok()) return sums.status();
  AddCounts(sums.value(), homes, &groups);
  std::vector<Gathered> all;
  for (auto& [key, gathered] : groups) {
    Finish(&gathered);
    all.push_back(std::move(gathered));
  }
  std::stable_sort(all.begin(), all.end(), [](const Gathered& a, const Gathered& b) {
    return a.group.total_ns > b.group.total_ns;
  });
  if (all.size() > kMaxGroups) all.resize(kMaxGroups);
  std::vector<IncidentGroup> result;
  for (Gathered& gathered : all) {
    status = ReadWorst(database, &gathered);
    if (!status.ok()) return status;
    result.push_back(std::move(gathered.group));
  }
  return result;
}

}  // namespace jankbox::collector
