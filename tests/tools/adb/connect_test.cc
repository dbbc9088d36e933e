// Failures that happen before the app is examined: adb itself, its server, which device, its state.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "tests/tools/adb/phone_test.h"
#include "tools/adb/adb_client.h"

namespace jankbox::tools {
namespace {

using ::testing::HasSubstr;

class ConnectTest : public PhoneTest {
 protected:
  // Both commands fail with that sentence, and nothing appears.
  void ExpectBothToSay(const std::string& sentence, Environment added = {},
                       const std::vector<std::string>& more = {}) {
    const Finished record = Record(more, added);
    EXPECT_EQ(record.exit_status(), 1);
    EXPECT_THAT(record.err, HasSubstr(sentence));
    EXPECT_EQ(record.out, "");
    std::vector<std::string> arguments = {"pull", "-a", kApp, "--dir", out_ / "reports"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished pull = Jankbox(arguments, added);
    EXPECT_EQ(pull.exit_status(), 1);
    EXPECT_THAT(pull.err, HasSubstr(sentence));
    EXPECT_NE(access(Out().c_str(), F_OK), 0);
    EXPECT_NE(access((out_ / "reports").c_str(), F_OK), 0);
  }

  std::string Script(const std::string& text) {
    WriteFile(out_ / "adb", "#!/bin/sh\n" + text);
    chmod((out_ / "adb").c_str(), 0755);
    return out_ / "adb";
  }
};

TEST_F(ConnectTest, NoAdbProgram) {
  ExpectBothToSay("adb: no such program: install adb (Debian: apt install adb)",
                  {{"PATH", out_.path()}});
  ExpectBothToSay("/nowhere/adb: no such program", {}, {"--adb", "/nowhere/adb"});
}

TEST_F(ConnectTest, SomethingElseThatIsCalledAdb) {
  ExpectBothToSay("is not adb", {}, {"--adb", "/usr/bin/toybox"});
}

// Debian has none so old: this is what one says of itself and of exec-out.
TEST_F(ConnectTest, AdbBeforeExecOut) {
  const std::string old = Script(
      "[ \"$1\" = version ] && { echo 'Android Debug Bridge version 1.0.31'; exit 0; }\nexit 1\n");
  ExpectBothToSay("is version 1.0.31, which has no exec-out: use 1.0.32 or newer", {},
                  {"--adb", old});
}

TEST_F(ConnectTest, ServerThatIsNone) {
  server_.HangUp();
  ExpectBothToSay("adb cannot reach its server: ");
}

TEST_F(ConnectTest, NoDevice) {
  server_.SetDevices({});
  ExpectBothToSay("no device: adb finds none");
  ExpectBothToSay("emulator-5556 is not connected: adb finds none", {}, {"-s", "emulator-5556"});
}

TEST_F(ConnectTest, UnknownSerialListsTheOthers) {
  ExpectBothToSay("R58M is not connected; connected: emulator-5554 (device, Pixel_6)", {},
                  {"-s", "R58M"});
  ExpectBothToSay("R58M is not connected", {{"ANDROID_SERIAL", "R58M"}});
}

TEST_F(ConnectTest, SeveralDevicesAreListed) {
  server_.SetDevices({{kSerial, "device", phone_.get()}, {"R58M", "offline", phone_.get()}});
  ExpectBothToSay(
      "2 devices are connected, choose one with -s: emulator-5554 (device, Pixel_6), R58M "
      "(offline)");
  // One of them is meant.
  EXPECT_THAT(Record({"-s", kSerial}).err, HasSubstr("is not installed on emulator-5554"));
  EXPECT_THAT(Record({}, {{"ANDROID_SERIAL", kSerial}}).err, HasSubstr("is not installed"));
}

TEST_F(ConnectTest, StatesThatCannotBeUsed) {
  const auto say = [&](const char* state, const char* sentence) {
    server_.SetDevices({{kSerial, state, phone_.get()}});
    ExpectBothToSay(sentence);
  };
  say("unauthorized", "emulator-5554 is unauthorized: unlock it and allow USB debugging");
  say("offline", "emulator-5554 is offline: plug it in again");
  say("recovery", "emulator-5554 is in state \"recovery\": start Android on it");
  say("no permissions (missing udev rules? user is in the plugdev group); see [http://x]",
      "emulator-5554: no permission to open it: install udev rules");
}

TEST_F(ConnectTest, PhoneWithoutExec) {
  server_.SetFaults([](const std::string&) {
    return FakeAdbServer::Fault{FakeAdbServer::Fault::Kind::kUnknownService};
  });
  ExpectBothToSay("emulator-5554 has no exec service: Android 5.0 or newer is required");
}

TEST_F(ConnectTest, AppThatIsNotInstalled) {
  ExpectBothToSay("com.example.app is not installed on emulator-5554");
}

TEST_F(ConnectTest, AppThatDoesNotPermitItsReports) {
  phone_->Install(kApp, /*debuggable=*/false);
  ExpectBothToSay(
      "com.example.app on emulator-5554 does not permit adb to read its reports: it is not "
      "debuggable "
      "(run-as: "
      "package not debuggable: com.example.app), and there is no folder "
      "/sdcard/Android/data/com.example.app/files/jankbox");
}

// The client by itself.
TEST_F(ConnectTest, ScriptsGiveBytesAndStatus) {
  setenv("ADB_SERVER_SOCKET", server_.address().c_str(), 1);
  AdbClient adb("adb", {}, kNsPerSecond);
  ASSERT_TRUE(adb.Connect("").ok());
  EXPECT_EQ(adb.device().model, "Pixel_6");
  const Result<ShellOutput> bytes =
      adb.Shell("print -n 'a\\0\\r\\n\\njankbox-end:7\\nb'; print -u2 err; exit 3");
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_EQ(bytes->out, std::string("a\0\r\n\njankbox-end:7\nberr\n", 24));
  EXPECT_EQ(bytes->status, 3);
  EXPECT_EQ(adb.Shell("while :; do print x; done", 1000).status().message(),
            "more than 1000 bytes came from the device");
  server_.SetFaults(
      [](const std::string&) { return FakeAdbServer::Fault{FakeAdbServer::Fault::Kind::kSilent}; });
  EXPECT_THAT(adb.Shell(":").status().message(),
              HasSubstr("emulator-5554 did not answer for 1 s (try: adb kill-server"));
  unsetenv("ADB_SERVER_SOCKET");
}

TEST_F(ConnectTest, WrongUsageTouchesNoPhone) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"record", "-o", "x"},
                                             {"record", "-a", kApp},
                                             {"record", "-a", "a;reboot", "-o", "x"},
                                             {"record", "-a", kApp, "-o", "x", "-t", "10h"},
                                             {"record", "-a", kApp, "-o", "-", "--json"},
                                             {"record", "-a", kApp, "-o", "x", "--set", "dir=1"},
                                             {"record", "-a", kApp, "-o", "x", "--set", "anr_ms=x"},
                                             {"record", "-a", kApp, "-o", "x", "--set", "anr_ms=1"},
                                             {"record", "-a", kApp, "-o", "x", "--set", "record=1"},
                                             {"pull"},
                                             {"pull", "-a", "../x"}}) {
    const Finished finished = Jankbox(arguments);
    EXPECT_EQ(finished.exit_status(), 2) << arguments.back();
    EXPECT_NE(finished.err, "");
  }
  EXPECT_TRUE(server_.services().empty());
}

}  // namespace
}  // namespace jankbox::tools
