// Quotas and counters out of files as the kernel writes them, in a folder of the test's own.
#include "monitors/incident/cpu_shortage.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"

namespace jankbox {
namespace {

class CpuAccountTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/jankbox-cpu-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    root_ = folder;
    Write("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    Write("/proc/self/cgroup", "0::/work.slice/app.scope\n");
    Pressure(0);
    Idle(0);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::trunc) << text;
  }
  // `throttled_ms` on all CPUs together, in `periods` periods.
  void Group(const std::string& cgroup, const std::string& max, uint64_t throttled_ms = 0,
             uint64_t periods = 0) const {
    Write("/sys/fs/cgroup" + cgroup + "/cpu.max", max + "\n");
    Write("/sys/fs/cgroup" + cgroup + "/cpu.stat",
          "usage_usec 1\nnr_periods 900\nnr_throttled " + std::to_string(periods) +
              "\nthrottled_usec " + std::to_string(throttled_ms * 1000) + "\nnr_bursts 0\n");
  }
  // The throttled wall time of a second, in ms.
  uint64_t ThrottledOf(const std::string& max, uint64_t throttled_ms, uint64_t periods) const {
    Group("/work.slice/app.scope", max, 5000, 70);
    CpuAccount account(root_.c_str());
    account.FindQuota();
    account.Read(0, true);
    Group("/work.slice/app.scope", max, 5000 + throttled_ms, 70 + periods);
    account.Read(1000 * kNsPerMs, true);
    return account.Between(0, 1000 * kNsPerMs).throttled_ns / kNsPerMs;
  }
  void Pressure(uint64_t ms) const {
    Write("/proc/pressure/cpu",
          "some avg10=1.00 avg60=1.00 avg300=1.00 total=" + std::to_string(ms * 1000) +
              "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9999\n");
  }
  // Of all CPUs together.
  void Idle(uint64_t ms) const {
    char text[64];
    snprintf(text, sizeof(text), "123.45 %llu.%02llu\n", static_cast<unsigned long long>(ms / 1000),
             static_cast<unsigned long long>(ms % 1000 / 10));
    Write("/proc/uptime", text);
  }

  std::string root_;
};

TEST_F(CpuAccountTest, ThrottledTimeIsThatOfTheStretch) {
  Group("/work.slice/app.scope", "20000 100000", 1000);
  CpuAccount account(root_.c_str());
  account.FindQuota();
  for (uint64_t at = 0; at <= 1000; at += 50) {
    Group("/work.slice/app.scope", "20000 100000", 1000 + at * 8 / 10, at / 100);
    account.FindQuota();
    account.Read(at * kNsPerMs, true);
  }
  const CpuShortage shortage = account.Between(100 * kNsPerMs, 800 * kNsPerMs);
  EXPECT_TRUE(shortage.known);
  EXPECT_EQ(shortage.throttled_ns, 560 * kNsPerMs);
  EXPECT_EQ(shortage.quota_permille, 200u);
  EXPECT_STREQ(shortage.cgroup, "app.scope");
  EXPECT_EQ(QuotaPhrase(shortage),
            "throttled by the CPU quota of cgroup app.scope (20 % of one CPU)");
}

// The kernel adds up what each CPU did not run.
TEST_F(CpuAccountTest, ThrottledTimeIsWallTime) {
  EXPECT_EQ(ThrottledOf("20000 100000", 800, 10), 800u);
  EXPECT_EQ(ThrottledOf("20000 100000", 3200, 10), 1000u) << "four CPUs were throttled";
  EXPECT_EQ(ThrottledOf("20000 100000", 1600, 2), 200u) << "in two periods";
  EXPECT_EQ(ThrottledOf("20000 50000", 1600, 2), 100u) << "which are 50 ms each";
  EXPECT_EQ(ThrottledOf("400000 100000", 1600, 10), 400u) << "of four CPUs at least";
  EXPECT_EQ(ThrottledOf("20000 100000", 800, 0), 0u);
}

