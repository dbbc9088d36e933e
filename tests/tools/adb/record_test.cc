#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "report/report_file.h"
#include "tests/perfetto/trace_reader.h"
#include "tests/tools/adb/phone_test.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Fault = FakeAdbServer::Fault;

class RecordTest : public PhoneTest {
 protected:
  void SetUp() override {
    PhoneTest::SetUp();
    if (!IsSkipped()) phone_->Install(kApp, /*debuggable=*/true);
  }

  // A fault in the first script that contains `text`, from its n-th time on.
  void FailAt(const std::string& text, Fault fault, int time = 1) {
    auto seen = std::make_shared<int>(0);
    server_.SetFaults([=](const std::string& script) {
      return script.find(text) != std::string::npos && ++*seen >= time ? fault : Fault{};
    });
  }

  std::vector<std::string> Temporary() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(out_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST_F(RecordTest, WritesTheTraceOfTheApp) {
  phone_->StartApp(kApp);
  const std::map<std::string, std::string> before = phone_->Properties();
  const Finished finished = Record({"-s", kSerial});
  EXPECT_EQ(finished.exit_status(), 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, StartsWith(Out() + ": "));
  EXPECT_THAT(finished.out, HasSubstr(" s of com.example.app (pid "));
  EXPECT_THAT(finished.out, HasSubstr(") on emulator-5554 (Pixel_6), "));
  EXPECT_THAT(FileBytes(Out()), HasSubstr("phone_app message"));
  // Set for the app, asked, and put back.
  EXPECT_EQ(phone_->Properties(), before);
  EXPECT_THAT(
      phone_->PropertiesSet(),
      ElementsAre("debug.jankbox.app=com.example.app", StartsWith("debug.jankbox.snapshot="),
                  "debug.jankbox.app=", "debug.jankbox.snapshot="));
}

TEST_F(RecordTest, ParametersHoldWhileItRecordsAndGoBack) {
  phone_->SetProperty("debug.jankbox.lag_ms", "3000");
  phone_->StartApp(kApp);
  const Finished finished =
      Record({"-t", "1500ms", "--set", "slow_message_ms=50", "--set", "lag_ms=2500", "--json"});
  ASSERT_EQ(finished.exit_status(), 0) << finished.err;
  const json summary = json::parse(finished.out);
  EXPECT_GE(summary["other_reports"], 1);  // of messages of 80 ms, which are not slow otherwise
  EXPECT_EQ(summary["asked_ms"], 1500);
  EXPECT_EQ(summary["app"], kApp);
  EXPECT_EQ(summary["device"]["serial"], kSerial);
  EXPECT_EQ(summary["device"]["model"], "Pixel_6");
  EXPECT_EQ(summary["report"]["kind"], "manual");
  EXPECT_EQ(summary["bytes"], FileBytes(Out()).size());
  const std::vector<std::string> set = phone_->PropertiesSet();
  ASSERT_EQ(set.size(), 8u);
  EXPECT_EQ(set[1], "debug.jankbox.slow_message_ms=50");
  EXPECT_EQ(set[2], "debug.jankbox.lag_ms=2500");
  EXPECT_EQ(set[5], "debug.jankbox.slow_message_ms=");
  EXPECT_EQ(set[6], "debug.jankbox.lag_ms=3000");
}

TEST_F(RecordTest, SealedReportIsKeptWholeWhereTheNameSaysSo) {
  phone_->StartApp(kApp);
  const std::string out = out_ / "out.pftrace.zst";
  ASSERT_EQ(Record({"-o", out}).exit_status(), 0);
  const Result<proto::Report> report = ReadReportFile(out);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->kind(), proto::MANUAL);
  EXPECT_EQ(report->process(), "phone_app");
  std::string error;
  const jankbox::testing::TraceContent trace = jankbox::testing::ReadTrace(FileBytes(out), &error);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(std::any_of(trace.slices.begin(), trace.slices.end(),
                          [](const auto& slice) { return slice.name == "phone_app message"; }));
}

TEST_F(RecordTest, DashIsStdoutAndTheSummaryGoesToStderr) {
  phone_->StartApp(kApp);
  const Finished finished = Record({"-o", "-"});
  EXPECT_EQ(finished.exit_status(), 0);
  EXPECT_THAT(finished.out, HasSubstr("phone_app message"));
  EXPECT_THAT(finished.err, StartsWith("-: "));
}

TEST_F(RecordTest, RestartAppliesOptionsOfTheStart) {
  phone_->StartApp(kApp);
  const std::string old_pid = FileBytes(*phone_ / "run/com.example.app");
  const std::string out = out_ / "out.pftrace.zst";
  const Finished finished = Record({"--restart", "--set", "window_ms=400", "-t", "1s", "-o", out});
  ASSERT_EQ(finished.exit_status(), 0) << finished.err;
  EXPECT_NE(FileBytes(*phone_ / "run/com.example.app"), old_pid);
  const Result<proto::Report> report = ReadReportFile(out);
  ASSERT_TRUE(report.ok());
  EXPECT_NEAR(static_cast<double>(report->window().to_ns() - report->window().from_ns()) / 1e6, 400,
              50);
  EXPECT_THAT(finished.out, HasSubstr("1s were requested, the app keeps less\n"));
}

TEST_F(RecordTest, ExternalFolderServesAReleaseBuild) {
  UsePhone(34);
  phone_->Install(kApp, /*debuggable=*/false);
  phone_->StartApp(kApp, phone_->ExternalFolder(kApp));
  EXPECT_EQ(Record({}).exit_status(), 0);
  EXPECT_THAT(FileBytes(Out()), HasSubstr("phone_app message"));
}

TEST_F(RecordTest, OldPhone) {
  UsePhone(21);
  phone_->Install(kApp, /*debuggable=*/true);
  phone_->StartApp(kApp);
  const Finished finished = Record({"--set", "slow_message_ms=500"});
  EXPECT_EQ(finished.exit_status(), 0) << finished.err;
  const Finished refused = Record({"--force", "--set", "jank_dropped_frames=4"});
  EXPECT_EQ(refused.exit_status(), 1);
  EXPECT_THAT(refused.err,
              HasSubstr("refuses to set debug.jankbox.jank_dropped_frames: setprop: "));
  EXPECT_THAT(refused.err, HasSubstr("(before Android 8 names end after 31 characters)"));
}

TEST_F(RecordTest, RefusedPropertyIsReported) {
  phone_->StartApp(kApp);
  WriteFile(*phone_ / "refuses_properties", "");
  const Finished finished = Record({});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_EQ(finished.err, "jankbox: emulator-5554 refuses to set debug.jankbox.app\n");
}

TEST_F(RecordTest, AppThatDoesNotRun) {
  const Finished finished = Record({});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_EQ(finished.err,
            "jankbox: com.example.app does not run on emulator-5554: start it, or use --restart\n");
  const Finished restart = Record({"--restart"});
  EXPECT_EQ(restart.exit_status(), 1);
  EXPECT_THAT(restart.err, HasSubstr("cannot be started: it has no activity for the launcher"));
  phone_->InstallLauncher(kApp);
  EXPECT_EQ(Record({"--restart"}).exit_status(), 0);
}

// It runs, and nothing in it listens.
TEST_F(RecordTest, NoReportWithinTheTime) {
  WriteFile(*phone_ / "run/com.example.app", std::to_string(getpid()));
  const Finished finished = Record({"--wait", "1"});
  unlink((*phone_ / "run/com.example.app").c_str());
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("com.example.app wrote no report within 1 s: check that it "
                                      "starts Jankbox, that it is debuggable or profileable"));
  EXPECT_EQ(phone_->Properties().count("debug.jankbox.snapshot"), 0u);
}

