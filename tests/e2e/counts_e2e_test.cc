// Counts of incidents from an app to the collector, through kills, reinstalls, a restored copy and
// a network that fails every third request: exact.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/scoped_fd.h"
#include "tests/e2e/collector_program.h"
#include "tests/e2e/flaky_network.h"
#include "tests/e2e/run_program.h"
#include "uploader/counts/count_book.h"
#include "uploader/counts/file_birth.h"

namespace jankbox {
namespace {

using nlohmann::json;

struct Tally {
  uint64_t incidents = 0;
  uint64_t total_ns = 0;
  uint64_t max_ns = 0;

  void Add(uint64_t count, uint64_t ns, uint64_t most_ns) {
    incidents += count;
    total_ns += ns;
    max_ns = std::max(max_ns, most_ns);
  }
};

// 10,000 incidents over 50 restarts with --soak.
struct Scale {
  int lives = 12;
  int incidents = 25;  // a life
  int reinstall_every = 5;
  int copy_at = 8;      // this life's folder is the backup
  int restore_at = 10;  // which is restored after this one
};

Scale TheScale() {
  if (getenv("JANKBOX_SOAK") == nullptr) return {};
  return {.lives = 50, .incidents = 200, .reinstall_every = 13, .copy_at = 30, .restore_at = 34};
}

class CountsTest : public EndToEndTest {
 protected:
  void SetUp() override {
    EndToEndTest::SetUp();
    collector_ = std::make_unique<CollectorProgram>(Binary("jankbox-collector"), Folder("data"));
    ASSERT_TRUE(collector_->Start());
    network_ = std::make_unique<FlakyNetwork>(collector_->url());
  }

  void Live(int life, int incidents, bool killed) {
    const Outcome outcome =
        RunProgram({Binary("counts_driver"), Folder("spool"), Folder("log"),
                    std::to_string(life + 1), std::to_string(incidents), killed ? "kill" : "stop"},
                   {{"JANKBOX_UPLOAD_URL", network_->url()}}, 300000);
    EXPECT_EQ(outcome.signal, killed ? SIGKILL : 0) << life << ": " << outcome.err;
    if (!killed) {
      EXPECT_EQ(outcome.exit_status, 0) << life << ": " << outcome.err;
    }
  }

  // Until the collector has all counts, through the same network.
  void DrainAll() {
    for (int attempt = 0; attempt < 30; ++attempt) {
      RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"), "--upload", network_->url(),
                  "--", "true"},
                 ForeignEnvironment());
      const Result<ReportCountBook> book = CountBook::Read(Folder("spool"));
      if (book.ok() && book->seq == book->acknowledged_seq) return;
    }
    ADD_FAILURE() << "not all counts were sent";
  }