TEST_F(CpuAccountTest, QuotaThatWasLiftedExplainsWhatItThrottled) {
  Group("/work.slice/app.scope", "20000 100000");
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true);
  Group("/work.slice/app.scope", "max 100000", 800, 10);
  account.FindQuota();
  account.Read(1000 * kNsPerMs, true);
  const CpuShortage shortage = account.Between(0, 1000 * kNsPerMs);
  EXPECT_EQ(shortage.throttled_ns, 800 * kNsPerMs);
  EXPECT_EQ(shortage.quota_permille, 200u);
  EXPECT_STREQ(shortage.cgroup, "app.scope");
  for (int i = 0; i < 10; ++i) account.FindQuota();
  account.Read(1040 * kNsPerMs, true);
  account.Read(1080 * kNsPerMs, true);
  EXPECT_EQ(account.Between(1040 * kNsPerMs, 1080 * kNsPerMs).quota_permille, 0u);
}

TEST_F(CpuAccountTest, QuotaThatIsSetWhileItStallsIsFoundBeforeTheNextLook) {
  Group("/work.slice/app.scope", "max 100000", 100, 7);  // of an earlier quota
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true);
  Group("/work.slice/app.scope", "10000 100000", 190, 8);
  account.Read(100 * kNsPerMs, true);
  EXPECT_EQ(account.Between(0, 100 * kNsPerMs).quota_permille, 100u);
  Group("/work.slice/app.scope", "max 100000", 730, 14);
  account.Read(700 * kNsPerMs, true);
  const CpuShortage shortage = account.Between(0, 700 * kNsPerMs);
  EXPECT_EQ(shortage.throttled_ns, 630 * kNsPerMs);
  EXPECT_EQ(shortage.quota_permille, 100u);
}

TEST_F(CpuAccountTest, CountersAreReadLessOftenOverBudget) {
  Group("/work.slice/app.scope", "20000 100000");
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true, /*sparing=*/true);
  account.Read(50 * kNsPerMs, true, /*sparing=*/true);
  EXPECT_FALSE(account.Between(0, 50 * kNsPerMs).known);
  account.Read(100 * kNsPerMs, true, /*sparing=*/true);
  EXPECT_TRUE(account.Between(0, 100 * kNsPerMs).known);
}

TEST_F(CpuAccountTest, TightestQuotaAroundTheProcessCounts) {
  Group("/work.slice/app.scope", "max 100000", 10);
  Group("/work.slice", "250000 100000", 20);
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true);
  account.Read(50 * kNsPerMs, true);
  const CpuShortage shortage = account.Between(0, 50 * kNsPerMs);
  EXPECT_STREQ(shortage.cgroup, "work.slice");
  EXPECT_EQ(QuotaPhrase(shortage), "throttled by the CPU quota of cgroup work.slice (2.5 CPUs)");
}

TEST_F(CpuAccountTest, FirstVersionOfCgroupsHasItsOwnFiles) {
  Write("/proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/docker/c1/inner\n0::/\n");
  const std::string folder = "/sys/fs/cgroup/cpu/docker/c1";
  Write(folder + "/cpu.cfs_quota_us", "50000\n");
  Write(folder + "/cpu.cfs_period_us", "100000\n");
  Write(folder + "/cpu.stat", "nr_periods 15\nnr_throttled 9\nthrottled_time 708455744\n");
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true);
  Write(folder + "/cpu.stat", "nr_periods 19\nnr_throttled 13\nthrottled_time 908455744\n");
  account.Read(400 * kNsPerMs, true);
  const CpuShortage shortage = account.Between(0, 400 * kNsPerMs);
  EXPECT_EQ(shortage.throttled_ns, 200 * kNsPerMs);
  EXPECT_EQ(shortage.quota_permille, 500u);
  EXPECT_STREQ(shortage.cgroup, "c1");
}

TEST_F(CpuAccountTest, TimeThatAHostTookIsReadOftenOnceItTookSome) {
  const auto stolen = [this](uint64_t ticks) {
    Write("/proc/stat", "cpu  2334180 6638 355985 6008167 10334 0 7193 " + std::to_string(ticks) +
                            " 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5\n");
  };
  CpuAccount account(root_.c_str());
  stolen(0);
  account.Read(0, true);
  stolen(7);
  account.Read(500 * kNsPerMs, true);
  EXPECT_EQ(account.Between(0, 500 * kNsPerMs).stolen_ns, 0u);
  account.Read(1000 * kNsPerMs, true);
  EXPECT_EQ(account.Between(0, 1000 * kNsPerMs).stolen_ns, 70 * kNsPerMs);
  stolen(19);
  account.Read(1050 * kNsPerMs, true);
  EXPECT_EQ(account.Between(1000 * kNsPerMs, 1050 * kNsPerMs).stolen_ns, 120 * kNsPerMs);
}

