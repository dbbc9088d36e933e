// Causes outside of the program, planted with real servers, children, cgroups and load: the report
// of each names it in words.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Environment = std::map<std::string, std::string>;

constexpr char kBusName[] = "org.jankbox.Sleeper";

class CausesE2eTest : public EndToEndTest {
 protected:
  static bool Has(const std::string& program) {
    return RunProgram({"sh", "-c", "command -v " + program}).exit_status == 0;
  }
  static std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }
  static std::string Pid(const Program& program) { return std::to_string(program.pid()); }

  // waits_for_others with the agent, with `before` in front of it. On a busy machine the recorder
  // would come later than the planted wait.
  std::vector<std::string> Command(const std::vector<std::string>& arguments,
                                   const std::vector<std::string>& before = {}) {
    folder_ = Folder("spool" + std::to_string(++spools_));
    std::vector<std::string> argv = before;
    const std::string command[] = {Binary("jankbox"), "run", "--startup",
                                   "--slow-ms",       "600", "--dir",
                                   folder_,           "--",  Binary("waits_for_others")};
    argv.insert(argv.end(), std::begin(command), std::end(command));
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
  }

  // Finds the report of the planted wait.
  void Judge(const Outcome& run) {
    ASSERT_EQ(run.exit_status, 0) << run.out << run.err;
    bool found = false;
    for (const proto::Report& report : Reports(folder_)) {
      for (const proto::Frame& frame : report.top_frames()) {
        if (frame.function() != "planted_wait") continue;
        report_ = report;
        found = true;
      }
    }
    ASSERT_TRUE(found) << run.err;
    printf("%s\n", report_.verdict().summary().c_str());
    EXPECT_EQ(Sum(report_.verdict()), report_.duration_ns());
  }

  void Plant(const std::vector<std::string>& arguments, const Environment& more = {},
             const std::vector<std::string>& before = {}) {
    Environment environment = ForeignEnvironment();
    environment.insert(more.begin(), more.end());
    Judge(RunProgram(Command(arguments, before), environment, 120000));
  }

  // Most of the time was a wait for another process, and the sentence says for which.
  void ExpectPeer(const std::string& phrase) {
    EXPECT_THAT(report_.verdict().summary(), HasSubstr(" % waiting for " + phrase));
    EXPECT_GT(2 * report_.verdict().ipc_ns(), report_.duration_ns());
  }

  // A display of this test's own; its number is what Xvfb says.
  std::unique_ptr<Program> StartXvfb(Environment* environment) {
    auto server = std::make_unique<Program>(std::vector<std::string>{
        "Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"});
    EXPECT_TRUE(server->WaitForOutput("\n", 30000));
    (*environment)["DISPLAY"] = ":" + FirstLine(server->Output());
    return server;
  }

  // A session bus of this test's own, and a peer that answers its calls after 800 ms.
  void StartBus(Environment* environment) {
    bus_ = std::make_unique<Program>(
        std::vector<std::string>{"dbus-daemon", "--session", "--nofork", "--print-address=1",
                                 "--address=unix:path=" + Folder("session-bus")});
    ASSERT_TRUE(bus_->WaitForOutput("\n", 30000));
    (*environment)["DBUS_SESSION_BUS_ADDRESS"] = FirstLine(bus_->Output());
    peer_ = std::make_unique<Program>(
        std::vector<std::string>{Binary("waits_for_others"), "serve", kBusName}, *environment);
    ASSERT_TRUE(peer_->WaitForOutput("serving", 30000));
  }

  proto::Report report_;
  std::string folder_;
  int spools_ = 0;
  std::unique_ptr<Program> bus_;
  std::unique_ptr<Program> peer_;
};

TEST_F(CausesE2eTest, StoppedXServerIsNamed) {
  if (!Has("Xvfb")) GTEST_SKIP() << "Xvfb is not installed: ./dev setup";
  Environment environment;
  const std::unique_ptr<Program> server = StartXvfb(&environment);
  const std::string phrase = "the X server (Xvfb, pid " + Pid(*server) + ", stopped)";
  ASSERT_NO_FATAL_FAILURE(Plant({"x11", Pid(*server)}, environment));
  ExpectPeer(phrase);
  const std::string fingerprint = report_.fingerprint();
  // As Qt does: the wait is for another thread, which reads the connection.
  ASSERT_NO_FATAL_FAILURE(Plant({"x11_thread", Pid(*server)}, environment));
  ExpectPeer(phrase);
  EXPECT_EQ(report_.fingerprint(), fingerprint) << "the same path, and the same cause";
}

TEST_F(CausesE2eTest, FingerprintIsTheSameWithAnotherServer) {
  if (!Has("Xvfb")) GTEST_SKIP() << "Xvfb is not installed: ./dev setup";
  std::vector<std::string> fingerprints;
  for (int run = 0; run < 2; ++run) {
    Environment environment;
    const std::unique_ptr<Program> server = StartXvfb(&environment);
    ASSERT_NO_FATAL_FAILURE(Plant({"x11", Pid(*server)}, environment));
    fingerprints.push_back(report_.fingerprint());
  }
  EXPECT_EQ(fingerprints[0], fingerprints[1]);
}

