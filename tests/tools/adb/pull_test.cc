#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/adb/phone_test.h"
#include "tests/tools/sealed_report.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using Fault = FakeAdbServer::Fault;

class PullTest : public PhoneTest {
 protected:
  void SetUp() override {
    PhoneTest::SetUp();
    if (!IsSkipped()) phone_->Install(kApp, /*debuggable=*/true);
  }

  // Real reports of the real SDK, by recordings.
  void RecordReports(int count) {
    phone_->StartApp(kApp);
    for (int i = 0; i < count; ++i) ASSERT_EQ(Record({"--force"}).exit_status(), 0);
    phone_->EndApp(kApp);
  }

  static std::map<std::string, std::string> Files(const std::string& folder) {
    std::map<std::string, std::string> files;
    if (!std::filesystem::exists(folder)) return files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (entry.is_regular_file() && name[0] != '.') files[name] = FileBytes(entry.path());
    }
    return files;
  }

  std::string Here() const { return out_ / "reports"; }
};

TEST_F(PullTest, CopiesEachReportOnce) {
  RecordReports(2);
  const Finished first = Pull();
  EXPECT_EQ(first.exit_status(), 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("manual"));
  EXPECT_THAT(first.out, HasSubstr("2 pulled into " + Here() + ", 0 already there\n"));
  EXPECT_EQ(Files(Here()), Files(phone_->OwnFolder(kApp)));
  EXPECT_EQ(Files(Here()).size(), 2u);
  const Finished second = Pull();
  EXPECT_EQ(second.exit_status(), 0);
  EXPECT_EQ(second.out, "0 pulled into " + Here() + ", 2 already there\n");
  const Finished list = Jankbox({"list", Here()});
  EXPECT_EQ(list.exit_status(), 0);
  EXPECT_THAT(list.out, HasSubstr("phone_app"));
}

TEST_F(PullTest, BothOfTheAppsOwnFoldersAreRead) {
  SealReportFile(phone_->OwnFolder(kApp), SampleReport(1));
  SealReportFile(phone_->FilesFolder(kApp), SampleReport(2));
  const Finished pulled = Pull();
  EXPECT_EQ(pulled.exit_status(), 0) << pulled.err;
  EXPECT_EQ(Files(Here()).size(), 2u);
}

TEST_F(PullTest, TracesOfTheSystemComeAlong) {
  const std::string folder = phone_->OwnFolder(kApp);
  SealReportFile(folder, SampleReport(1));
  for (const char* name : {"system-1790000000000.pftrace", "system-partial", "system-x.pftrace"}) {
    std::ofstream(folder + "/" + name) << "trace";
  }
  const Finished first = Pull();
  EXPECT_EQ(first.exit_status(), 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("1 pulled into " + Here() + ", 0 already there\n"));
  EXPECT_THAT(first.out, HasSubstr("system-1790000000000.pftrace: a trace of the system"));
  EXPECT_EQ(Files(Here())["system-1790000000000.pftrace"], "trace");
  EXPECT_EQ(Files(Here()).size(), 2u);
  const json second = json::parse(Pull({"--json"}).out);
  EXPECT_EQ(second["system_traces"].size(), 0u);
  EXPECT_EQ(second["skipped"].size(), 2u);
}

TEST_F(PullTest, LaterRevisionReplacesTheFile) {
  proto::Report report = SampleReport();
  SealReportFile(phone_->OwnFolder(kApp), report);
  ASSERT_EQ(Pull().exit_status(), 0);
  report.set_revision(2);
  SealReportFile(phone_->OwnFolder(kApp), report);
  const Finished again = Pull({"--json"});
  EXPECT_EQ(json::parse(again.out)["pulled"][0]["revision"], 2);
  EXPECT_EQ(Files(Here()), Files(phone_->OwnFolder(kApp)));
}

TEST_F(PullTest, BothFoldersAreLookedAt) {
  SealReportFile(phone_->OwnFolder(kApp), SampleReport(1));
  SealReportFile(phone_->ExternalFolder(kApp), SampleReport(2));
  EXPECT_THAT(Pull().out, HasSubstr("2 pulled into"));
  UsePhone(34);
  phone_->Install(kApp, /*debuggable=*/false);
  SealReportFile(phone_->ExternalFolder(kApp), SampleReport(3));
  EXPECT_THAT(Pull().out, HasSubstr("1 pulled into"));
}