// A container without a name space of its own sees its cgroup as the root, under its full path.
TEST_F(CpuAccountTest, ContainersRootIsFoundWhatItsPathIs) {
  Write("/proc/self/cgroup", "0::/docker/c1\n");
  Group("/", "30000 100000");
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true);
  account.Read(50 * kNsPerMs, true);
  EXPECT_EQ(account.Between(0, 50 * kNsPerMs).quota_permille, 300u);
}

TEST_F(CpuAccountTest, SecondVersionBesideTheFirstIsFound) {
  std::filesystem::remove(root_ + "/sys/fs/cgroup/cgroup.controllers");
  Write("/sys/fs/cgroup/unified/work.slice/cpu.max", "40000 100000\n");
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true);
  account.Read(50 * kNsPerMs, true);
  EXPECT_EQ(account.Between(0, 50 * kNsPerMs).quota_permille, 400u);
}

TEST_F(CpuAccountTest, WithoutAQuotaNothingIsThrottledAndNothingIsReadWhileIdle) {
  Group("/work.slice/app.scope", "max 100000", 10);
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, false);
  account.Read(50 * kNsPerMs, false);
  EXPECT_FALSE(account.Between(0, 50 * kNsPerMs).known);
  account.Read(100 * kNsPerMs, true);
  account.Read(150 * kNsPerMs, true);
  const CpuShortage shortage = account.Between(100 * kNsPerMs, 150 * kNsPerMs);
  EXPECT_TRUE(shortage.known);
  EXPECT_EQ(shortage.quota_permille, 0u);
  EXPECT_EQ(shortage.throttled_ns, 0u);
}

TEST_F(CpuAccountTest, CountersOfAnotherCgroupAreNotCompared) {
  Group("/work.slice/app.scope", "20000 100000", 5000);
  Group("/other", "20000 100000", 7000);
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true);
  Write("/proc/self/cgroup", "0::/other\n");
  account.FindQuota();
  account.Read(50 * kNsPerMs, true);
  EXPECT_FALSE(account.Between(0, 50 * kNsPerMs).known);
}

TEST_F(CpuAccountTest, MachineIsOverloadedIfTasksWaitAndNoCpuIsIdle) {
  const auto cpus = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  const struct {
    uint64_t waiting_ms;
    uint64_t idle_ms;
    bool overloaded;
  } cases[] = {{950, 20 * cpus, true}, {950, 400 * cpus, false}, {300, 20 * cpus, false}};
  for (const auto& [waiting_ms, idle_ms, overloaded] : cases) {
    Pressure(0);
    Idle(0);
    CpuAccount account(root_.c_str());
    account.Read(0, true);
    Pressure(waiting_ms);
    Idle(idle_ms);
    account.Read(1000 * kNsPerMs, true);
    const CpuShortage shortage = account.Between(0, 1000 * kNsPerMs);
    EXPECT_TRUE(shortage.pressure_known);
    EXPECT_EQ(shortage.waiting_permille, waiting_ms);
    EXPECT_EQ(shortage.idle_permille, idle_ms / cpus);
    EXPECT_EQ(shortage.overloaded(), overloaded);
  }
}

TEST_F(CpuAccountTest, KernelWithoutPressureIsSaidToHaveNone) {
  std::filesystem::remove_all(root_ + "/proc/pressure");
  CpuAccount account(root_.c_str());
  account.Read(0, true);
  account.Read(1000 * kNsPerMs, true);
  const CpuShortage shortage = account.Between(0, 1000 * kNsPerMs);
  EXPECT_TRUE(shortage.known);
  EXPECT_FALSE(shortage.pressure_known);
  EXPECT_FALSE(shortage.overloaded());
}

TEST_F(CpuAccountTest, MachineWhoseIdleTimeIsUnknownIsNotOverloaded) {
  std::filesystem::remove(root_ + "/proc/uptime");
  CpuAccount account(root_.c_str());
  account.Read(0, true);
  Pressure(950);
  account.Read(1000 * kNsPerMs, true);
  const CpuShortage shortage = account.Between(0, 1000 * kNsPerMs);
  EXPECT_TRUE(shortage.pressure_known);
  EXPECT_EQ(shortage.waiting_permille, 950u);
  EXPECT_FALSE(shortage.idle_known);
  EXPECT_FALSE(shortage.overloaded());
}

