#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/report_json.h"
#include "tests/tools/sealed_report.h"
#include "tests/tools/subprocess.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Finished List(const std::string& place, const Environment& added = {}) {
  return RunToEnd({JANKBOX_BINARY, "list", place}, added);
}

TEST(List, TableIsNewestFirstWithCauseAndRepeats) {
  TemporaryFolder folder;
  SealReportFile(folder.path(), SampleReport(1));
  SealReportFile(folder.path(), SampleReport(2));
  proto::Report other = SampleReport(3);
  other.set_kind(proto::ANR);
  other.set_duration_ns(5'000'000'000);
  other.set_ongoing(true);
  other.set_fingerprint("00000000000000000000000000000000");
  SealReportFile(folder.path(), other);

  const Finished finished = List(folder.path(), {{"TZ", "UTC"}});
  EXPECT_EQ(finished.exit_status(), 0);
  EXPECT_EQ(finished.err, "");
  std::vector<std::string> lines;
  std::istringstream text(finished.out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 4u) << finished.out;
  EXPECT_THAT(lines[0], testing::StartsWith("TIME"));
  EXPECT_THAT(lines[1], testing::AllOf(HasSubstr("2020-03-01 12:03"), HasSubstr("anr"),
                                       HasSubstr("5.0 s+"), HasSubstr("00000000  ")));
  EXPECT_THAT(lines[3], testing::AllOf(HasSubstr("2020-03-01 12:01"), HasSubstr("slow message"),
                                       HasSubstr("912 ms"), HasSubstr("running 98 %"),
                                       HasSubstr("gtk_builder_add_from_resource"),
                                       HasSubstr("3fa9c1d2 ×2"), HasSubstr("01960000-0001")));
}

TEST(List, EndOfAProcessHasAReasonInPlaceOfADuration) {
  TemporaryFolder folder;
  proto::Report report = SampleReport(1);
  report.set_kind(proto::EXIT);
  SealReportFile(folder.path(), report);
  report = SampleReport(2);
  report.set_kind(proto::EXIT);
  report.set_end_reason("unknown");
  SealReportFile(folder.path(), report);
  report = SampleReport(3);
  report.set_kind(proto::EXIT);
  report.set_end_reason("SIGABRT");
  SealReportFile(folder.path(), report);
  const Finished list = List(folder.path());
  EXPECT_THAT(list.out, testing::ContainsRegex("exit +-  .*ended without closing"));
  EXPECT_THAT(list.out, testing::ContainsRegex("exit +-  .*ended by SIGABRT"));
}

TEST(List, ReportOfTodayShowsItsTimeOnly) {
  TemporaryFolder folder;
  proto::Report report = SampleReport();
  const time_t now = time(nullptr);
  report.mutable_window()->set_to_realtime_ns(static_cast<uint64_t>(now) * 1'000'000'000);
  SealReportFile(folder.path(), report);
  tm utc{};
  gmtime_r(&now, &utc);
  char clock[16];
  strftime(clock, sizeof(clock), "%H:%M:%S", &utc);
  // At midnight the day may change before the command looks.
  EXPECT_THAT(List(folder.path(), {{"TZ", "UTC"}}).out,
              testing::AnyOf(HasSubstr("\n" + std::string(clock) + " "), HasSubstr(" 23:59 ")));
}

TEST(List, EmptyFolderIsNoError) {
  TemporaryFolder folder;
  const Finished table = List(folder.path());
  EXPECT_EQ(table.exit_status(), 0);
  EXPECT_EQ(table.out, "");
  EXPECT_EQ(table.err, "jankbox: no reports in " + folder.path() + "\n");
  const Finished as_json = RunToEnd({JANKBOX_BINARY, "list", "--json", folder.path()});
  EXPECT_EQ(as_json.exit_status(), 0);
  EXPECT_EQ(json::parse(as_json.out), json::array());
}

TEST(List, MissingFolderIsAnErrorUnlessItIsTheDefault) {
  TemporaryFolder folder;
  const Finished named = List(folder / "absent");
  EXPECT_EQ(named.exit_status(), 1);
  EXPECT_THAT(named.err, HasSubstr("No such file or directory"));
  const Finished by_default =
      RunToEnd({JANKBOX_BINARY, "list"}, {{"JANKBOX_DIR", folder / "absent"}});
  EXPECT_EQ(by_default.exit_status(), 0);
  EXPECT_THAT(by_default.err, HasSubstr("no reports in " + (folder / "absent")));
}

TEST(List, DefaultFolderFollowsTheEnvironment) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "jankbox");
  std::filesystem::create_directories(folder / ".local/state/jankbox");
  SealReportFile(folder / "jankbox", SampleReport(1));
  SealReportFile(folder / ".local/state/jankbox", SampleReport(2));
  EXPECT_THAT(RunToEnd({JANKBOX_BINARY, "list"}, {{"XDG_STATE_HOME", folder.path()}}).out,
              HasSubstr("01960000-0001"));
  EXPECT_THAT(
      RunToEnd({JANKBOX_BINARY, "list"}, {{"XDG_STATE_HOME", ""}, {"HOME", folder.path()}}).out,
      HasSubstr("01960000-0002"));
}

