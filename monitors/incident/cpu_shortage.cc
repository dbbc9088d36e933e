#include "monitors/incident/cpu_shortage.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/file.h"

namespace jankbox {
namespace {

constexpr uint32_t kWhole = 1000;
constexpr uint32_t kOverloadWaiting = 500;  // of the time
constexpr uint32_t kOverloadIdle = 100;     // of the CPUs' time
constexpr size_t kMaxProcBytes = 256 << 10;

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

bool ReadText(const ScopedFd& fd, char* text, size_t size) {
  const ssize_t got = fd.valid() ? pread(fd.get(), text, size - 1, 0) : -1;
  text[std::max<ssize_t>(got, 0)] = '\0';
  return got > 0;
}

uint32_t Permille(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<uint32_t>(std::min<uint64_t>(part * kWhole / whole, kWhole));
}

// Of the cgroup in `folder`, in thousandths of a CPU; 0: none.
uint32_t QuotaOf(const std::string& folder, bool unified) {
  long long quota = -1, period = 0;
  if (unified) {  // "max 100000", "20000 100000"
    sscanf(ReadProcFile(folder + "/cpu.max", 64).c_str(), "%lld %lld", &quota, &period);
  } else {
    quota = strtoll(ReadProcFile(folder + "/cpu.cfs_quota_us", 64).c_str(), nullptr, 10);
    period = strtoll(ReadProcFile(folder + "/cpu.cfs_period_us", 64).c_str(), nullptr, 10);
  }
  return quota > 0 && period > 0 ? static_cast<uint32_t>(quota * kWhole / period) : 0;
}

// A line of /proc/self/mountinfo.
struct Mount {
  std::string_view root;
  std::string_view point;
  std::string_view type;
  std::string_view options;  // of the file system
};

Mount ParseMount(std::string_view line) {
  Mount mount;
  for (int i = 0; i < 3; ++i) Take(&line, ' ');
  mount.root = Take(&line, ' ');
  mount.point = Take(&line, ' ');
  const size_t dash = line.find(" - ");
  if (dash == line.npos) return {};
  line.remove_prefix(dash + 3);
  mount.type = Take(&line, ' ');
  Take(&line, ' ');
  mount.options = line;
  return mount;
}

}  // namespace

bool CpuShortage::overloaded() const {
  return pressure_known && waiting_permille >= kOverloadWaiting && idle_permille <= kOverloadIdle;
}

std::string QuotaPhrase(const CpuShortage& shortage) {
  char size[48];
  if (shortage.quota_permille <= kWhole) {
    snprintf(size, sizeof(size), "%" PRIu32 " %% of one CPU", shortage.quota_permille / 10);
  } else {
    snprintf(size, sizeof(size), "%" PRIu32 ".%" PRIu32 " CPUs", shortage.quota_permille / kWhole,
             shortage.quota_permille % kWhole / 100);
  }
  return "throttled by the CPU quota of cgroup " + shortage.cgroup + " (" + size + ")";
}

void CpuAccount::FindMount(bool unified) {
  unified_ = unified;
  mount_.clear();
  const std::string mounts = ReadProcFile(root_ + "/proc/self/mountinfo", kMaxProcBytes);
  for (std::string_view left = mounts; !left.empty();) {
    const Mount mount = ParseMount(Take(&left, '\n'));
    const bool wanted =
        unified ? mount.type == "cgroup2" : mount.type == "cgroup" && Lists(mount.options, "cpu");
    if (!wanted) continue;
    mount_ = mount.point;
    mount_root_ = mount.root == "/" ? "" : mount.root;
    return;
  }
}

void CpuAccount::FindQuota() {
  const std::string groups = ReadProcFile(root_ + "/proc/self/cgroup", kMaxProcBytes);
  std::string_view path;
  bool unified = true;
  for (std::string_view left = groups; !left.empty();) {  // "4:cpu,cpuacct:/x", "0::/x"
    std::string_view line = Take(&left, '\n');
    const bool whole = Take(&line, ':') == "0";
    const bool cpu = Lists(Take(&line, ':'), "cpu");
    if (cpu || (whole && path.empty())) {
      path = line;
      unified = !cpu;
    }
  }
  if (!mounts_known_ || unified != unified_) FindMount(unified);
  mounts_known_ = true;
  if (mount_.empty()) return Use({});
  if (path.starts_with(mount_root_)) path.remove_prefix(mount_root_.size());
  Quota tightest;
  for (std::string cgroup(path); cgroup.starts_with('/');) {
    const std::string folder = root_ + mount_ + cgroup;
    const uint32_t permille = QuotaOf(folder, unified_);
    const bool tighter = tightest.permille == 0 || permille < tightest.permille;
    if (permille != 0 && tighter) tightest = {folder, cgroup, permille};
    if (cgroup == "/") break;
    cgroup.resize(std::max<size_t>(cgroup.rfind('/'), 1));
  }
  Use(std::move(tightest));
}

void CpuAccount::Use(Quota quota) {
  const bool same = quota.folder == quota_.folder;
  quota_ = std::move(quota);
  if (same) return;
  points_.clear();  // the counters are another cgroup's
  first_ = 0;
  stat_.Reset(quota_.permille == 0
                  ? -1
                  : open((quota_.folder + "/cpu.stat").c_str(), O_RDONLY | O_CLOEXEC));
}

void CpuAccount::Read(uint64_t now_ns, bool active) {
  if (!active && quota_.permille == 0) return;
  if (!points_.empty() && now_ns < Newest().time_ns + kIntervalNs) return;
  if (!opened_) {
    opened_ = true;
    pressure_.Reset(open((root_ + "/proc/pressure/cpu").c_str(), O_RDONLY | O_CLOEXEC));
    uptime_.Reset(open((root_ + "/proc/uptime").c_str(), O_RDONLY | O_CLOEXEC));
    cpus_ = static_cast<uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  }
  Point point{.time_ns = now_ns};
  char text[1024];
  if (ReadText(stat_, text, sizeof(text))) {  // µs in v2, ns in v1
    point.throttled_ns =
        NumberAfter(text, "throttled_usec ") * 1000 + NumberAfter(text, "throttled_time ");
  }
  if (ReadText(pressure_, text, sizeof(text))) {  // "some avg10=0.00 … total=123", in µs
    point.waiting_ns = NumberAfter(text, "total=") * 1000;
  } else {
    pressure_.Reset();  // some kernels have the file and no numbers
  }
  unsigned long long seconds = 0, hundredths = 0;
  if (ReadText(uptime_, text, sizeof(text)) &&
      sscanf(text, "%*u.%*u %llu.%llu", &seconds, &hundredths) == 2) {
    point.idle_ns = seconds * kNsPerSecond + hundredths * 10 * kNsPerMs;
  }
  if (points_.size() < kMaxPoints) {
    points_.push_back(point);
  } else {
    points_[first_] = point;
    first_ = (first_ + 1) % kMaxPoints;
  }
}

CpuShortage CpuAccount::Between(uint64_t from_ns, uint64_t to_ns) const {
  CpuShortage shortage;
  const Point* begin = nullptr;
  const Point* end = nullptr;
  for (size_t i = 0; i < points_.size(); ++i) {
    const Point& point = points_[(first_ + i) % points_.size()];
    const bool before = point.time_ns <= from_ns;
    if (before ? point.time_ns + kNearNs >= from_ns : begin == nullptr) begin = &point;
    const bool open = end == nullptr || end->time_ns < to_ns;
    if (open && point.time_ns <= to_ns + kNearNs) end = &point;
  }
  if (begin == nullptr || end == nullptr || end->time_ns <= begin->time_ns) return shortage;
  const uint64_t length_ns = end->time_ns - begin->time_ns;
  shortage.known = true;
  shortage.throttled_ns = end->throttled_ns - std::min(begin->throttled_ns, end->throttled_ns);
  shortage.quota_permille = quota_.permille;
  shortage.cgroup = quota_.cgroup;
  shortage.pressure_known = pressure_.valid();
  shortage.waiting_permille =
      Permille(end->waiting_ns - std::min(begin->waiting_ns, end->waiting_ns), length_ns);
  shortage.idle_permille =
      Permille(end->idle_ns - std::min(begin->idle_ns, end->idle_ns), length_ns * cpus_);
  return shortage;
}

}  // namespace jankbox