TEST_F(CpuAccountTest, CountersOfALongTimeAreKeptAndFarOnesDoNotCount) {
  Group("/work.slice/app.scope", "20000 100000");
  CpuAccount account(root_.c_str());
  account.FindQuota();
  for (uint64_t at = 0; at < 1000; ++at) account.Read(at * 50 * kNsPerMs, true);
  EXPECT_TRUE(account.Between(0, 40'000 * kNsPerMs).known);
  EXPECT_TRUE(account.Between(49'000 * kNsPerMs, 49'900 * kNsPerMs).known);
  EXPECT_FALSE(account.Between(60'000 * kNsPerMs, 61'000 * kNsPerMs).known);
}

// A report leaves the device.
TEST_F(CpuAccountTest, NameOfACgroupHasNeitherIdsNorTheFoldersAroundIt) {
  const std::string container = "3f4e5d6c7b8a" + std::string(52, '9');
  const std::pair<std::string, std::string> names[] = {
      {"/user.slice/user-1000.slice", "user-*.slice"},
      {"/user.slice/user-1000.slice/user@1000.service", "user@*.service"},
      {"/uid_10123", "uid_*"},
      {"/user.slice/user-1000.slice/session-3.scope", "session-3.scope"},
      {"/system.slice/docker-" + container + ".scope", "docker-*.scope"},
      {"/docker/" + container, "*"},
      {"/docker/3F4E5D6C7B8A", "*"},
      {"/a/3f4e5d6c7b8", "3f4e5d6c7b8"},
      {"/a/" + std::string(120, 'x') + "/end", "end"},
      {"/a/" + std::string(120, 'x'), std::string(95, 'x')}};
  for (const auto& [cgroup, name] : names) {
    Group(cgroup, "20000 100000");
    Write("/proc/self/cgroup", "0::" + cgroup + "\n");
    CpuAccount account(root_.c_str());
    account.FindQuota();
    account.Read(0, true);
    account.Read(50 * kNsPerMs, true);
    const CpuShortage shortage = account.Between(0, 50 * kNsPerMs);
    EXPECT_EQ(shortage.quota_permille, 200u);
    EXPECT_EQ(std::string(shortage.cgroup), name) << cgroup;
  }
}

// As daemons do: it closes every descriptor, and the next files that it opens have their numbers.
TEST_F(CpuAccountTest, FilesOfAnAppThatClosesAllDescriptorsStayOpen) {
  Group("/work.slice/app.scope", "20000 100000", 1000);
  Group("/other", "20000 100000", 1000);
  int numbers[8];  // the lowest ones that are free
  for (int& fd : numbers) fd = dup(STDERR_FILENO);
  for (const int fd : numbers) ASSERT_EQ(close(fd), 0);
  CpuAccount account(root_.c_str());
  account.FindQuota();
  account.Read(0, true);
  for (const int fd : numbers) EXPECT_NE(close(fd), 0) << fd << " was kept";
  for (const int fd : numbers) ASSERT_EQ(open("/dev/null", O_WRONLY | O_CLOEXEC), fd);
  std::filesystem::remove_all(root_ + "/proc/pressure");
  Write("/proc/self/cgroup", "0::/other\n");
  account.FindQuota();
  account.Read(50 * kNsPerMs, true);
  for (const int fd : numbers) EXPECT_EQ(close(fd), 0) << fd << " was closed";
}

TEST_F(CpuAccountTest, FileThatCannotBeReadIsNotTriedAgain) {
  std::filesystem::remove_all(root_ + "/proc/pressure");
  CpuAccount account(root_.c_str());
  account.Read(0, true);
  Pressure(0);
  account.Read(50 * kNsPerMs, true);
  Pressure(50);
  account.Read(100 * kNsPerMs, true);
  EXPECT_FALSE(account.Between(50 * kNsPerMs, 100 * kNsPerMs).pressure_known);
}

// The files of this machine, whatever it has.
TEST(CpuAccount, ReadsThisMachine) {
  CpuAccount account;
  account.FindQuota();
  const uint64_t from = MonotonicNs();
  account.Read(from, true);
  while (MonotonicNs() < from + 60 * kNsPerMs) {
  }
  account.Read(MonotonicNs(), true);
  const CpuShortage shortage = account.Between(from, MonotonicNs());
  EXPECT_TRUE(shortage.known);
  EXPECT_EQ(shortage.pressure_known, std::filesystem::exists("/proc/pressure/cpu"));
  EXPECT_LE(shortage.idle_permille, 1000u);
}

}  // namespace
}  // namespace jankbox