  bool FilesHaveBirths() const {
    const ScopedFd fd(open(Folder("probe").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return FileBirthNs(fd.get()) != 0;
  }

  std::map<std::string, Tally> Truth() const {
    std::map<std::string, Tally> truth;
    std::ifstream log(Folder("log"));
    std::string name;
    for (uint64_t ns = 0; log >> name >> ns;) truth[name].Add(1, ns, ns);
    return truth;
  }

  // What the collector has, by message; ends of the process and what was not looked at by kind.
  std::map<std::string, Tally> Counted() const {
    std::map<std::string, Tally> counted;
    const Outcome got = RunProgram({"curl", "-sf", collector_->url() + "/api/v1/counts"});
    const json answer = json::parse(got.out, nullptr, false);
    for (const json& count : answer.at("counts")) {
      std::string name = count.at("message");
      if (count.at("kind") == "exit") name = "exit";
      if (count.at("key") == kOtherKey) name = kOtherKey;
      if (name.starts_with("job ")) name[3] = '-';
      counted[name].Add(count.at("incidents"), count.at("total_ns"),
                        static_cast<uint64_t>(count.at("worst_ms").get<double>() * 1e6 + 0.5));
    }
    return counted;
  }

  std::unique_ptr<CollectorProgram> collector_;
  std::unique_ptr<FlakyNetwork> network_;
};

TEST_F(CountsTest, AreExactThroughKillsReinstallsACopyAndLostRequests) {
  const Scale scale = TheScale();
  const bool copies = FilesHaveBirths();
  uint64_t kills = 0;
  uint64_t epochs = 1;
  for (int life = 1; life <= scale.lives; ++life) {
    const bool killed = life % 2 == 0;
    kills += killed ? 1 : 0;
    Live(life, scale.incidents, killed);
    const bool reinstall = life % scale.reinstall_every == 0 && life != scale.lives;
    const bool restore = copies && life == scale.restore_at;
    if (reinstall || restore || life == scale.copy_at) DrainAll();
    if (life == scale.copy_at) RunProgram({"cp", "-a", Folder("spool"), Folder("backup")});
    if (reinstall || restore) RunProgram({"rm", "-rf", Folder("spool")});
    if (restore) RunProgram({"cp", "-a", Folder("backup"), Folder("spool")});
    epochs += reinstall || restore ? 1 : 0;
  }
  DrainAll();
  EXPECT_GT(network_->failed_before_reading(), 0);
  EXPECT_GT(network_->answers_lost(), 0);
  EXPECT_GT(network_->unavailable(), 0);

  std::map<std::string, Tally> counted = Counted();
  uint64_t incidents = 0;
  for (const auto& [name, truth] : Truth()) {
    incidents += truth.incidents;
    if (name == "tap") continue;
    EXPECT_EQ(counted[name].incidents, truth.incidents) << name;
    EXPECT_EQ(counted[name].total_ns, truth.total_ns) << name;
    EXPECT_EQ(counted[name].max_ns, truth.max_ns) << name;
  }
  EXPECT_EQ(incidents, static_cast<uint64_t>(scale.lives * scale.incidents));
  // Messages that the watcher had no time for are counted together.
  Tally taps = counted["tap"];
  taps.Add(counted[kOtherKey].incidents, counted[kOtherKey].total_ns, 0);
  const Tally tapped = Truth()["tap"];
  EXPECT_EQ(taps.incidents, tapped.incidents);
  EXPECT_GE(static_cast<double>(taps.total_ns),
            0.98 * 40e6 * static_cast<double>(tapped.incidents));
  EXPECT_LE(static_cast<double>(taps.total_ns), 1.02 * static_cast<double>(tapped.total_ns));
  EXPECT_EQ(counted["exit"].incidents, kills);

  const Outcome got = RunProgram({"curl", "-sf", collector_->url() + "/api/v1/counts"});
  const json answer = json::parse(got.out, nullptr, false);
  EXPECT_EQ(answer.at("epochs"), epochs);
  EXPECT_EQ(answer.at("unsure_stops"), 0);
  EXPECT_EQ(answer.at("lost_incidents"), 0);
  const Outcome list = RunProgram({Binary("jankbox"), "list", collector_->url()});
  EXPECT_THAT(list.out, testing::HasSubstr(std::to_string(incidents + kills) + " incidents of "));
  if (!copies) GTEST_SKIP() << "no restored copy: this file system does not keep births of files";
}

// What a page or a terminal says of a cause is the incidents, not the reports that are there.
TEST_F(CountsTest, RepeatsWithoutAReportAreSaidEverywhere) {
  Live(1, 60, /*killed=*/false);
  DrainAll();
  const Outcome got = RunProgram({"curl", "-sf", collector_->url() + "/api/v1/groups"});
  const json groups = json::parse(got.out, nullptr, false).at("groups");
  uint64_t incidents = 0;
  uint64_t reports = 0;
  for (const json& group : groups) {
    incidents += group.at("incidents").get<uint64_t>();
    reports += group.at("reports").get<uint64_t>();
  }
  EXPECT_EQ(incidents, 60u);
  EXPECT_LT(reports, 60u) << "the rest repeated another one";
  const Outcome list = RunProgram({Binary("jankbox"), "list", Folder("spool")});
  EXPECT_THAT(list.out, testing::HasSubstr("60 incidents of ")) << list.err;
}

}  // namespace
}  // namespace jankbox
