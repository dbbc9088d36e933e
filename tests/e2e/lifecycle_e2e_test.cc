// Recordings that end while the process goes on: nothing of them stays, and no end takes long.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/scoped_fd.h"
#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using nlohmann::json;

class LifecycleTest : public EndToEndTest {
 protected:
  static json Parsed(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_status, 0) << "signal " << outcome.signal << ' ' << outcome.err;
    return json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  }
};

TEST_F(LifecycleTest, HundredStartsAndStopsLeaveNothing) {
  const json run = Parsed(RunProgram(
      {Binary("lifecycle_host"), JANKBOX_LIBRARY, Folder("reports"), "100", "1"}, {}, 120'000));
  ASSERT_TRUE(run.is_object());
  const json &early = run["early"], &late = run["late"], &end = run["end"];
  EXPECT_LE(late["rss_kib"], early["rss_kib"].get<int64_t>() + 1024) << run;
  EXPECT_LE(late["files"], early["files"]) << run;
  EXPECT_EQ(end["threads"], 1) << run;
}

// A name server that takes each question and answers none.
class SilentNameServer {
 public:
  static constexpr const char* kAddress = "127.66.66.66";

  bool Start() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(53);
    inet_pton(AF_INET, kAddress, &address.sin_addr);
    return socket_.valid() &&
           bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  bool WasAsked() const {
    char question[512];
    return recv(socket_.get(), question, sizeof(question), MSG_DONTWAIT) > 0;
  }

 private:
  ScopedFd socket_{socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(LifecycleTest, StopDoesNotWaitForANameServerThatDoesNotAnswer) {
  SilentNameServer server;
  if (!server.Start()) GTEST_SKIP() << "no right to answer at port 53";
  std::ofstream(Folder("resolv.conf")) << "nameserver " << SilentNameServer::kAddress << '\n';
  const Outcome outcome = RunProgram(
      {"unshare", "-m", "sh", "-c", "mount --bind \"$0\" /etc/resolv.conf || exit 77; exec \"$@\"",
       Folder("resolv.conf"), Binary("lifecycle_host"), JANKBOX_LIBRARY, Folder("reports"), "1",
       "15", "http://reports.example.org/"},
      {}, 60'000);
  if (outcome.exit_status == 77 || outcome.err.find("unshare") == 0) {
    GTEST_SKIP() << "no mount namespace here: " << outcome.err;
  }
  const json run = Parsed(outcome);
  ASSERT_TRUE(run.is_object());
  EXPECT_TRUE(server.WasAsked());
  EXPECT_LE(run["stop_ms"], 4000) << "2000 and what a busy machine adds; the resolver takes 10 s";
  EXPECT_EQ(Reports(Folder("reports")).size(), 1u);
}

}  // namespace
}  // namespace jankbox
