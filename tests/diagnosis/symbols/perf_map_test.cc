#include "diagnosis/symbols/perf_map.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace jankbox {
namespace {

class PerfMapTest : public ::testing::Test {
 protected:
  PerfMapTest() {
    folder_ = (std::filesystem::temp_directory_path() / "jankbox-map-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) abort();
    path_ = folder_ + "/perf-1.map";
  }
  ~PerfMapTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) { std::ofstream(path_) << text; }
  // The name of the code at an address that no module covers.
  std::string NameAt(uint64_t address) {
    FrameTable frames;
    frames[address].rel_pc = address;
    NameFramesFromPerfMap(path_, &frames);
    return frames[address].function;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(PerfMapTest, AddressesAreNamedFromStartToEnd) {
  Write("1000 20 first\n1020 10 second\n");
  EXPECT_EQ(NameAt(0xfff), "");
  EXPECT_EQ(NameAt(0x1000), "first");
  EXPECT_EQ(NameAt(0x101f), "first");
  EXPECT_EQ(NameAt(0x1020), "second");
  EXPECT_EQ(NameAt(0x1030), "");
}

TEST_F(PerfMapTest, TheLastLineCounts) {
  Write("1000 100 before\n1000 100 after it was moved\n");
  EXPECT_EQ(NameAt(0x1010), "after it was moved");
}

TEST_F(PerfMapTest, FramesOfModulesKeepTheirNames) {
  Write("1000 100 compiled\n");
  FrameTable frames;
  frames[0x1000].module = "libc.so.6";
  frames[0x1000].function = "read";
  frames[0x1008].rel_pc = 0x1008;
  NameFramesFromPerfMap(path_, &frames);
  EXPECT_EQ(frames[0x1000].function, "read");
  EXPECT_EQ(frames[0x1008].function, "compiled");
  EXPECT_EQ(frames[0x1008].function_start, 0x1000u);
}

TEST_F(PerfMapTest, LinesThatMakeNoSenseArePassedOver) {
  Write(
      "\n \nxyz 10 a\n1000\n1000 \n1000 10\n1000 10 \n1000 0 empty\n-1000 10 a\n0x1000 10 a\n"
      "1000  10 a\nffffffffffffffff ff wraps\n11112222333344445 10 long\n2000 10 good\n");
  EXPECT_EQ(NameAt(0x1000), "");
  EXPECT_EQ(NameAt(UINT64_MAX), "");
  EXPECT_EQ(NameAt(0x2000), "good");
}

TEST_F(PerfMapTest, AHugeLineIsPassedOver) {
  Write("1000 10 " + std::string(300'000, 'x') + "\n2000 10 good\n");
  EXPECT_EQ(NameAt(0x1000), "");
  EXPECT_EQ(NameAt(0x2000), "good");
}

TEST_F(PerfMapTest, ALineThatIsBeingWrittenIsPassedOver) {
  Write("1000 10 whole\n2000 10 ha");
  EXPECT_EQ(NameAt(0x1000), "whole");
  EXPECT_EQ(NameAt(0x2000), "");
}

TEST_F(PerfMapTest, OfAHugeFileTheEndIsRead) {
  Write("1000 10 old\n");
  ASSERT_EQ(truncate(path_.c_str(), 70 << 20), 0);  // zeros without an end of line
  std::ofstream(path_, std::ios::app) << "\n2000 10 new\n";
  EXPECT_EQ(NameAt(0x1000), "");
  EXPECT_EQ(NameAt(0x2000), "new");
}

TEST_F(PerfMapTest, LinksAndWhatIsNoFileAreNotRead) {
  Write("1000 10 named\n");
  const std::string real = path_;
  path_ = folder_ + "/link";
  ASSERT_EQ(symlink(real.c_str(), path_.c_str()), 0);
  EXPECT_EQ(NameAt(0x1000), "");
  path_ = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(NameAt(0x1000), "");
  path_ = folder_ + "/none";
  EXPECT_EQ(NameAt(0x1000), "");
}

TEST_F(PerfMapTest, FilesOfOtherUsersAreNotRead) {
  Write("1000 10 named\n");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(NameAt(0x1000), "");
}

TEST(CleanPerfMapName, KeepsFunctionFileAndLine) {
  EXPECT_EQ(CleanPerfMapName("LazyCompile:*draw /home/me/app/view.js:10:5"), "draw view.js:10");
  EXPECT_EQ(CleanPerfMapName("JS:~draw file:///home/me/view.js:10:5"), "draw view.js:10");
  EXPECT_EQ(CleanPerfMapName("Function:^ /home/me/view.js:3:1"), "(anonymous) view.js:3");
  EXPECT_EQ(CleanPerfMapName("JS:*processTimers node:internal/timers:499:25"),
            "processTimers timers:499");
  EXPECT_EQ(CleanPerfMapName("Builtin:ArrayMap"), "Builtin:ArrayMap");
  EXPECT_EQ(CleanPerfMapName("plain"), "plain");
}

TEST(CleanPerfMapName, NothingPrivateOrUnprintableStays) {
  EXPECT_EQ(CleanPerfMapName("RegExp:/secret [0-9]+/"), "RegExp");
  EXPECT_EQ(CleanPerfMapName("JS:*/home/me/x /home/me/y.js"), "x y.js");
  EXPECT_EQ(CleanPerfMapName("a\x1b[31mb\x7f"), "a?[31mb?");
  EXPECT_EQ(CleanPerfMapName(std::string(1000, 'a')).size(), 256u);
}

}  // namespace
}  // namespace jankbox
