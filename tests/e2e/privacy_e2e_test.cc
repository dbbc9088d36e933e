// What an app gives Jankbox as free text, on its way to the collector's disk: nothing of it that
// could name a person or open a door arrives.
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/e2e/collector_program.h"
#include "tests/e2e/run_program.h"
#include "uploader/spool/spool_folder.h"

namespace jankbox {
namespace {

using nlohmann::json;

const std::vector<std::string> kTexts = {
    "to zelda.quux@example.org",
    "call +49 170 5550199",
    "card 4929123456781234",
    "auth ghp_zQ7xW3vB9kL2mN8pR4tY6uJ1sD5fG0hA",
    "open /home/zeldaq/letters/note.txt",
    "SELECT id FROM t WHERE n = 'Zelda Q'",
    "GET https://h.zelda-host.org/v1/feed?sid=zeldasid",
};
// Of the texts above, in the same order.
const std::vector<std::string> kPrivate = {"zelda.quux", "5550199", "4929123456781234",
                                           "zQ7xW3vB9k", "zeldaq",  "Zelda Q",
                                           "zelda-host", "zeldasid"};

class PrivacyTest : public EndToEndTest {
 protected:
  Outcome RunApp(const std::string& end, const std::string& url) {
    std::vector<std::string> argv = {Binary("free_texts"), Folder("spool"), url, end};
    argv.insert(argv.end(), kTexts.begin(), kTexts.end());
    return RunProgram(argv, {}, 120'000);
  }

  static void ExpectNothingPrivate(const std::string& text, const std::string& where) {
    for (const std::string& secret : kPrivate) {
      EXPECT_EQ(text.find(secret), std::string::npos) << secret << " is in " << where;
    }
  }

  static void ExpectNothingPrivateIn(const std::string& folder) {
    size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      ExpectNothingPrivate(std::string(std::istreambuf_iterator<char>(file), {}), entry.path());
      ++files;
    }
    EXPECT_GT(files, 0u);
  }

  // Each report as it was sent, and how many there are.
  size_t ExpectNothingPrivateInReports(const std::string& place, std::string* all) {
    const Outcome list = RunProgram({Binary("jankbox"), "list", "--json", place});
    const json reports = json::parse(list.out, nullptr, false);
    if (!reports.is_array()) return 0;
    for (const json& report : reports) {
      const std::string id = report["id"];
      const Outcome sent =
          RunProgram({Binary("jankbox"), "show", "--as-sent", "--json", "--dir", place, id});
      EXPECT_EQ(sent.exit_status, 0) << sent.err;
      ExpectNothingPrivate(sent.out, id);
      *all += sent.out;
    }
    return reports.size();
  }
};

TEST_F(PrivacyTest, NothingPrivateReachesTheSpoolTheWireOrTheCollector) {
  CollectorProgram collector(Binary("jankbox-collector"), Folder("data"));
  ASSERT_TRUE(collector.Start());
  const Outcome ended = RunApp("end", collector.url());
  ASSERT_EQ(ended.exit_status, 0) << ended.err;
  ExpectNothingPrivate(ended.out + ended.err, "the app's output");
  EXPECT_EQ(RunApp("die", collector.url()).signal, SIGABRT);
  const Outcome recovered = RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"),
                                        "--upload", collector.url(), "--", "true"},
                                       ForeignEnvironment());
  ASSERT_EQ(recovered.exit_status, 0) << recovered.err;
  ExpectNothingPrivate(recovered.out + recovered.err, "the output of jankbox run");
  std::string all;
  EXPECT_GE(ExpectNothingPrivateInReports(collector.url(), &all), 3 * kTexts.size());
  for (const char* kept : {"<mail>", "<number>", "<token>", "note.txt", "https://*/feed",
                           "SELECT id FROM t WHERE n = ?", "\"recovered\""}) {
    EXPECT_NE(all.find(kept), std::string::npos) << kept;
  }
  ExpectNothingPrivateIn(Folder("spool"));
  collector->Signal(SIGTERM);
  const Outcome served = collector->Wait(10'000);
  ExpectNothingPrivate(served.out + served.err, "the collector's output");
  ExpectNothingPrivateIn(Folder("data"));
}

TEST_F(PrivacyTest, WhatTheUserDeclinedIsGoneAndNeverSent) {
  std::vector<std::string> argv = {Binary("free_texts"), Folder("spool"), "http://127.0.0.1:9",
                                   "decline"};
  argv.insert(argv.end(), {"first", "second", "third", "fourth"});
  Program app(argv);
  ASSERT_TRUE(app.WaitForOutput("declined", 60'000));
  // Within a second, on a machine that is not busy.
  for (int i = 0; i < 100 && !Reports(Folder("spool")).empty(); ++i) usleep(100'000);
  EXPECT_TRUE(Reports(Folder("spool")).empty());
  for (const char* name : {kCountsName, kRecentCountsName}) {
    EXPECT_NE(access((Folder("spool") + "/" + name).c_str(), F_OK), 0) << name;
  }
  app.Signal(SIGUSR1);
  EXPECT_EQ(app.Wait(60'000).exit_status, 0);
  std::set<std::string> kept;
  for (const proto::Report& report : Reports(Folder("spool"))) kept.insert(report.what());
  EXPECT_EQ(kept, std::set<std::string>{"fourth"});
}

}  // namespace
}  // namespace jankbox
