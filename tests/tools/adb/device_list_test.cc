#include "tools/adb/device_list.h"

#include <gtest/gtest.h>

#include "tools/adb/device_app.h"
#include "tools/adb/record_command.h"

namespace jankbox::tools {
namespace {

TEST(DeviceList, LinesOfAdb29) {
  const std::vector<AdbDevice> devices = ParseDevices(
      "* daemon not running; starting now at tcp:5037\n* daemon started successfully\n"
      "List of devices attached\n"
      "emulator-5554          device product:sdk model:Pixel_6 device:emu transport_id:1\n"
      "192.168.1.7:5555       offline transport_id:2\n"
      "R58M                   no permissions (user in plugdev group); see [http://x] usb:1-1\n"
      "\n");
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].serial, "emulator-5554");
  EXPECT_EQ(devices[0].state, "device");
  EXPECT_EQ(devices[0].model, "Pixel_6");
  EXPECT_EQ(devices[1].serial, "192.168.1.7:5555");
  EXPECT_EQ(devices[1].state, "offline");
  EXPECT_EQ(devices[2].state, "no permissions");
}

TEST(DeviceList, ShortLinesOfOldAdb) {
  const std::vector<AdbDevice> devices = ParseDevices("List of devices attached \r\nX\tdevice\r\n");
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].serial, "X");
  EXPECT_TRUE(ParseDevices("").empty());
  EXPECT_TRUE(ParseDevices("nonsense of some kind\n").empty());
}

TEST(ProcessNames, NothingThatAShellCouldTake) {
  for (const char* good : {"com.example.app", "a", "com.example.app:web", "C0m.ex_ample"}) {
    EXPECT_TRUE(IsProcessName(good)) << good;
  }
  for (const char* bad : {"", ".x", "a b", "a;b", "a'b", "a/b", "a:", ":a", "a:b:c", "$x", "a\n"}) {
    EXPECT_FALSE(IsProcessName(bad)) << bad;
  }
}

// As cksum(1) prints.
TEST(PosixChecksum, IsThatOfCksum) {
  EXPECT_EQ(PosixChecksum(""), 4294967295u);
  EXPECT_EQ(PosixChecksum("123456789"), 930766865u);
}

TEST(Durations, UnitsAndBounds) {
  EXPECT_EQ(ParseDurationMs("10s"), 10'000u);
  EXPECT_EQ(ParseDurationMs("10"), 10'000u);
  EXPECT_EQ(ParseDurationMs("250ms"), 250u);
  EXPECT_EQ(ParseDurationMs("10m"), 600'000u);
  for (const char* bad : {"", "s", "10h", "99ms", "11m", "601s", "1.5s", "-1s", "99999999999s"}) {
    EXPECT_EQ(ParseDurationMs(bad), 0u) << bad;
  }
}

}  // namespace
}  // namespace jankbox::tools
