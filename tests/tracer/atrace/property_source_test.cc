#include "tracer/atrace/property_source.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace jankbox {
namespace {

class PropertySourceTest : public ::testing::Test {
 protected:
  PropertySourceTest() {
    char folder[] = "/tmp/jankbox_properties_XXXXXX";
    path_ = std::string(mkdtemp(folder)) + "/properties";
  }
  ~PropertySourceTest() override {
    unlink(path_.c_str());
    rmdir(path_.substr(0, path_.rfind('/')).c_str());
  }

  void Write(const std::string& text) { std::ofstream(path_) << text; }
  bool Refreshed(PropertySource* source) {
    const Result<bool> changed = source->Refresh();
    EXPECT_TRUE(changed.ok()) << changed.status().message();
    return changed.ok() && changed.value();
  }

  std::string path_;
};

TEST(ParseProperties, TakesLinesOfKeyAndValue) {
  size_t refused = 9;
  const PropertyValues values = ParseProperties(
      "# comment\n\n  debug.atrace.app_number = 2 \r\nro.debuggable=1\na=b=c\nro.debuggable=0",
      &refused);
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(values.Get(kAppNumberProperty), "2");
  EXPECT_EQ(values.Get(kDebuggableProperty), "0");
  EXPECT_EQ(values.Get("a"), "b=c");
}

TEST(ParseProperties, CountsWhatIsNoProperty) {
  size_t refused = 0;
  const PropertyValues values = ParseProperties(
      "nonsense\n=1\n../../etc/passwd=1\na..b=1\nlong=" + std::string(92, 'x') + "\ngood=1\n",
      &refused);
  EXPECT_EQ(refused, 5u);
  EXPECT_EQ(values.Get("good"), "1");
  EXPECT_EQ(values.Get("long"), "");
}

TEST(PlainAbsolutePath, HasNoWayUp) {
  for (const char* good : {"/a", "/a/b.txt", "/", "/a/..b/c..", "/a//b"}) {
    EXPECT_TRUE(IsPlainAbsolutePath(good)) << good;
  }
  for (const char* bad : {"", "a", "a/b", "../a", "/..", "/../a", "/a/../b", "/a/.."}) {
    EXPECT_FALSE(IsPlainAbsolutePath(bad)) << bad;
  }
}

TEST_F(PropertySourceTest, SeesEveryChangeOfItsFile) {
  PropertySource source(path_);
  EXPECT_FALSE(Refreshed(&source)) << "no file, no properties";
  for (int i = 1; i <= 100; ++i) {  // same size, same inode, many within one tick of the kernel
    Write("debug.atrace.tags.enableflags=" + std::to_string(1000 + i) + "\n");
    EXPECT_TRUE(Refreshed(&source)) << i;
    EXPECT_EQ(source.values().Get(kEnableFlagsProperty), std::to_string(1000 + i));
    EXPECT_FALSE(Refreshed(&source));
  }
}

TEST_F(PropertySourceTest, AFileThatIsReplacedOrRemovedIsAChange) {
  Write("debug.atrace.app_number=1\n");
  PropertySource source(path_);
  EXPECT_TRUE(Refreshed(&source));
  std::ofstream(path_ + ".new") << "debug.atrace.app_number=2\n";
  ASSERT_EQ(rename((path_ + ".new").c_str(), path_.c_str()), 0);
  EXPECT_TRUE(Refreshed(&source));
  EXPECT_EQ(source.values().Get(kAppNumberProperty), "2");
  ASSERT_EQ(unlink(path_.c_str()), 0);
  EXPECT_TRUE(Refreshed(&source));
  EXPECT_EQ(source.values(), PropertyValues());
}

TEST_F(PropertySourceTest, AnotherCommentIsNoChange) {
  Write("# a\nx=1\n");
  PropertySource source(path_);
  EXPECT_TRUE(Refreshed(&source));
  Write("# b\nx=1\n");
  EXPECT_FALSE(Refreshed(&source));
}

TEST_F(PropertySourceTest, WhatIsNoPlainFileIsAnErrorAndChangesNothing) {
  Write("x=1\n");
  PropertySource source(path_);
  EXPECT_TRUE(Refreshed(&source));
  unlink(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(source.Refresh().ok()) << "and it did not wait for a writer";
  EXPECT_EQ(source.values().Get("x"), "1");
  unlink(path_.c_str());
  Write(std::string(65 << 10, '#'));
  EXPECT_FALSE(source.Refresh().ok()) << "larger than 64 KiB";
  EXPECT_EQ(source.values().Get("x"), "1");
}

TEST(PropertySource, WithoutAFileTheEnvironmentHasTheSameKeys) {
  setenv("debug.atrace.tags.enableflags", "0x8", 1);
  setenv("debug.atrace.app_0", "*", 1);
  setenv("ro.debuggable", "1", 1);
  setenv("JANKBOX_NOT_A_PROPERTY", "1", 1);
  PropertySource source("");
  unsetenv("debug.atrace.tags.enableflags");
  EXPECT_EQ(source.values().Get(kEnableFlagsProperty), "0x8");
  EXPECT_EQ(source.values().Get("debug.atrace.app_0"), "*");
  EXPECT_EQ(source.values().Get(kDebuggableProperty), "1");
  EXPECT_EQ(source.values().Get("JANKBOX_NOT_A_PROPERTY"), "");
  ASSERT_TRUE(source.Refresh().ok());
  EXPECT_EQ(source.values().Get(kEnableFlagsProperty), "0x8") << "as it was at the start";
  unsetenv("debug.atrace.app_0");
  unsetenv("ro.debuggable");
  unsetenv("JANKBOX_NOT_A_PROPERTY");
}

}  // namespace
}  // namespace jankbox
