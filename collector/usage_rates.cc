#include "collector/usage_rates.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/logger.h"
#include "collector/count_sums.h"
#include "report/counts_format.h"

namespace jankbox::collector {
namespace {

using Version = std::pair<std::string, std::string>;  // of an app
using Versions = std::map<Version, VersionUsage>;
// The versions that each epoch has usage of.
using EpochVersions = std::map<std::string, std::set<Version>>;

// Columns 0 to 5: app, version and the four numbers.
void AddNumbers(const Statement& row, UsageSum* sum) {
  sum->app = std::string(row.Text(0));
  sum->version = std::string(row.Text(1));
  uint64_t* const numbers[] = {&sum->foreground_ms, &sum->sessions, &sum->frames, &sum->messages};
  for (int column = 2; uint64_t * number : numbers) {
    AddSaturating(number, static_cast<uint64_t>(row.Integer(column++)));
  }
}

Status SumVersions(Database* database, Versions* versions, EpochVersions* epochs) {
  Statement rows(database,
                 "SELECT app, version, foreground_ms, sessions, frames, messages, day, epoch"
                 " FROM usage");
  Result<bool> row = rows.Step();
  for (; row.ok() && row.value(); row = rows.Step()) {
    Version version(rows.Text(0), rows.Text(1));
    VersionUsage& sum = (*versions)[version];
    AddNumbers(rows, &sum);
    const auto day = static_cast<uint32_t>(rows.Integer(6));
    if (day != 0 && (sum.first_day == 0 || day < sum.first_day)) sum.first_day = day;
    sum.last_day = std::max(sum.last_day, day);
    (*epochs)[std::string(rows.Text(7))].insert(std::move(version));
  }
  return row.status();
}

Status CountInstallations(Database* database, Versions* versions) {
  Statement rows(database,
                 "SELECT app, version, count(DISTINCT installation) FROM usage"
                 " GROUP BY app, version");
  Result<bool> row = rows.Step();
  for (; row.ok() && row.value(); row = rows.Step()) {
    (*versions)[Version(rows.Text(0), rows.Text(1))].installations =
        static_cast<uint64_t>(rows.Integer(2));
  }
  return row.status();
}

// Counters of incidents that no key of their own was left for name no app: theirs is known if the
// epoch has only one.
Version VersionOf(const proto::Counter& counter, const std::set<Version>& used) {
  if (!counter.app().empty() || counter.key() != kOtherKey) {
    return {counter.app(), counter.version()};
  }
  const bool one_app = used.begin()->first == used.rbegin()->first;
  if (!one_app) return {};
  if (counter.version().empty() && used.size() == 1) return *used.begin();
  return {used.begin()->first, counter.version()};
}

void AddIncidents(const proto::Counter& counter, const std::set<Version>* used, UsageRates* rates,
                  Versions* versions) {
  const Version version = used == nullptr ? Version() : VersionOf(counter, *used);
  if (used == nullptr || !used->contains(version)) {
    return AddSaturating(&rates->without_usage, counter.incidents());
  }
  VersionUsage& sum = (*versions)[version];
  AddSaturating(&sum.incidents, counter.incidents());
  AddSaturating(&sum.kinds[counter.kind()], counter.incidents());
}

Status CountIncidents(Database* database, const EpochVersions& epochs, UsageRates* rates,
                      Versions* versions) {
  Statement rows(database, "SELECT epoch, counter FROM counts");
  Result<bool> row = rows.Step();
  for (; row.ok() && row.value(); row = rows.Step()) {
    proto::Counter counter;
    const std::string_view message = rows.Blob(1);
    if (!counter.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      Log().warn("cannot parse a stored counter");
      continue;
    }
    const auto used = epochs.find(std::string(rows.Text(0)));
    AddIncidents(counter, used == epochs.end() ? nullptr : &used->second, rates, versions);
  }
  return row.status();
}

Status SumDays(Database* database, UsageRates* rates) {
  Statement rows(database,
                 "SELECT app, version, foreground_ms, sessions, frames, messages, day, installation"
                 " FROM usage ORDER BY day DESC, app DESC, version DESC");
  std::vector<DayUsage>& days = rates->days;
  std::set<std::string> installations;  // of the last one of `days`
  Result<bool> row = rows.Step();
  for (; row.ok() && row.value(); row = rows.Step()) {
    const auto day = static_cast<uint32_t>(rows.Integer(6));
    const bool same = !days.empty() && days.back().day == day && days.back().app == rows.Text(0) &&
                      days.back().version == rows.Text(1);
    if (!same && days.size() == UsageRates::kMaxDays) break;
    if (!same) {
      days.emplace_back().day = day;
      installations.clear();
    }
    AddNumbers(rows, &days.back());
    installations.emplace(rows.Text(7));
    days.back().installations = installations.size();
  }
  return row.status();
}

}  // namespace

Result<UsageRates> QueryUsage(Database* database) {
  UsageRates rates;
  Versions versions;
  EpochVersions epochs;
  Status status = SumVersions(database, &versions, &epochs);
  if (status.ok()) status = CountInstallations(database, &versions);
  if (status.ok()) status = CountIncidents(database, epochs, &rates, &versions);
  if (status.ok()) status = SumDays(database, &rates);
  if (!status.ok()) return status;
  for (auto& [version, usage] : versions) rates.versions.push_back(std::move(usage));
  std::stable_sort(rates.versions.begin(), rates.versions.end(), [](const auto& a, const auto& b) {
    return std::tie(a.foreground_ms, a.messages) > std::tie(b.foreground_ms, b.messages);
  });
  return rates;
}

}  // namespace jankbox::collector
