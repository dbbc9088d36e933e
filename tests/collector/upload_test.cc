// Uploads and queries against the real server.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <thread>

#include "base/scoped_fd.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;
using UploadTest = CollectorTest;

TEST_F(UploadTest, StoredReportIsListedAndComesBackByteForByte) {
  const proto::Report report = SampleReport();
  const std::string body = Seal(report, Noise(100'000, 1));
  const httplib::Result answer = Upload(body);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->status, 200) << answer->body;
  proto::UploadReply reply;
  ASSERT_TRUE(reply.ParseFromString(answer->body));
  EXPECT_EQ(reply.id(), report.id());
  EXPECT_EQ(reply.revision(), 1u);
  EXPECT_EQ(reply.result(), proto::UploadReply::STORED);

  const json reports = GetJson("/api/v1/reports").at("reports");
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].at("id"), report.id());
  EXPECT_EQ(reports[0].at("kind"), "anr");
  EXPECT_EQ(reports[0].at("duration_ms"), 6000.0);
  EXPECT_EQ(reports[0].at("trace_bytes"), body.size());
  EXPECT_EQ(reports[0].at("received_at").get<std::string>().size(),
            std::string("2026-03-01T12:00:00.123Z").size());
  EXPECT_EQ(GetJson("/api/v1/reports/" + report.id()), reports[0]);

  const httplib::Result trace = NewClient().Get("/api/v1/reports/" + report.id() + "/trace");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->status, 200);
  EXPECT_TRUE(trace->body == body);
  EXPECT_EQ(trace->get_header_value("Content-Type"), "application/x-perfetto-trace");
  EXPECT_EQ(trace->get_header_value("Content-Disposition"),
            "attachment; filename=\"" + report.id() + ".pftrace.zst\"");
}

TEST_F(UploadTest, SameReportTwiceIsListedOnce) {
  const std::string body = Seal(SampleReport());
  EXPECT_EQ(UploadResult(body), proto::UploadReply::STORED);
  EXPECT_EQ(UploadResult(body), proto::UploadReply::DUPLICATE);
  EXPECT_EQ(GetJson("/api/v1/reports").at("reports").size(), 1u);
  EXPECT_EQ(BlobNames().size(), 1u);
}

TEST_F(UploadTest, LaterRevisionKeepsTheThreadsOfAnAnr) {
  proto::Report report = SampleReport(1);
  report.set_anr_limit_ns(5'000'000'000);
  report.add_threads()->set_name("main");
  report.add_threads()->set_name("worker");
  EXPECT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  proto::Report dead = SampleReport(2);
  dead.set_id(report.id());
  dead.set_end_reason("SIGKILL");
  // As an SDK of 0.1 sealed it, which had uploaded the first one.
  dead.set_kind(proto::RECOVERED);
  EXPECT_EQ(UploadResult(Seal(dead)), proto::UploadReply::STORED);
  const json stored = GetJson("/api/v1/reports/" + report.id());
  EXPECT_EQ(stored.at("revision"), 2);
  EXPECT_EQ(stored.at("kind"), "anr");
  EXPECT_EQ(stored.at("end_reason"), "SIGKILL");
  ASSERT_EQ(stored.at("threads").size(), 2u);
  EXPECT_EQ(stored.at("anr_limit_ms"), 5000.0);
  EXPECT_EQ(GetJson("/api/v1/groups").at("groups").at(0).at("kind"), "anr");
}

TEST_F(UploadTest, LaterRevisionReplacesAndEarlierOneIsSuperseded) {
  proto::Report report = SampleReport(1);
  const std::string first = Seal(report, "first");
  report.set_revision(3);
  report.set_duration_ns(9'000'000'000);
  const std::string third = Seal(report, "third");
  EXPECT_EQ(UploadResult(first), proto::UploadReply::STORED);
  EXPECT_EQ(UploadResult(third), proto::UploadReply::STORED);
  EXPECT_EQ(UploadResult(first), proto::UploadReply::SUPERSEDED);

  const json reports = GetJson("/api/v1/reports").at("reports");
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].at("revision"), 3);
  EXPECT_EQ(reports[0].at("duration_ms"), 9000.0);
  EXPECT_EQ(NewClient().Get("/api/v1/reports/" + report.id() + "/trace")->body, third);
  EXPECT_EQ(BlobNames(), std::vector<std::string>{report.id() + ".3.pftrace.zst"});
}