TEST_F(RecordTest, FullDiskOfThePhone) {
  phone_->SetProperty("debug.jankbox.min_free_mib", std::to_string(1u << 30));
  phone_->StartApp(kApp);
  WriteFile(*phone_ / "df",
            "Filesystem       1K-blocks     Used Available Use% Mounted on\n"
            "/dev/block/dm-44 115228916 115216000     12916 100% /data\n");
  const Finished finished = Record({"--wait", "1"});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("wrote no report within 1 s: the device's disk is full (12 "
                                      "MiB are free, Jankbox leaves 64)"));
}

TEST_F(RecordTest, AppThatEndsMeanwhile) {
  phone_->StartApp(kApp);
  Subprocess recording(Command({"record", "-a", kApp, "-t", "1s", "--wait", "1", "-o", Out()}),
                       AdbEnvironment());
  while (phone_->PropertiesSet().empty()) usleep(5000);
  phone_->EndApp(kApp);
  const Finished finished = recording.Finish();
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("com.example.app ended while it was recorded"));
}

TEST_F(RecordTest, OutputThatExistsIsRefusedBeforeAnythingIsRecorded) {
  WriteFile(Out(), "precious");
  const Finished finished = Record({});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("out.pftrace: File exists (--force replaces it)"));
  EXPECT_TRUE(server_.services().empty());
  phone_->StartApp(kApp);
  EXPECT_EQ(Record({"--force"}).exit_status(), 0);
  EXPECT_NE(FileBytes(Out()), "precious");
}