TEST(List, JsonIsTheReportsOwn) {
  TemporaryFolder folder;
  const proto::Report report = SampleReport();
  SealReportFile(folder.path(), report);
  const Finished finished = RunToEnd({JANKBOX_BINARY, "list", "--json", folder.path()});
  EXPECT_EQ(json::parse(finished.out), json::array({ReportToJson(report)}));
}

TEST(List, LaterRevisionReplacesAnEarlierOne) {
  TemporaryFolder folder;
  proto::Report report = SampleReport();
  WriteFile(folder / "a.pftrace.zst", SealReport(report, "trace"));
  report.set_revision(2);
  report.set_kind(proto::ANR);
  WriteFile(folder / "b.pftrace.zst", SealReport(report, "trace"));
  const json listed = json::parse(RunToEnd({JANKBOX_BINARY, "list", "--json", folder.path()}).out);
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].at("kind"), "anr");
}

// Everything that a folder which anybody may write could hold.
void FillWithHostileFiles(const TemporaryFolder& folder) {
  const std::string good = SealReport(SampleReport(), "trace");
  WriteFile(folder / "empty.pftrace.zst", "");
  WriteFile(folder / "garbage.pftrace.zst", std::string(5000, '\xfd'));
  WriteFile(folder / "cut.pftrace.zst", good.substr(0, good.size() - 7));
  WriteFile(folder / "esc\x1b[31m.pftrace.zst", "x");
  WriteFile(folder / "notes.txt", "not a report");
  WriteFile(folder / ".tmp-1-2-x.pftrace.zst", "half");
  ASSERT_EQ(mkfifo((folder / "fifo.pftrace.zst").c_str(), 0600), 0);
  ASSERT_EQ(mkdir((folder / "dir.pftrace.zst").c_str(), 0700), 0);
  ASSERT_EQ(symlink("/etc/passwd", (folder / "link.pftrace.zst").c_str()), 0);
  ASSERT_EQ(symlink("link2.pftrace.zst", (folder / "link2.pftrace.zst").c_str()), 0);
  WriteFile(folder / "huge.pftrace.zst", "");
  ASSERT_EQ(truncate((folder / "huge.pftrace.zst").c_str(), off_t{1} << 36), 0);
}

TEST(List, HostileFilesAreNamedAndPassedOver) {
  TemporaryFolder folder;
  FillWithHostileFiles(folder);
  proto::Report report = SampleReport();
  report.set_process("\x1b]0;title\x07\x1b[2J");
  SealReportFile(folder.path(), report);
  const Finished finished = List(folder.path());
  EXPECT_EQ(finished.exit_status(), 0);
  EXPECT_THAT(finished.out, HasSubstr("01960000-0001"));
  for (const char* name :
       {"empty", "garbage", "cut", "esc?", "fifo", "dir", "link", "link2", "huge"}) {
    EXPECT_THAT(finished.err, HasSubstr(std::string("/") + name)) << name;
  }
  EXPECT_THAT(finished.err, Not(HasSubstr("notes.txt")));
  EXPECT_THAT(finished.err, Not(HasSubstr(".tmp-")));
  EXPECT_THAT(finished.out + finished.err, Not(HasSubstr("\x1b")));
}