TEST_F(UploadTest, SameRevisionWithOtherContentIsAConflict) {
  const proto::Report report = SampleReport();
  const std::string body = Seal(report, "one");
  EXPECT_EQ(UploadResult(body), proto::UploadReply::STORED);
  const httplib::Result answer = Upload(Seal(report, "two"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 409);
  EXPECT_TRUE(json::parse(answer->body).contains("error"));
  EXPECT_EQ(NewClient().Get("/api/v1/reports/" + report.id() + "/trace")->body, body);
}

TEST_F(UploadTest, LostTraceIsTakenAgain) {
  const proto::Report report = SampleReport();
  const std::string body = Seal(report);
  EXPECT_EQ(UploadResult(body), proto::UploadReply::STORED);
  ASSERT_EQ(unlink((folder_.path() + "/blobs/" + BlobNames().at(0)).c_str()), 0);
  EXPECT_EQ(NewClient().Get("/api/v1/reports/" + report.id() + "/trace")->status, 404);
  EXPECT_EQ(UploadResult(body), proto::UploadReply::STORED);
  EXPECT_EQ(NewClient().Get("/api/v1/reports/" + report.id() + "/trace")->body, body);
}

TEST_F(UploadTest, ConcurrentIdenticalUploadsAreListedOnce) {
  for (int round = 0; round < 5; ++round) {
    const std::string body = Seal(SampleReport(), Noise(20'000, round));
    std::atomic<int> stored{0};
    std::atomic<int> duplicate{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const proto::UploadReply::Result result = UploadResult(body);
        if (result == proto::UploadReply::STORED) ++stored;
        if (result == proto::UploadReply::DUPLICATE) ++duplicate;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(stored, 1);
    EXPECT_EQ(duplicate, 7);
    EXPECT_EQ(GetJson("/api/v1/reports").at("reports").size(), static_cast<size_t>(round + 1));
  }
}

TEST_F(UploadTest, ConcurrentRevisionsLeaveTheLastOne) {
  proto::Report report = SampleReport();
  std::vector<std::string> bodies;
  for (uint32_t revision = 1; revision <= 8; ++revision) {
    report.set_revision(revision);
    bodies.push_back(Seal(report, Noise(5'000, revision)));
  }
  std::vector<std::thread> threads;
  for (const std::string& body : bodies) {
    threads.emplace_back(
        [&] { EXPECT_NE(UploadResult(body), proto::UploadReply::RESULT_UNSPECIFIED); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(GetJson("/api/v1/reports/" + report.id()).at("revision"), 8);
  EXPECT_EQ(NewClient().Get("/api/v1/reports/" + report.id() + "/trace")->body, bodies.back());
  EXPECT_EQ(BlobNames().size(), 1u);
}

TEST_F(UploadTest, ListFiltersAndLimits) {
  proto::Report jank = SampleReport();
  jank.set_kind(proto::JANK);
  jank.set_fingerprint("other' OR '1'='1");
  ASSERT_EQ(UploadResult(Seal(jank)), proto::UploadReply::STORED);
  proto::Report last;
  for (int i = 0; i < 3; ++i) {
    last = SampleReport();
    ASSERT_EQ(UploadResult(Seal(last)), proto::UploadReply::STORED);
  }
  EXPECT_EQ(GetJson("/api/v1/reports").at("reports").size(), 4u);
  const json newest = GetJson("/api/v1/reports?limit=1").at("reports");
  ASSERT_EQ(newest.size(), 1u);
  EXPECT_EQ(newest[0].at("id"), last.id());
  EXPECT_EQ(GetJson("/api/v1/reports?kind=jank").at("reports").size(), 1u);
  EXPECT_EQ(GetJson("/api/v1/reports?fingerprint=" + last.fingerprint()).at("reports").size(), 3u);
  const json quoted =
      GetJson("/api/v1/reports?fingerprint=other%27%20OR%20%271%27%3D%271").at("reports");
  ASSERT_EQ(quoted.size(), 1u);
  EXPECT_EQ(quoted[0].at("id"), jank.id());
  EXPECT_EQ(GetJson("/api/v1/reports?fingerprint=%27%20OR%201%3D1--").at("reports").size(), 0u);
  for (const char* bad : {"limit=-1", "limit=x", "limit=99999999999999999999", "kind=nonsense"}) {
    EXPECT_EQ(NewClient().Get(std::string("/api/v1/reports?") + bad)->status, 400) << bad;
  }
}

TEST_F(UploadTest, GroupsSumUpTheirReports) {
  for (uint64_t seconds : {1, 2, 9}) {
    proto::Report report = SampleReport();
    report.set_duration_ns(seconds * 1'000'000'000);
    report.set_process(seconds == 9 ? "viewer" : "gallery");
    ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  }
  proto::Report manual = SampleReport();
  manual.set_kind(proto::MANUAL);
  manual.clear_fingerprint();
  manual.clear_top_frames();
  manual.set_what("support case");
  manual.set_duration_ns(0);
  ASSERT_EQ(UploadResult(Seal(manual)), proto::UploadReply::STORED);

  const json groups = GetJson("/api/v1/groups").at("groups");
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].at("incidents"), 3);
  EXPECT_EQ(groups[0].at("kind"), "anr");
  EXPECT_EQ(groups[0].at("worst_ms"), 9000.0);
  EXPECT_EQ(groups[0].at("total_ms"), 12000.0);
  EXPECT_EQ(groups[0].at("p50_ms"), 2000.0);
  EXPECT_EQ(groups[0].at("title"), "LoadThumbnails");
  EXPECT_EQ(groups[0].at("cause"), "waited for a lock held by db-writer");
  EXPECT_EQ(groups[0].at("processes"), json({"gallery", "viewer"}));
  EXPECT_LE(groups[0].at("first_seen"), groups[0].at("last_seen"));
  EXPECT_EQ(
      GetJson("/api/v1/reports/" + groups[0].at("worst_id").get<std::string>()).at("duration_ms"),
      9000.0);
  EXPECT_EQ(groups[1].at("title"), "support case");
  EXPECT_EQ(groups[1].at("fingerprint"), "");
  EXPECT_EQ(groups[1].at("key"), "");
}

// A report of one of two builds; without `function` of a stripped one.
proto::Report ReportOfBuild(const std::string& build, const std::string& function) {
  proto::Report report = SampleReport();
  report.set_fingerprint("exact key of build " + build);
  proto::Identity* identity = report.mutable_identity();
  identity->set_exact_version(1);
  identity->set_app("gallery");
  identity->set_cause("lock");
  identity->set_message("MainLoop");
  identity->set_blamed_function(function.empty() ? "libgallery.so+0x1200" : function);
  proto::Frame* frame = identity->add_own_frames();
  frame->set_function(function);
  frame->set_module("libgallery.so");
  return report;
}

TEST_F(UploadTest, BuildsAreOneGroupAndNamelessFunctionsAProvisionalOne) {
  for (const char* build : {"1", "2"}) {
    const proto::Report report = ReportOfBuild(build, "LoadThumbnails");
    ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  }
  const proto::Report stripped = ReportOfBuild("3", "");
  ASSERT_EQ(UploadResult(Seal(stripped)), proto::UploadReply::STORED);
  ASSERT_EQ(UploadResult(Seal(SampleReport())), proto::UploadReply::STORED);  // an older report

  const json groups = GetJson("/api/v1/groups").at("groups");
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].at("incidents"), 2);
  EXPECT_EQ(groups[0].at("title"), "LoadThumbnails");
  EXPECT_EQ(groups[0].at("provisional"), false);
  const auto provisional = std::find_if(groups.begin(), groups.end(),
                                        [](const json& group) { return group.at("provisional"); });
  ASSERT_NE(provisional, groups.end());
  EXPECT_EQ(provisional->at("incidents"), 1);
  EXPECT_EQ(provisional->at("title"), "libgallery.so+0x1200");
  const std::string key = provisional->at("key");
  const json reports = GetJson("/api/v1/reports?group=" + key).at("reports");
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].at("id"), stripped.id());
  EXPECT_EQ(reports[0].at("identity").at("group_key"), key);
  EXPECT_EQ(reports[0].at("identity").at("provisional"), true);
  EXPECT_EQ(GetJson("/api/v1/reports?group=" + SampleReport().fingerprint()).at("reports").size(),
            1u)
      << "the key of an older report";
}

// The sockets of `pid` that are connected to someone, as descriptors of this process.
std::vector<ScopedFd> ConnectedSockets(pid_t pid) {
  std::vector<ScopedFd> sockets;
  const ScopedFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    const int there = std::stoi(entry.path().filename());
    ScopedFd here(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), there, 0)));
    sockaddr_in peer{};
    socklen_t size = sizeof(peer);
    if (getpeername(here.get(), reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        peer.sin_family == AF_INET) {
      sockets.push_back(std::move(here));
    }
  }
  return sockets;
}

// Without TCP_NODELAY each answer waits 40 ms for the client's delayed ACK.
TEST_F(UploadTest, AnswersDoNotWaitForDelayedAcks) {
  httplib::Client client = NewClient();
  ASSERT_TRUE(PostReport(&client, Seal(SampleReport(), Noise(30'000, 1))));
  const std::vector<ScopedFd> sockets = ConnectedSockets(collector_->pid());
  ASSERT_EQ(sockets.size(), 1u);
  int no_delay = 0;
  socklen_t size = sizeof(no_delay);
  ASSERT_EQ(getsockopt(sockets[0].get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
  EXPECT_EQ(no_delay, 1);
}

}  // namespace
}  // namespace jankbox::collector