TEST_F(RecordTest, OutputThatCannotBeWritten) {
  phone_->StartApp(kApp);
  const Finished nowhere = Record({"-o", out_ / "no/such/folder/out.pftrace"});
  EXPECT_EQ(nowhere.exit_status(), 1);
  EXPECT_THAT(nowhere.err, HasSubstr("No such file or directory"));
  const Finished full = Record({"-o", "/dev/full"});
  EXPECT_EQ(full.exit_status(), 1);
  EXPECT_THAT(full.err, HasSubstr("No space left"));
}

TEST_F(RecordTest, InterruptPutsPropertiesBackAndEndsByTheSignal) {
  phone_->StartApp(kApp);
  phone_->SetProperty("debug.jankbox.slow_message_ms", "400");
  const std::map<std::string, std::string> before = phone_->Properties();
  for (const int signal : {SIGINT, SIGTERM}) {
    const size_t set = phone_->PropertiesSet().size();
    Subprocess recording(
        Command({"record", "-a", kApp, "-t", "60s", "-o", Out(), "--set", "slow_message_ms=50"}),
        AdbEnvironment());
    while (phone_->PropertiesSet().size() < set + 2) usleep(5000);
    kill(recording.pid(), signal);
    const Finished finished = recording.Finish();
    EXPECT_EQ(finished.signal(), signal);
    EXPECT_EQ(finished.err, "jankbox: interrupted\n");
    EXPECT_EQ(phone_->Properties(), before);
    EXPECT_TRUE(Temporary().empty());
  }
}

// While adb itself hangs.
TEST_F(RecordTest, InterruptEndsAWaitForAdb) {
  FailAt("pm path", {Fault::Kind::kSilent});
  Subprocess recording(Command({"record", "-a", kApp, "-o", Out()}), AdbEnvironment());
  while (server_.services().size() < 4) usleep(5000);
  kill(recording.pid(), SIGINT);
  EXPECT_TRUE(recording.WaitForEnd(5000));
  EXPECT_EQ(recording.Finish().signal(), SIGINT);
}

TEST_F(RecordTest, ConnectionLostWhileTheReportComes) {
  phone_->StartApp(kApp);
  FailAt("; cat ", {Fault::Kind::kPulledOut, 1000});
  const Finished finished = Record({});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("the connection to emulator-5554 was lost"));
  // The message names the properties that are still set, and a command that restores them.
  EXPECT_THAT(finished.err, HasSubstr("properties of emulator-5554 were not restored: "));
  EXPECT_THAT(finished.err, HasSubstr("adb -s emulator-5554 shell \"setprop debug.jankbox.app ''; "
                                      "setprop debug.jankbox.snapshot ''\""));
  EXPECT_TRUE(Temporary().empty());
}

TEST_F(RecordTest, ConnectionLostBetweenTwoScripts) {
  phone_->StartApp(kApp);
  FailAt("pm path", {Fault::Kind::kPulledOut, 100'000});
  const Finished finished = Record({});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_EQ(finished.err,
            "jankbox: the connection to emulator-5554 was lost (adb: device 'emulator-5554' not "
            "found)\n");
}

TEST_F(RecordTest, DamagedReportIsNotTaken) {
  phone_->StartApp(kApp);
  // The transfer is whole, what was sealed is not the report that was asked for.
  WriteFile(phone_->OwnFolder(kApp) + "/01960000-0001-7abc-8def-0123456789ab.pftrace.zst",
            "damaged");
  EXPECT_EQ(Record({}).exit_status(), 0);
  EXPECT_THAT(FileBytes(Out()), HasSubstr("phone_app message"));
}

TEST_F(RecordTest, ProgressIsShownOnATerminalOnly) {
  phone_->StartApp(kApp);
  Environment environment = AdbEnvironment();
  environment["TERM"] = "xterm";
  const Finished finished =
      RunOnTerminal(Command({"record", "-a", kApp, "-t", "2500ms", "-o", Out()}), environment);
  EXPECT_EQ(finished.exit_status(), 0) << finished.out;
  EXPECT_THAT(finished.out, ::testing::ContainsRegex("recording com.example.app: [0-9]+ %"));
}

}  // namespace
}  // namespace jankbox::tools
