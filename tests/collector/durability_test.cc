// Acknowledged reports outlive kills and full disks; what is not durable is not acknowledged.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/file.h"
#include "base/uuid.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;
using DurabilityTest = CollectorTest;

TEST_F(DurabilityTest, KillRightAfterTheAckKeepsTheReport) {
  std::map<std::string, std::string> acknowledged;
  for (int round = 0; round < 20; ++round) {
    const proto::Report report = SampleReport();
    const std::string body = Seal(report, Noise(40'000, round));
    ASSERT_EQ(UploadResult(body), proto::UploadReply::STORED);
    collector_->End(SIGKILL);
    acknowledged[report.id()] = body;
    Start();
    const json stored = GetJson("/api/v1/reports/" + report.id());
    EXPECT_EQ(stored.at("trace_bytes"), body.size());
  }
  for (const auto& [id, body] : acknowledged) {
    EXPECT_TRUE(NewClient().Get("/api/v1/reports/" + id + "/trace")->body == body) << id;
  }
}

// Kills while four clients upload: every acknowledged report is there afterwards, every blob has
// its row, and no temporary file is left.
TEST_F(DurabilityTest, KillDuringUploadsKeepsWhatWasAcknowledged) {
  std::mutex mutex;
  std::set<std::string> acknowledged;
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> uploads{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        httplib::Client client = NewClient();
        for (int i = 0;; ++i) {
          const proto::Report report = SampleReport();
          const httplib::Result answer =
              PostReport(&client, Seal(report, Noise(20'000, thread * 1000 + i)));
          if (!answer) return;
          EXPECT_EQ(answer->status, 200);
          std::lock_guard<std::mutex> lock(mutex);
          acknowledged.insert(report.id());
          ++uploads;
        }
      });
    }
    while (uploads < 8) std::this_thread::yield();
    kill(collector_->pid(), SIGKILL);
    for (std::thread& thread : threads) thread.join();
    collector_->End(0);
    Start();
  }
  std::set<std::string> listed;
  const json list = GetJson("/api/v1/reports?limit=10000");
  for (const json& report : list.at("reports")) {
    listed.insert(report.at("id"));
  }
  for (const std::string& id : acknowledged) EXPECT_TRUE(listed.contains(id)) << id;
  std::set<std::string> blobs;
  for (const std::string& name : BlobNames()) blobs.insert(name.substr(0, 36));
  EXPECT_EQ(blobs, listed);
  EXPECT_EQ(blobs.size(), BlobNames().size());
}

TEST_F(DurabilityTest, StartRemovesWhatACrashLeft) {
  const proto::Report report = SampleReport();
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  collector_->End(SIGKILL);
  const std::string blobs = JoinPath(folder_.path(), "blobs");
  const std::string own_pid = std::to_string(getpid());
  // A blob whose row was never committed, an old revision that was not removed, a temporary file of
  // a pid that lives, and something of the owner's.
  for (const std::string& name :
       {NewUuid(1) + ".1.pftrace.zst", report.id() + ".7.pftrace.zst",
        ".tmp-" + own_pid + "-0-" + NewUuid(2) + ".1.pftrace.zst", std::string("README")}) {
    std::ofstream(JoinPath(blobs, name)) << "left";
  }
  Start();
  EXPECT_EQ(BlobNames(), (std::vector<std::string>{report.id() + ".1.pftrace.zst", "README"}));
}

TEST_F(DurabilityTest, SecondCollectorOnTheSameFolderIsRefused) {
  CollectorProcess second({"--listen", "127.0.0.1:0", "--data", folder_.path()});
  ASSERT_EQ(second.ready_line(), "");
  EXPECT_EQ(WEXITSTATUS(second.End(0)), 1);
  EXPECT_NE(second.Errors().find("in use by another jankbox-collector"), std::string::npos);
}

TEST_F(DurabilityTest, LockedDatabaseIs503AndNotLost) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(JoinPath(folder_.path(), "reports.db").c_str(), &database), SQLITE_OK);
  sqlite3_busy_timeout(database, 20'000);  // it may be at its own work
  ASSERT_EQ(sqlite3_exec(database, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const std::string body = Seal(SampleReport());
  const httplib::Result answer = Upload(body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->get_header_value("Retry-After"), "30");
  EXPECT_TRUE(BlobNames().empty());
  EXPECT_EQ(GetJson("/api/v1/reports").at("reports").size(), 0u);
  ASSERT_EQ(sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  EXPECT_EQ(UploadResult(body), proto::UploadReply::STORED);
}

TEST_F(DurabilityTest, StoreOfANewerCollectorIsLeftAlone) {
  collector_->End(SIGTERM);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(JoinPath(folder_.path(), "reports.db").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "PRAGMA user_version=99", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  CollectorProcess older({"--listen", "127.0.0.1:0", "--data", folder_.path()});
  ASSERT_EQ(older.ready_line(), "");
  EXPECT_EQ(WEXITSTATUS(older.End(0)), 1);
  EXPECT_NE(older.Errors().find("newer jankbox-collector"), std::string::npos);
}

// As earlier collectors left it: that of 0.1, the first one with group keys, that without names,
// and that without usage.
constexpr char kToSchema4[] =
    "DROP TABLE usage; ALTER TABLE epochs DROP COLUMN usage_seq;"
    "PRAGMA user_version = 4";
constexpr char kToSchema3[] =
    "DROP VIEW shown; DROP TABLE symbol_state; DROP TABLE symbol_files; DROP TABLE folder_files;"
    "DROP TABLE report_keys; DROP TABLE asked_servers; DROP TABLE named; DROP TABLE trace_names;"
    "DROP TABLE group_moves;"
    "DROP INDEX reports_to_index; DROP INDEX reports_to_name; DROP INDEX traces_to_name;"
    "DROP INDEX traces_to_read;"
    "ALTER TABLE reports DROP COLUMN naming; ALTER TABLE reports DROP COLUMN indexed;"
    "ALTER TABLE reports DROP COLUMN wanted_version;"
    "ALTER TABLE reports DROP COLUMN named_version; ALTER TABLE reports DROP COLUMN trace_version;"
    "ALTER TABLE reports ADD COLUMN report BLOB NOT NULL DEFAULT x'';"
    "UPDATE reports SET report = (SELECT report FROM messages WHERE id = reports.id AND naming = "
    "0);"
    "DROP TABLE messages; PRAGMA user_version = 3";
constexpr char kToSchema2[] =
    "DROP TABLE counts; DROP TABLE epochs; DROP INDEX reports_by_group_key;"
    "ALTER TABLE reports DROP COLUMN counted;"
    "CREATE INDEX reports_by_group_key"
    " ON reports(group_key, duration_ns, kind, received_at_ms, process, id);"
    "PRAGMA user_version = 2";
constexpr char kToSchema1[] =
    "DROP INDEX reports_by_group_key;"
    "ALTER TABLE reports DROP COLUMN group_key;"
    "CREATE INDEX reports_by_group"
    " ON reports(fingerprint, duration_ns, kind, received_at_ms, process, id);"
    "PRAGMA user_version = 1";

TEST_F(DurabilityTest, StoreOfAnOlderCollectorKeepsItsGroups) {
  const proto::Report report = SampleReport();
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  uint64_t reports = 1;
  for (const int schema : {4, 3, 2, 1}) {
    collector_->End(SIGTERM);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(JoinPath(folder_.path(), "reports.db").c_str(), &database), SQLITE_OK);
    const std::vector<const char*> steps = {kToSchema4, kToSchema3, kToSchema2, kToSchema1};
    for (size_t step = 0; step + static_cast<size_t>(schema) <= steps.size(); ++step) {
      ASSERT_EQ(sqlite3_exec(database, steps[step], nullptr, nullptr, nullptr), SQLITE_OK)
          << sqlite3_errmsg(database);
    }
    sqlite3_close(database);
    Start();
    ASSERT_EQ(UploadResult(Seal(SampleReport())), proto::UploadReply::STORED);
    const json groups = GetJson("/api/v1/groups").at("groups");
    ASSERT_EQ(groups.size(), 1u);
    EXPECT_EQ(groups[0].at("key"), report.fingerprint());
    EXPECT_EQ(groups[0].at("incidents"), ++reports);
    EXPECT_EQ(GetJson("/api/v1/usage").at("versions").size(), 0u);
  }
}

bool WriteText(const char* path, const std::string& text) {
  const ScopedFd fd(open(path, O_WRONLY | O_CLOEXEC));
  return fd.valid() &&
         write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// A tmpfs of 1 MiB over `path` in a mount namespace of the calling process's own; as an ordinary
// user in a user namespace.
bool MountSmallDisk(const std::string& path) {
  const uid_t uid = getuid();
  const gid_t gid = getgid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (!WriteText("/proc/self/setgroups", "deny") ||
        !WriteText("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1") ||
        !WriteText("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1")) {
      return false;
    }
  }
  return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", path.c_str(), "tmpfs", 0, "size=1m") == 0;
}

TEST(FullDisk, IsAnsweredWith503AndKeepsWhatWasAcknowledged) {
  const TemporaryFolder folder;
  CollectorProcess collector({"--listen", "127.0.0.1:0", "--data", folder.path()},
                             [&] { return MountSmallDisk(folder.path()); });
  if (collector.port() == 0 && WEXITSTATUS(collector.End(0)) == 99) {
    GTEST_SKIP() << "no tmpfs can be mounted here: neither root nor user namespaces";
  }
  ASSERT_NE(collector.port(), 0) << collector.Errors();
  httplib::Client client("127.0.0.1", collector.port());
  std::map<std::string, std::string> acknowledged;
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    const proto::Report report = SampleReport();
    const std::string body = Seal(report, Noise(i < 30 ? 100'000 : 3'000, i));
    const httplib::Result answer = PostReport(&client, body);
    ASSERT_TRUE(answer) << i;
    if (answer->status == 200) {
      acknowledged[report.id()] = body;
      continue;
    }
    ++refused;
    EXPECT_EQ(answer->status, 503) << answer->body;
    EXPECT_EQ(answer->get_header_value("Retry-After"), "30");
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(acknowledged.size(), 0u);
  const httplib::Result list = client.Get("/api/v1/reports");
  ASSERT_TRUE(list);
  EXPECT_EQ(json::parse(list->body).at("reports").size(), acknowledged.size());
  for (const auto& [id, body] : acknowledged) {
    EXPECT_TRUE(client.Get("/api/v1/reports/" + id + "/trace")->body == body) << id;
  }
}

}  // namespace
}  // namespace jankbox::collector
