#include "monitors/incident/oom_kills.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace jankbox {
namespace {

class OomKillsTest : public testing::Test {
 protected:
  std::optional<uint64_t> Read(const std::string& content) {
    const std::string path = testing::TempDir() + "oom_kills." + std::to_string(getpid());
    std::ofstream(path) << content;
    const std::optional<uint64_t> kills = ReadOomKills(path);
    remove(path.c_str());
    return kills;
  }
};

TEST_F(OomKillsTest, BothVersionsOfCgroupsHaveTheLine) {
  EXPECT_EQ(Read("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 1\n"), 2u);
  EXPECT_EQ(Read("oom_kill_disable 0\nunder_oom 0\noom_kill 17\n"), 17u);
}

TEST_F(OomKillsTest, OldKernelsHaveNone) {
  EXPECT_FALSE(Read("oom_kill_disable 0\nunder_oom 0\n"));
  EXPECT_FALSE(Read(""));
  EXPECT_FALSE(Read("oom_kill many\n"));
  EXPECT_FALSE(ReadOomKills("/nowhere/memory.events"));
}

TEST_F(OomKillsTest, FileOfTheCgroupIsOneThatExists) {
  EXPECT_EQ(OomFileOf("0::/no/such/group\n4:memory:/nor/that/one\n"), "");
  EXPECT_EQ(OomFileOf("4:memory"), "");
  EXPECT_EQ(OomFileOf(""), "");
  std::ifstream file("/proc/self/cgroup");
  const std::string own = OomFileOf(std::string{std::istreambuf_iterator<char>(file), {}});
  if (!own.empty()) {
    EXPECT_TRUE(std::ifstream(own).good()) << own;
  }
}

}  // namespace
}  // namespace jankbox
