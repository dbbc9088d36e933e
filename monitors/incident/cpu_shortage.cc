#include "monitors/incident/cpu_shortage.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/clock.h"
#include "base/scoped_fd.h"

namespace jankbox {
namespace {

constexpr uint32_t kWhole = 1000;
constexpr uint32_t kOverloadWaiting = 500;  // of the time
constexpr uint32_t kOverloadIdle = 100;     // of the CPUs' time

// The part of `text` before `end`, which is taken out of it with `end`.
std::string_view Take(std::string_view* text, char end) {
  const size_t at = std::min(text->find(end), text->size());
  const std::string_view part = text->substr(0, at);
  text->remove_prefix(std::min(at + 1, text->size()));
  return part;
}

// Whether `word` is one of the words of `list`.
bool Lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (Take(&list, ',') == word) return true;
  }
  return false;
}

// The number after `key`; 0 if it is not there.
uint64_t NumberAfter(const char* text, const char* key) {
  const char* at = strstr(text, key);
  return at == nullptr ? 0 : strtoull(at + strlen(key), nullptr, 10);
}

// How far a counter went; 0 if it was not read at the end.
uint64_t Since(uint64_t begin, uint64_t end) { return end - std::min(begin, end); }

uint32_t Permille(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<uint32_t>(std::min<uint64_t>(part * kWhole / whole, kWhole));
}

constexpr int kLongId = 12;  // hexadecimal digits: a container's id has 12 to 64

// The last component of a cgroup's path, cut, without ids of containers and users:
// "docker-*.scope", "user-*.slice".
void CopyName(const char* path, char* name, size_t size) {
  const char* slash = strrchr(path, '/');
  if (slash != nullptr && slash[1] != '\0') path = slash + 1;
  const bool user = strncmp(path, "user", 4) == 0 || strncmp(path, "uid", 3) == 0;
  for (; *path != '\0' && size > 1; --size, ++name) {
    int digits = 0, hex_digits = 0;
    sscanf(path, "%*[0-9a-fA-F]%n", &hex_digits);
    if (user) sscanf(path, "%*[0-9]%n", &digits);
    if (hex_digits >= kLongId) digits = hex_digits;
    *name = digits > 0 ? '*' : *path;
    path += std::max(digits, 1);
  }
  *name = '\0';
}

// Where systems mount the hierarchies: the first version's; the second one's alone, and beside it.
constexpr char kFirstVersion[] = "/sys/fs/cgroup/cpu";
constexpr char kUnified[] = "/sys/fs/cgroup";
constexpr char kHybrid[] = "/sys/fs/cgroup/unified";

}  // namespace

bool CpuShortage::overloaded() const {
  return pressure_known && idle_known && waiting_permille >= kOverloadWaiting &&
         idle_permille <= kOverloadIdle;
}

std::string QuotaPhrase(const CpuShortage& shortage) {
  const uint32_t permille = shortage.quota_permille;
  char size[32], text[192];
  if (permille <= kWhole) {
    snprintf(size, sizeof(size), "%" PRIu32 " %% of one CPU", permille / 10);
  } else {
    snprintf(size, sizeof(size), "%.1f CPUs", permille / static_cast<double>(kWhole));
  }
  snprintf(text, sizeof(text), "throttled by the CPU quota of cgroup %s (%s)", shortage.cgroup,
           size);
  return text;
}

// Keeps no descriptor: the app may close every one that it finds and get the same number for a file
// of its own.
bool CpuAccount::ReadFile(const char* mount, const char* folder, const char* name, bool* works,
                          Text* text) const {
  if (!*works) return false;
  char path[2 * kMaxPath];
  snprintf(path, sizeof(path), "%s%s%s/%s", root_, mount, folder, name);
  const ScopedFd fd(open(path, O_RDONLY | O_CLOEXEC));
  const bool too_many = !fd.valid() && (errno == EMFILE || errno == ENFILE);
  const ssize_t got = fd.valid() ? read(fd.get(), *text, sizeof(*text) - 1) : -1;
  *works = got > 0 || too_many;
  if (got > 0) (*text)[got] = '\0';
  return got > 0;
}

