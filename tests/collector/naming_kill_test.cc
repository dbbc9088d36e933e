// A kill while reports get their names leaves all groups of a build as they were, or all as they
// will be, and the next start goes on.
#include <signal.h>
#include <sqlite3.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "base/file.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/named_program.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using OpenDatabase = std::unique_ptr<sqlite3, CloseDatabase>;

OpenDatabase Open(const std::string& folder) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(JoinPath(folder, "reports.db").c_str(), &database), SQLITE_OK);
  sqlite3_busy_timeout(database, 10'000);
  return OpenDatabase(database);
}

// Rows of two columns at most: a text or number, and a number.
std::map<std::string, int64_t> Query(sqlite3* database, const char* sql) {
  std::map<std::string, int64_t> rows;
  const auto take = [](void* opaque, int columns, char** values, char**) {
    auto* found = static_cast<std::map<std::string, int64_t>*>(opaque);
    (*found)[values[0]] = columns > 1 ? atoll(values[1]) : 0;
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(database, sql, take, &rows, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  return rows;
}

int64_t Number(sqlite3* database, const std::string& expression) {
  return Query(database, ("SELECT 'n', " + expression).c_str())["n"];
}

constexpr char kGroups[] = "SELECT group_key, count(*) FROM shown GROUP BY group_key";
constexpr int kReports = 45;
constexpr int kMessages = 3;

class NamingKillTest : public CollectorTest {
 protected:
  // One of the reports: they differ by function, message and size.
  proto::Report ReportNumber(int i) const {
    const auto& functions = NamedProgram::Functions();
    const std::string message = "message " + std::string(1, static_cast<char>('a' + i % kMessages));
    proto::Report report =
        program_.Report(functions[static_cast<size_t>(i / kMessages) % functions.size()], message);
    for (int note = 0; note < 64; ++note) report.add_notes(std::string(400, 'n'));
    report.set_counted(true);
    return report;
  }

  // In a folder of its own.
  void StartAnew(int round) {
    data_ = JoinPath(folder_.path(), "round" + std::to_string(round));
    StartAgain();
    httplib::Client client = NewClient();
    for (int i = 0; i < kReports; ++i) {
      const httplib::Result answer = PostReport(&client, Seal(ReportNumber(i)));
      ASSERT_TRUE(answer && answer->status == 200) << i;
    }
    WaitUntilNamed();
  }
  void StartAgain() {
    collector_.emplace(std::vector<std::string>{"--listen", "127.0.0.1:0", "--data", data_});
    ASSERT_NE(collector_->port(), 0) << collector_->Errors();
  }

  // What the collector left is one of the two states.
  void ExpectOneState(sqlite3* database) {
    const auto groups = Query(database, kGroups);
    const bool old_state = groups.size() == kMessages;
    EXPECT_TRUE(old_state || groups.size() == kMessages * 3) << groups.size();
    for (const auto& [key, reports] : groups) {
      EXPECT_EQ(reports, old_state ? kReports / kMessages : kReports / kMessages / 3) << key;
    }
    old_states_ += old_state ? 1 : 0;
    new_states_ += old_state ? 0 : 1;
    EXPECT_EQ(Number(database,
                     "(SELECT count(*) FROM shown s WHERE NOT EXISTS (SELECT 1 FROM "
                     "messages m WHERE m.id = s.id AND m.naming = s.naming))"),
              0)
        << "each has the message that is shown";
  }

  void ExpectAllNamed() {
    std::set<std::string> ids;
    const json groups = GetJson("/api/v1/groups").at("groups");
    ASSERT_EQ(groups.size(), kMessages * 3u);
    for (const json& group : groups) {
      EXPECT_EQ(group.at("incidents"), kReports / kMessages / 3);
      EXPECT_EQ(group.at("provisional"), false);
      EXPECT_EQ(group.at("title"), "fill_rows");
    }
  }

  const NamedProgram program_{1};
  std::string data_;
  int old_states_ = 0;
  int new_states_ = 0;
};

TEST_F(NamingKillTest, LeavesTheOldGroupsOrTheNewOnes) {
  const bool soak = getenv("JANKBOX_SOAK") != nullptr;
  const int rounds = soak ? 60 : 3;
  std::mt19937 random(11);
  int interrupted = 0;
  for (int round = 0; round < rounds; ++round) {
    StartAnew(round);
    const OpenDatabase watched = Open(data_);
    ASSERT_EQ(SymbolsResult(program_.Bytes()), "stored");
    // At a random moment, while names are written, or while they take their place.
    if (round % 3 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 100'000));
    } else {
      const int64_t naming = round % 3 == 1 ? 0 : 1;
      while (Number(watched.get(), "(SELECT count(*) FROM named)") == 0 ||
             Number(watched.get(), "(SELECT naming FROM symbol_state)") < naming) {
        if (Number(watched.get(), "(SELECT naming FROM symbol_state)") > 0 &&
            Number(watched.get(), "(SELECT count(*) FROM named)") == 0) {
          break;  // it was too quick
        }
      }
    }
    collector_->End(SIGKILL);
    interrupted += Number(watched.get(), "(SELECT count(*) FROM named)") != 0 ? 1 : 0;
    ExpectOneState(watched.get());
    StartAgain();
    WaitUntilNamed();
    ExpectAllNamed();
    EXPECT_EQ(Number(watched.get(), "(SELECT count(*) FROM named)"), 0);
    EXPECT_EQ(Number(watched.get(), "(SELECT count(*) FROM messages)"), 2 * kReports)
        << "as received, and with names";
    collector_->End(SIGTERM);
  }
  if (soak) {
    EXPECT_GT(interrupted, 0);
  }
  EXPECT_EQ(old_states_ + new_states_, rounds);
  RecordProperty("interrupted", interrupted);
  RecordProperty("old", old_states_);
  RecordProperty("new", new_states_);
}

// Each answer to a reader is from one state, while reports arrive and a build gets its names.
TEST_F(NamingKillTest, ReadersSeeOneStateAndUploadsGoOn) {
  StartAnew(0);
  std::atomic<bool> done{false};
  std::thread sender([&] {
    httplib::Client client = NewClient();
    for (int i = 0; i < 40 && !done; ++i) {  // each has a trace, which is named, too
      const httplib::Result answer = PostReport(&client, Seal(SampleReport()));
      EXPECT_TRUE(answer && answer->status == 200);
    }
  });
  ASSERT_EQ(SymbolsResult(program_.Bytes()), "stored");
  std::set<uint64_t> seen;
  for (bool named = false; !named;) {
    const json groups = GetJson("/api/v1/groups").at("groups");
    uint64_t of_program = 0;
    uint64_t incidents = 0;
    for (const json& group : groups) {
      if (group.at("processes") != json({"named_program"})) continue;
      ++of_program;
      incidents += group.at("incidents").get<uint64_t>();
    }
    EXPECT_EQ(incidents, kReports);
    seen.insert(of_program);
    named = of_program == kMessages * 3;
  }
  done = true;
  sender.join();
  WaitUntilNamed();
  seen.erase(kMessages);
  EXPECT_EQ(seen, std::set<uint64_t>{kMessages * 3});
}

}  // namespace
}  // namespace jankbox::collector
