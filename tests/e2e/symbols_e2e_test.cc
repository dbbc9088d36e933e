// Two releases of a stripped program and the real collector: their incidents are in the same groups
// once it has the debug files of both.
#include <httplib.h>

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/e2e/collector_program.h"
#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using nlohmann::json;

class SymbolsTest : public EndToEndTest {
 protected:
  void SetUp() override {
    EndToEndTest::SetUp();
    if (getenv("JANKBOX_TEST_PRELOAD") != nullptr) {
      GTEST_SKIP() << "the sanitizer's functions are on the blamed stacks";
    }
    collector_ = std::make_unique<CollectorProgram>(Binary("jankbox-collector"), Folder("data"));
    ASSERT_TRUE(collector_->Start());
  }

  // The thirteenth message has two causes, and two reports.
  void RunAndUpload(const std::string& release) {
    const std::string spool = Folder(release);
    const Outcome program = RunProgram({Binary(release + "/stripped/twelve_causes"), spool, "auto"},
                                       {{"JANKBOX_OPTIONS", "ftrace=off"}}, 120000);
    ASSERT_EQ(program.exit_status, 0) << program.err;
    ASSERT_EQ(Reports(spool).size(), 14u) << release;
    const Outcome upload = RunProgram(
        {Binary("jankbox"), "run", "--dir", spool, "--upload", collector_->url(), "--", "true"},
        ForeignEnvironment());
    ASSERT_EQ(upload.exit_status, 0) << upload.err;
    ASSERT_TRUE(Reports(spool).empty());
  }
  json UploadSymbols(const std::vector<std::string>& paths) {
    std::vector<std::string> command{Binary("jankbox"), "upload-symbols", "--to", collector_->url(),
                                     "--json"};
    command.insert(command.end(), paths.begin(), paths.end());
    const Outcome sent = RunProgram(command);
    EXPECT_EQ(sent.exit_status, 0) << sent.err;
    return json::parse(sent.out, nullptr, false);
  }

  json Get(const std::string& path) {
    const httplib::Result answer = httplib::Client(collector_->url()).Get(path);
    EXPECT_TRUE(answer && answer->status == 200) << path;
    return answer ? json::parse(answer->body, nullptr, false) : json();
  }
  void WaitUntilNamed() {
    for (int i = 0; i < 12000; ++i) {
      const json pending = Get("/api/v1/symbols").at("pending");
      if (pending.at("reports") == 0 && pending.at("traces") == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "reports wait for names still";
  }
  std::vector<json> ReportsThere() {
    const json answer = Get("/api/v1/reports");
    return answer.at("reports").get<std::vector<json>>();
  }

  std::unique_ptr<CollectorProgram> collector_;
};

TEST_F(SymbolsTest, TwoStrippedReleasesHaveOtherKeysAndTheSameGroups) {
  RunAndUpload("release1");
  RunAndUpload("release2");
  WaitUntilNamed();
  std::set<std::string> fingerprints;
  std::set<std::string> provisional;
  for (const json& report : ReportsThere()) {
    EXPECT_EQ(report.at("identity").at("provisional"), true) << report.at("what");
    fingerprints.insert(report.at("fingerprint"));
    provisional.insert(report.at("identity").at("group_key"));
  }
  EXPECT_EQ(fingerprints.size(), 28u) << "no exact key of one is one of the other";

  const json sent = UploadSymbols({Binary("release1"), Binary("release2")});
  ASSERT_EQ(sent.at("uploaded").size(), 2u) << sent;
  for (const json& file : sent.at("uploaded")) {
    EXPECT_EQ(file.at("result"), "stored");
    EXPECT_EQ(file.at("reports"), 14);
  }
  WaitUntilNamed();
  std::map<std::string, std::multiset<std::string>> messages;  // of the reports, by group
  for (const json& report : ReportsThere()) {
    const json& identity = report.at("identity");
    EXPECT_EQ(identity.at("provisional"), false) << report.at("what");
    messages[identity.at("group_key")].insert(report.at("what").get<std::string>());
    EXPECT_EQ(identity.at("blamed_function").get<std::string>().find("+0x"), std::string::npos)
        << identity;
  }
  EXPECT_EQ(messages.size(), 14u);
  for (const auto& [group, of_group] : messages) {
    ASSERT_EQ(of_group.size(), 2u) << group << ": " << *of_group.begin();
    EXPECT_EQ(*of_group.begin(), *of_group.rbegin());
  }
  EXPECT_EQ(Get("/api/v1/groups").at("groups").size(), 14u);
  size_t reached = 0;
  for (const std::string& group : provisional) {
    const json there = Get("/api/v1/reports?group=" + group);
    EXPECT_FALSE(messages.contains(group));
    reached += there.at("reports").size();
    for (const json& key : there.at("groups")) EXPECT_TRUE(messages.contains(key)) << key;
  }
  EXPECT_EQ(reached, 28u) << "by the links from before";
  for (const json& file : UploadSymbols({Binary("release1")}).at("uploaded")) {
    EXPECT_EQ(file.at("result"), "present");
  }
}

}  // namespace
}  // namespace jankbox