TEST(List, OnlyDamagedFilesIsAFailure) {
  TemporaryFolder folder;
  WriteFile(folder / "garbage.pftrace.zst", "x");
  const Finished finished = RunToEnd({JANKBOX_BINARY, "list", "--json", folder.path()});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_EQ(json::parse(finished.out), json::array());
}

TEST(List, ColourOnlyOnATerminalThatWantsIt) {
  TemporaryFolder folder;
  SealReportFile(folder.path(), SampleReport());
  const std::vector<std::string> command = {JANKBOX_BINARY, "list", folder.path()};
  const Environment terminal = {{"TERM", "xterm"}};
  EXPECT_THAT(RunOnTerminal(command, terminal).out, HasSubstr("\x1b[1m"));
  EXPECT_THAT(RunToEnd(command, terminal).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(RunOnTerminal(command, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}).out,
              Not(HasSubstr("\x1b")));
  EXPECT_THAT(RunOnTerminal(command, {{"TERM", "dumb"}}).out, Not(HasSubstr("\x1b")));
}

TEST(List, WidthFollowsColumnsAndTheTerminal) {
  TemporaryFolder folder;
  SealReportFile(folder.path(), SampleReport());
  const auto widest = [](const Finished& finished) {
    size_t columns = 0;
    std::istringstream lines(finished.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      columns = std::max(columns, DisplayWidth(line));
    }
    return columns;
  };
  EXPECT_LE(widest(List(folder.path(), {{"COLUMNS", "70"}})), 70u);
  EXPECT_GT(widest(List(folder.path())), 100u);
  const std::vector<std::string> command = {JANKBOX_BINARY, "list", folder.path()};
  EXPECT_LE(widest(RunOnTerminal(command, {{"NO_COLOR", "1"}})), 100u);
}

TEST(Show, FindsByFileByIdAndByItsBeginning) {
  TemporaryFolder folder;
  const std::string file = SealReportFile(folder.path(), SampleReport(1));
  SealReportFile(folder.path(), SampleReport(2));
  for (const std::string& name : {file, std::string("01960000-0001"), SampleReport(1).id()}) {
    const Finished finished =
        RunToEnd({JANKBOX_BINARY, "show", "--json", "--dir", folder.path(), name});
    EXPECT_EQ(finished.exit_status(), 0) << finished.err;
    EXPECT_EQ(json::parse(finished.out), ReportToJson(SampleReport(1)));
  }
  ASSERT_EQ(symlink(file.c_str(), (folder / "by-link").c_str()), 0);
  EXPECT_EQ(RunToEnd({JANKBOX_BINARY, "show", folder / "by-link"}).exit_status(), 0);
}

TEST(Show, AmbiguousShortAndUnknownIdsAreErrors) {
  TemporaryFolder folder;
  SealReportFile(folder.path(), SampleReport(1));
  SealReportFile(folder.path(), SampleReport(2));
  const auto error = [&](const char* id) {
    const Finished finished = RunToEnd({JANKBOX_BINARY, "show", "--dir", folder.path(), id});
    EXPECT_EQ(finished.exit_status(), 1);
    EXPECT_EQ(finished.out, "");
    return finished.err;
  };
  EXPECT_THAT(error("01960000"), HasSubstr("2 reports have ids that start so"));
  EXPECT_THAT(error("019"), HasSubstr("at least 4 characters"));
  EXPECT_THAT(error("ffffffff"), HasSubstr("no report with that id"));
  EXPECT_THAT(error("no/such.pftrace.zst"), HasSubstr("No such file"));
}

TEST(Show, CollectorThatDoesNotAnswerIsOneError) {
  const Finished finished = RunToEnd({JANKBOX_BINARY, "list", "http://127.0.0.1:1"});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, testing::StartsWith("jankbox: http://127.0.0.1:1/"));
}

}  // namespace
}  // namespace jankbox::tools