TEST_F(CausesE2eTest, StoppedCompositorIsNamed) {
  if (!Has("weston")) GTEST_SKIP() << "weston is not installed: ./dev setup";
  const Environment environment = {{"XDG_RUNTIME_DIR", runtime_}, {"WAYLAND_DISPLAY", "screen"}};
  Program compositor(
      {"weston", "--backend=headless-backend.so", "--socket=screen", "--idle-time=0"}, environment);
  const std::string socket = runtime_ + "/screen";
  for (int tries = 0; access(socket.c_str(), F_OK) != 0 && tries < 300; ++tries) usleep(100'000);
  ASSERT_EQ(access(socket.c_str(), F_OK), 0) << "weston does not listen";
  ASSERT_NO_FATAL_FAILURE(Plant({"wayland", Pid(compositor)}, environment));
  ExpectPeer("the Wayland compositor (weston, pid " + Pid(compositor) + ", stopped)");
}

TEST_F(CausesE2eTest, PeerOfABusCallIsNamedByItsBusName) {
  if (!Has("dbus-daemon")) GTEST_SKIP() << "dbus-daemon is not installed: ./dev setup";
  Environment environment;
  ASSERT_NO_FATAL_FAILURE(StartBus(&environment));
  for (const char* library : {"gdbus", "libdbus"}) {
    ASSERT_NO_FATAL_FAILURE(Plant({library, kBusName}, environment));
    ExpectPeer(std::string("the D-Bus peer ") + kBusName + ", in ");
  }
}

TEST_F(CausesE2eTest, ChildIsNamedByItsPipeAndByTheWaitForItsEnd) {
  for (const char* how : {"pipe", "child"}) {
    ASSERT_NO_FATAL_FAILURE(Plant({how}));
    EXPECT_THAT(report_.verdict().summary(),
                ::testing::ContainsRegex("waiting for its child .sh, pid [0-9]+.,"));
    EXPECT_GT(2 * report_.verdict().ipc_ns(), report_.duration_ns());
  }
}

// A cgroup with a tenth of a CPU, in the hierarchy that has the controller.
class QuotaGroup {
 public:
  QuotaGroup() : name_("jankbox-quota-" + std::to_string(getpid())) {
    if (Make("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "10000")) return;
    Make("/sys/fs/cgroup", "cpu.max", "10000 100000");
  }
  ~QuotaGroup() {
    // Its last process is gone a little after it was waited for.
    for (int tries = 0; made_ && rmdir(folder_.c_str()) != 0 && tries < 100; ++tries)
      usleep(10'000);
  }
  QuotaGroup(const QuotaGroup&) = delete;
  QuotaGroup& operator=(const QuotaGroup&) = delete;

  bool made() const { return made_; }
  const std::string& name() const { return name_; }
  // In front of a program: it runs in the cgroup.
  std::vector<std::string> Enter() const {
    return {"sh", "-c", "echo $$ > " + folder_ + "/cgroup.procs && exec \"$@\"", "sh"};
  }

 private:
  bool Make(const std::string& mount, const char* file, const char* quota) {
    folder_ = mount + "/" + name_;
    if (mkdir(folder_.c_str(), 0755) != 0) return false;
    const std::string path = folder_ + "/" + file;
    std::ofstream out(path);
    made_ = access(path.c_str(), W_OK) == 0 && (out << quota).flush().good();
    if (!made_) rmdir(folder_.c_str());
    return made_;
  }

  const std::string name_;
  std::string folder_;
  bool made_ = false;
};

TEST_F(CausesE2eTest, QuotaOfACgroupIsNamedInsteadOfBystanders) {
  const QuotaGroup group;
  if (!group.made()) GTEST_SKIP() << "no cgroup with a CPU quota can be made here";
  std::vector<std::string> fingerprints;
  for (int run = 0; run < 2; ++run) {
    ASSERT_NO_FATAL_FAILURE(Plant({"busy", "150"}, {}, group.Enter()));
    const proto::Verdict& verdict = report_.verdict();
    EXPECT_THAT(verdict.summary(),
                AllOf(HasSubstr("throttled by the CPU quota of cgroup " + group.name() +
                                " (10 % of one CPU): "),
                      HasSubstr(" ms (estimate)"), Not(HasSubstr("others had"))));
    EXPECT_GT(verdict.runnable_ns(), report_.duration_ns() / 2);
    EXPECT_EQ(report_.held_ns(), 0u);
    fingerprints.push_back(report_.fingerprint());
  }
  EXPECT_EQ(fingerprints[0], fingerprints[1]);
}

TEST_F(CausesE2eTest, OverloadedMachineIsNoStop) {
  Program program(Command({"busy", "300"}), ForeignEnvironment());
  ASSERT_TRUE(program.WaitForOutput("ready", 120000));  // the recorder has started
  const unsigned loops = 3 * std::max(std::thread::hardware_concurrency(), 1u);
  std::vector<std::unique_ptr<Program>> busy;
  for (unsigned i = 0; i < loops; ++i) {
    busy.push_back(
        std::make_unique<Program>(std::vector<std::string>{"sh", "-c", "while :; do :; done"}));
  }
  EXPECT_TRUE(program.WaitForOutput("waited", 120000));
  for (const auto& loop : busy) loop->Signal(SIGKILL);  // the report needs a CPU, too
  ASSERT_NO_FATAL_FAILURE(Judge(program.Wait(60000)));
  EXPECT_EQ(report_.held_ns(), 0u);
  bool overload_noted = false;
  for (const std::string& note : report_.notes()) {
    EXPECT_THAT(note, Not(HasSubstr("the process was stopped")));
    overload_noted = overload_noted || note.find("The machine was overloaded") == 0;
  }
  EXPECT_GT(report_.verdict().runnable_ns(), report_.duration_ns() / 2);
  if (access("/proc/pressure/cpu", R_OK) != 0) GTEST_SKIP() << "the kernel has no /proc/pressure";
  EXPECT_TRUE(overload_noted);
  EXPECT_THAT(report_.verdict().summary(),
              HasSubstr(" % waiting for a CPU of an overloaded machine"));
}

}  // namespace
}  // namespace jankbox