bool CpuAccount::ReadGroup(const char* cgroup, const char* name, Text* text) const {
  bool works = true;
  return ReadFile(mount_, cgroup, name, &works, text);
}

CpuAccount::Quota CpuAccount::QuotaOf(const char* cgroup) const {
  Text text;
  long long quota = -1, period = 0;
  if (!ReadGroup(cgroup, unified_ ? "cpu.max" : "cpu.cfs_quota_us", &text)) return {};
  sscanf(text, "%lld %lld", &quota, &period);  // "max 100000", "20000 100000", "20000"
  if (!unified_ && ReadGroup(cgroup, "cpu.cfs_period_us", &text)) period = atoll(text);
  if (quota <= 0 || period <= 0) return {};
  return {static_cast<uint32_t>(quota * kWhole / period), static_cast<uint64_t>(period) * 1000};
}

void CpuAccount::FindQuota() {
  Text groups;
  bool works = true;
  if (!ReadFile("", "/proc", "self/cgroup", &works, &groups)) return;
  std::string_view path;
  unified_ = true;
  for (std::string_view left = groups; !left.empty();) {  // "4:cpu,cpuacct:/x", "0::/x"
    std::string_view line = Take(&left, '\n');
    const bool whole = Take(&line, ':') == "0";
    const bool cpu = Lists(Take(&line, ':'), "cpu");
    if (cpu || (whole && path.empty())) {
      path = line;
      unified_ = !cpu;
    }
  }
  char own[kMaxPath], cgroup[kMaxPath], tightest[kMaxPath] = "";
  own[path.copy(own, kMaxPath - 1)] = '\0';
  strcpy(cgroup, own);
  mount_ = kFirstVersion;
  if (unified_) {
    mount_ = kUnified;
    if (!ReadGroup("", "cgroup.controllers", &groups)) mount_ = kHybrid;
  }
  Quota least;
  while (true) {
    const Quota quota = QuotaOf(cgroup);
    if (quota.permille != 0 && (least.permille == 0 || quota.permille < least.permille)) {
      least = quota;
      strcpy(tightest, cgroup);
    }
    char* last = strrchr(cgroup, '/');
    if (last == nullptr || cgroup[1] == '\0') break;
    last[last == cgroup ? 1 : 0] = '\0';
  }
  Use(own, least.permille != 0 ? tightest : own, least);
}

void CpuAccount::Use(const char* own, const char* cgroup, const Quota& quota) {
  const bool looser = quota.permille == 0 || quota.permille > quota_.permille;
  const bool lifted = quota_.permille != 0 && looser && strcmp(own, own_) == 0;
  if (lifted && ++finds_since_lifted_ < kFindsAfterLift) return;
  strcpy(own_, own);
  finds_since_lifted_ = 0;
  quota_ = quota;
  if (strcmp(cgroup, cgroup_) == 0) return;
  count_ = 0;  // the counters are another cgroup's
  stat_works_ = true;
  strcpy(cgroup_, cgroup);
}

uint64_t CpuAccount::ReadStolen(uint64_t now_ns) {
  if (stolen_ns_ == 0 && now_ns < next_stolen_ns_) return 0;
  next_stolen_ns_ = now_ns + kNsPerSecond;
  Text text;
  unsigned long long ticks = 0;  // user, nice, system, idle, iowait, irq, softirq, steal
  if (ReadFile("", "/proc", "stat", &proc_stat_works_, &text) &&
      sscanf(text, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) == 1) {
    stolen_ns_ = ticks * kNsPerSecond / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  }
  return stolen_ns_;
}

