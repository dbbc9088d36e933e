#include "tools/doctor/doctor_command.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::map<std::string, json> Checks(const json& doctor) {
  std::map<std::string, json> checks;
  for (const json& check : doctor.at("checks")) checks[check.at("name")] = check;
  return checks;
}

TEST(Doctor, JsonHasEveryCheckWithItsReasonAndFix) {
  TemporaryFolder folder;
  const Finished finished = RunToEnd({JANKBOX_BINARY, "doctor", "--json", "--dir", folder.path()},
                                     {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  const json doctor = json::parse(finished.out);
  EXPECT_EQ(doctor.at("dir"), folder.path());
  const std::map<std::string, json> checks = Checks(doctor);
  for (const char* name :
       {"kernel", "page_size", "clock_source", "boottime", "tracefs", "perf", "perf_mlock",
        "schedstat", "task_syscall", "agent", "hooks", "recorder", "libunwind", "libelf",
        "libtracefs", "libcurl", "ring_place", "spool", "hooks"}) {
    ASSERT_EQ(checks.count(name), 1u) << name;
    const json& check = checks.at(name);
    EXPECT_NE(check.at("why"), "") << name;
    EXPECT_NE(check.at("found"), "") << name;
    EXPECT_EQ(check.at("state") == "ok", check.at("fix") == "") << name;
    EXPECT_EQ(check.at("mend"), check.at("fix")) << name << ": the name before 0.2";
  }
  EXPECT_EQ(doctor.at("ok"), finished.exit_status() == 0);
}

TEST(Doctor, MissingAgentIsEssential) {
  TemporaryFolder folder;
  const Finished finished = RunToEnd({JANKBOX_BINARY, "doctor", "--json", "--dir", folder.path()},
                                     {{"JANKBOX_AGENT", folder / "no-such.so"}});
  const json doctor = json::parse(finished.out);
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_EQ(doctor.at("ok"), false);
  EXPECT_EQ(Checks(doctor).at("agent").at("state"), "missing");
}

TEST(Doctor, AgentThatCannotBePreloadedIsReported) {
  TemporaryFolder folder;
  WriteFile(folder / "agent.so", "no library");
  const Finished finished = RunToEnd({JANKBOX_BINARY, "doctor", "--dir", folder.path()},
                                     {{"JANKBOX_AGENT", folder / "agent.so"}});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.out, HasSubstr("cannot be preloaded"));
}

TEST(Doctor, FolderThatCannotBeWrittenIsEssentialAndHasAFix) {
  const Finished finished = RunToEnd({JANKBOX_BINARY, "doctor", "--json", "--dir", "/proc/no/such"},
                                     {{"JANKBOX_AGENT", JANKBOX_WITNESS_AGENT}});
  EXPECT_EQ(finished.exit_status(), 1);
  const json spool = Checks(json::parse(finished.out)).at("spool");
  EXPECT_EQ(spool.at("state"), "missing");
  EXPECT_THAT(spool.at("fix"), HasSubstr("--dir"));
}

TEST(Doctor, LeavesTheFolderAsItWas) {
  TemporaryFolder folder;
  RunToEnd({JANKBOX_BINARY, "doctor", "--dir", folder / "reports"});
  EXPECT_NE(access((folder / "reports").c_str(), F_OK), 0);
}

TEST(RenderChecks, ProblemIsPrintedWithReasonAndFix) {
  const std::string text =
      RenderChecks({},
                   {{"clock", true, CheckState::kOk, "fine", "times", ""},
                    {"perf", false, CheckState::kLimited, "refused", "stacks", "allow it"}},
                   false);
  EXPECT_THAT(text, HasSubstr("ok       clock  fine\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("times")));
  EXPECT_THAT(text, HasSubstr("limited  perf   refused\n"));
  EXPECT_THAT(text, HasSubstr("stacks\n"));
  EXPECT_THAT(text, HasSubstr("allow it\n"));
  EXPECT_THAT(text, HasSubstr("Everything essential works; 1 check is limited.\n"));
}

}  // namespace
}  // namespace jankbox::tools
