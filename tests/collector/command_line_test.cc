// The program as its user meets it: exit codes, the ready line, messages.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>

#include "tests/collector/collector_process.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

int ExitCode(int wait_status) { return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1; }

TEST(CommandLine, ReadyLineNamesUrlAndFolder) {
  const TemporaryFolder folder;
  CollectorProcess collector({"--listen", "127.0.0.1:0", "--data", folder.path() + "/new/deep"});
  EXPECT_EQ(collector.ready_line(), "jankbox-collector: listening on " + collector.url() +
                                        ", data in " + folder.path() + "/new/deep");
  EXPECT_EQ(httplib::Client("127.0.0.1", collector.port()).Get("/healthz")->body, "ok");
}

TEST(CommandLine, TermAndInterruptStopCleanly) {
  for (int signal : {SIGTERM, SIGINT}) {
    const TemporaryFolder folder;
    CollectorProcess collector({"--listen", "127.0.0.1:0", "--data", folder.path()});
    httplib::Client idle("127.0.0.1", collector.port());
    idle.set_keep_alive(true);
    ASSERT_TRUE(idle.Get("/healthz"));
    const int wait_status = collector.End(signal);
    EXPECT_EQ(ExitCode(wait_status), 0);
    EXPECT_EQ(collector.Errors(), "");
  }
}

TEST(CommandLine, TakenPortIsNamed) {
  const TemporaryFolder first_folder;
  const TemporaryFolder second_folder;
  CollectorProcess first({"--listen", "127.0.0.1:0", "--data", first_folder.path()});
  const std::string listen = "127.0.0.1:" + std::to_string(first.port());
  CollectorProcess second({"--listen", listen, "--data", second_folder.path()});
  ASSERT_EQ(second.ready_line(), "");
  EXPECT_EQ(ExitCode(second.End(0)), 1);
  const std::string errors = second.Errors();
  EXPECT_NE(errors.find("cannot listen on http://" + listen + ": Address already in use"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("--listen"), std::string::npos) << errors;
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
}

TEST(CommandLine, UnwritableFolderIsNamed) {
  const TemporaryFolder folder;
  std::vector<std::string> unwritable = {"/dev/null/reports", "/proc/reports"};
  if (geteuid() != 0) {
    ASSERT_EQ(chmod(folder.path().c_str(), 0500), 0);
    unwritable.push_back(folder.path());
  }
  for (const std::string& path : unwritable) {
    CollectorProcess collector({"--listen", "127.0.0.1:0", "--data", path});
    ASSERT_EQ(collector.ready_line(), "");
    EXPECT_EQ(ExitCode(collector.End(0)), 1);
    const std::string errors = collector.Errors();
    EXPECT_TRUE(errors.starts_with("jankbox-collector: cannot write to the data folder " + path))
        << errors;
    EXPECT_NE(errors.find("--data DIR"), std::string::npos) << errors;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
  }
}

TEST(CommandLine, OtherMachinesAreLetInOnlyOnRequest) {
  const TemporaryFolder folder;
  for (const char* listen : {"0.0.0.0:0", "[::]:0"}) {
    CollectorProcess refused({"--listen", listen, "--data", folder.path()});
    ASSERT_EQ(refused.ready_line(), "");
    EXPECT_EQ(ExitCode(refused.End(0)), 1);
    EXPECT_NE(refused.Errors().find("--allow-remote"), std::string::npos);
  }
  CollectorProcess allowed({"--listen", "0.0.0.0:0", "--data", folder.path(), "--allow-remote",
                            "--host-name", "reports.example"});
  ASSERT_NE(allowed.port(), 0) << allowed.Errors();
  httplib::Client client("127.0.0.1", allowed.port());
  EXPECT_EQ(client.Get("/healthz", {{"Host", "reports.example:80"}})->status, 200);
  EXPECT_EQ(client.Get("/healthz", {{"Host", "192.168.1.5"}})->status, 200);
  EXPECT_EQ(client.Get("/healthz", {{"Host", "evil.example"}})->status, 403);
}

TEST(CommandLine, BadUsageIs2) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--nonsense"},
                                                    {"--listen", "nowhere"},
                                                    {"--listen", "h:99999"},
                                                    {"--listen", ":80"},
                                                    {"--max-report-mib", "0"},
                                                    {"--max-report-mib", "65"},
                                                    {"extra"}}) {
    CollectorProcess collector(arguments);
    ASSERT_EQ(collector.ready_line(), "") << arguments.back();
    EXPECT_EQ(ExitCode(collector.End(0)), 2) << arguments.back();
    EXPECT_NE(collector.Errors(), "") << arguments.back();
  }
}

TEST(CommandLine, HelpAndVersionAreAnswered) {
  CollectorProcess help({"--help"});
  EXPECT_NE(help.ready_line(), "");
  EXPECT_EQ(ExitCode(help.End(0)), 0);
  CollectorProcess version({"--version"});
  EXPECT_TRUE(version.ready_line().starts_with("jankbox-collector ")) << version.ready_line();
  EXPECT_EQ(ExitCode(version.End(0)), 0);
}

TEST(CommandLine, MaxReportIsSettable) {
  const TemporaryFolder folder;
  CollectorProcess collector(
      {"--listen", "127.0.0.1:0", "--data", folder.path(), "--max-report-mib", "1"});
  httplib::Client client("127.0.0.1", collector.port());
  EXPECT_EQ(PostReport(&client, Seal(SampleReport(), Noise(1'000'000, 1)))->status, 200);
  EXPECT_EQ(PostReport(&client, Seal(SampleReport(), Noise(1'100'000, 1)))->status, 413);
}

}  // namespace
}  // namespace jankbox::collector