void CpuAccount::Read(uint64_t now_ns, bool active, bool sparing) {
  if (!active && quota_.permille == 0) return;
  const uint64_t interval_ns = sparing ? kSparingIntervalNs : kIntervalNs;
  if (count_ != 0 && now_ns < points_[count_ - 1].time_ns + interval_ns) return;
  if (cpus_ == 0) cpus_ = static_cast<uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  Point point{.time_ns = now_ns};
  Text text;
  if (cgroup_[0] != '\0' && ReadFile(mount_, cgroup_, "cpu.stat", &stat_works_, &text)) {
    point.throttled_known = true;  // µs in v2, ns in v1
    point.throttled_ns =
        NumberAfter(text, "throttled_usec ") * 1000 + NumberAfter(text, "throttled_time ");
    point.throttled_periods = NumberAfter(text, "nr_throttled ");
    const bool new_quota = quota_.permille == 0 && count_ != 0 &&
                           points_[count_ - 1].throttled_known &&
                           point.throttled_periods > points_[count_ - 1].throttled_periods;
    if (new_quota) {
      FindQuota();
      if (count_ == 0) return;  // another cgroup's
    }
  }
  point.stolen_ns = ReadStolen(now_ns);
  // "some avg10=0.00 … total=123", in µs; some kernels have the file and no numbers.
  if (ReadFile("", "/proc", "pressure/cpu", &pressure_works_, &text)) {
    point.pressure_known = true;
    point.waiting_ns = NumberAfter(text, "total=") * 1000;
  }
  unsigned long long seconds = 0, hundredths = 0;
  if (ReadFile("", "/proc", "uptime", &uptime_works_, &text) &&
      sscanf(text, "%*u.%*u %llu.%llu", &seconds, &hundredths) == 2) {
    point.idle_known = true;
    point.idle_ns = seconds * kNsPerSecond + hundredths * 10 * kNsPerMs;
  }
  if (count_ == kMaxPoints) {
    count_ /= 2;
    for (size_t i = 0; i < count_; ++i) points_[i] = points_[2 * i];
  }
  points_[count_++] = point;
}

CpuShortage CpuAccount::Between(uint64_t from_ns, uint64_t to_ns) const {
  CpuShortage shortage;
  const Point* begin = nullptr;
  const Point* end = nullptr;
  for (size_t i = 0; i < count_; ++i) {
    const Point& point = points_[i];
    const bool before = point.time_ns <= from_ns;
    if (before ? point.time_ns + kNearNs >= from_ns : begin == nullptr) begin = &point;
    const bool open = end == nullptr || end->time_ns < to_ns;
    if (open && point.time_ns <= to_ns + kNearNs) end = &point;
  }
  if (begin == nullptr || end == nullptr || end->time_ns <= begin->time_ns) return shortage;
  const uint64_t length_ns = end->time_ns - begin->time_ns;
  shortage.known = true;
  if (begin->throttled_known) {
    // The counter adds up the throttled time of each CPU. A quota of n CPUs is used up by n of them
    // or more, and they are throttled until the period ends.
    const uint64_t cpus_ns = Since(begin->throttled_ns, end->throttled_ns);
    const uint64_t periods = Since(begin->throttled_periods, end->throttled_periods);
    shortage.throttled_ns = std::min(cpus_ns * kWhole / std::max(quota_.permille, kWhole),
                                     std::min(periods * quota_.period_ns, length_ns));
  }
  shortage.quota_permille = quota_.permille;
  CopyName(cgroup_, shortage.cgroup, sizeof(shortage.cgroup));
  shortage.stolen_ns = Since(begin->stolen_ns, end->stolen_ns);
  shortage.pressure_known = begin->pressure_known && end->pressure_known;
  shortage.waiting_permille = Permille(Since(begin->waiting_ns, end->waiting_ns), length_ns);
  shortage.idle_known = begin->idle_known && end->idle_known;
  shortage.idle_permille = Permille(Since(begin->idle_ns, end->idle_ns), length_ns * cpus_);
  return shortage;
}

}  // namespace jankbox