TEST_F(PullTest, OldPhoneWithoutChecksumsIsReadAgain) {
  UsePhone(21);
  phone_->Install(kApp, /*debuggable=*/true);
  SealReportFile(phone_->OwnFolder(kApp), SampleReport(1));
  EXPECT_THAT(Pull().out, HasSubstr("1 pulled into"));
  const Finished again = Pull();
  EXPECT_EQ(again.exit_status(), 0) << again.err;
  EXPECT_EQ(Files(Here()), Files(phone_->OwnFolder(kApp)));
}

TEST_F(PullTest, DamagedAndForeignFilesArePassedOver) {
  const std::string folder = phone_->OwnFolder(kApp);
  const std::string whole = SealReportFile(folder, SampleReport(1));
  const std::string damaged = SampleReport(2).id() + ".pftrace.zst";
  WriteFile(folder + "/" + damaged, FileBytes(whole).substr(0, 40));
  WriteFile(folder + "/notes.pftrace.zst", "no id");
  WriteFile(folder + "/x $(reboot) y.pftrace.zst", "no id");
  WriteFile(folder + "/.tmp-1-1-" + damaged, "half");
  const Finished finished = Pull({"--json"});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("skipped " + damaged + ": "));
  const json told = json::parse(finished.out);
  EXPECT_EQ(told["pulled"].size(), 1u);
  EXPECT_EQ(told["skipped"].size(), 0u);
  ASSERT_EQ(told["failed"].size(), 1u);
  EXPECT_EQ(told["failed"][0]["name"], damaged);
  EXPECT_EQ(told["dir"], Here());
  EXPECT_EQ(Files(Here()).size(), 1u);
}

TEST_F(PullTest, NoReports) {
  const Finished finished = Pull();
  EXPECT_EQ(finished.exit_status(), 0);
  EXPECT_EQ(finished.err, "jankbox: no reports of com.example.app on emulator-5554\n");
  EXPECT_FALSE(std::filesystem::exists(Here()));
}

TEST_F(PullTest, ConnectionLostInTheMiddleKeepsWhatIsWhole) {
  for (int i = 1; i <= 3; ++i) {
    SealReportFile(phone_->OwnFolder(kApp), SampleReport(i), std::string(200'000, 'x'));
  }
  server_.SetFaults([](const std::string& script) {
    const bool second = script.find("cat 01960000-0002") != std::string::npos;
    return second ? Fault{Fault::Kind::kPulledOut, 100} : Fault{};
  });
  const Finished finished = Pull();
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.out, HasSubstr("1 pulled into"));
  EXPECT_THAT(finished.err, HasSubstr("the connection to emulator-5554 was lost"));
  EXPECT_EQ(Files(Here()).size(), 1u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(Here()), {}), 1);
}

TEST_F(PullTest, FolderThatCannotBeMade) {
  SealReportFile(phone_->OwnFolder(kApp), SampleReport(1));
  WriteFile(Here(), "a file");
  const Finished finished = Pull();
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr(Here()));
}

TEST_F(PullTest, InterruptLeavesNothingHalfWritten) {
  SealReportFile(phone_->OwnFolder(kApp), SampleReport(1));
  server_.SetFaults([](const std::string& script) {
    return script.find("; cat ") != std::string::npos ? Fault{Fault::Kind::kSilent} : Fault{};
  });
  Subprocess pull(Command({"pull", "-a", kApp, "--dir", Here()}), AdbEnvironment());
  while (server_.services().empty() ||
         server_.services().back().find("; cat ") == std::string::npos) {
    usleep(5000);
  }
  kill(pull.pid(), SIGINT);
  const Finished finished = pull.Finish();
  EXPECT_EQ(finished.signal(), SIGINT);
  EXPECT_THAT(finished.err, HasSubstr("interrupted"));
  EXPECT_TRUE(Files(Here()).empty());
}

TEST_F(PullTest, DefaultFolderIsNamedAfterThePackage) {
  SealReportFile(phone_->OwnFolder(kApp), SampleReport(1));
  Environment environment = AdbEnvironment();
  const Finished finished = RunToEnd(
      {"/usr/bin/env", "-C", out_.path(), JANKBOX_BINARY, "pull", "-a", std::string(kApp) + ":web"},
      environment);
  EXPECT_EQ(finished.exit_status(), 0) << finished.err;
  EXPECT_EQ(Files(out_ / kApp).size(), 1u);
}

}  // namespace
}  // namespace jankbox::tools
