#include "tools/attach/target_rights.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

namespace jankbox::tools {
namespace {

using testing::HasSubstr;

TargetFacts Permitted() {
  TargetFacts facts;
  facts.pid = facts.process = 4242;
  facts.exists = true;
  facts.user = "ada";
  facts.same_user = true;
  facts.memory_readable = true;
  facts.perf_paranoid = 2;
  return facts;
}

TEST(TargetRights, ProcessOfTheSameUserIsWatched) { EXPECT_EQ(WhyNotAttach(Permitted()), ""); }

TEST(TargetRights, ProcessThatIsNoneOrNotOneToWatchIsNamed) {
  TargetFacts facts;
  facts.pid = 4242;
  EXPECT_EQ(WhyNotAttach(facts), "there is no process 4242");
  facts = Permitted();
  facts.is_this = true;
  EXPECT_EQ(WhyNotAttach(facts), "jankbox cannot watch itself");
  facts = Permitted();
  facts.process = 4200;
  EXPECT_EQ(WhyNotAttach(facts),
            "4242 is a thread of process 4200: jankbox attach 4200 --thread 4242");
  facts = Permitted();
  facts.has_ended = true;
  EXPECT_EQ(WhyNotAttach(facts), "process 4242 has ended");
  facts = Permitted();
  facts.is_kernel_thread = true;
  EXPECT_EQ(WhyNotAttach(facts), "process 4242 is a thread of the kernel");
  facts = Permitted();
  facts.is_32_bit = true;
  EXPECT_EQ(WhyNotAttach(facts),
            "process 4242 is a 32-bit program: jankbox attach watches 64-bit programs only");
  facts = Permitted();
  facts.jankbox_library = "libjankbox.so.0.2";
  EXPECT_EQ(WhyNotAttach(facts),
            "process 4242 runs with Jankbox already (libjankbox.so.0.2): it writes reports itself");
}

TEST(TargetRights, SettingToChangeIsNamedWithItsCommand) {
  TargetFacts facts = Permitted();
  facts.memory_readable = false;
  facts.ptrace_scope = 1;
  EXPECT_EQ(WhyNotAttach(facts),
            "kernel.yama.ptrace_scope is 1: run jankbox as root, or: sudo sysctl "
            "kernel.yama.ptrace_scope=0");
  facts.ptrace_scope = 3;
  EXPECT_THAT(WhyNotAttach(facts), HasSubstr("until the next boot"));
  facts.ptrace_scope = 0;
  EXPECT_THAT(WhyNotAttach(facts), HasSubstr("the kernel protects process 4242"));
  facts.same_user = false;
  EXPECT_EQ(WhyNotAttach(facts), "process 4242 belongs to ada: run jankbox as root or as ada");
  facts.user = "root";
  EXPECT_EQ(WhyNotAttach(facts), "process 4242 belongs to root: run jankbox as root");
}

TEST(TargetRights, CapabilityThatRootDoesNotHaveIsNamed) {
  TargetFacts facts = Permitted();
  facts.is_root = true;
  facts.memory_readable = false;
  facts.same_user = false;
  EXPECT_EQ(WhyNotAttach(facts),
            "root has no CAP_SYS_PTRACE here: run jankbox with that capability");
  facts.memory_readable = true;
  facts.perf_errno = EPERM;
  facts.perf_paranoid = 4;
  EXPECT_EQ(WhyNotAttach(facts), "root has no CAP_PERFMON here: run jankbox with that capability");
}

TEST(TargetRights, ProgramWhoseFileWasDeletedKeepsItsName) {
  const std::string copy = testing::TempDir() + "jankbox_deleted_sleep";
  ASSERT_EQ(system(("cp $(command -v sleep) " + copy).c_str()), 0);
  const pid_t child = fork();
  if (child == 0) {
    execl(copy.c_str(), copy.c_str(), "1000", nullptr);
    _exit(1);
  }
  while (NameOfProcess(child) != "jankbox_deleted_sleep") usleep(1000);
  unlink(copy.c_str());
  EXPECT_EQ(NameOfProcess(child), "jankbox_deleted_sleep");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(TargetRights, RefusedPerfNamesItsReason) {
  TargetFacts facts = Permitted();
  facts.perf_errno = EACCES;
  facts.perf_paranoid = 4;
  EXPECT_EQ(WhyNotAttach(facts),
            "kernel.perf_event_paranoid is 4: run jankbox as root, or: sudo sysctl "
            "kernel.perf_event_paranoid=2");
  facts.perf_paranoid = 2;
  EXPECT_THAT(WhyNotAttach(facts), HasSubstr("a container's seccomp filter"));
  facts.perf_errno = ENOSYS;
  EXPECT_THAT(WhyNotAttach(facts), HasSubstr("CONFIG_PERF_EVENTS"));
}

TEST(TargetRights, FactsOfThisProcessAreTrue) {
  const TargetFacts facts = ReadTargetFacts(getpid());
  EXPECT_TRUE(facts.exists);
  EXPECT_TRUE(facts.is_this);
  EXPECT_EQ(facts.process, getpid());
  EXPECT_FALSE(facts.has_ended);
  EXPECT_FALSE(facts.is_kernel_thread);
  EXPECT_EQ(facts.is_32_bit, sizeof(void*) == 4);
  EXPECT_TRUE(facts.same_user);
  EXPECT_TRUE(facts.memory_readable);
}

TEST(TargetRights, ProcessThatEndedAndWasNotWaitedForHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(ReadTargetFacts(child).has_ended);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(ReadTargetFacts(child).exists);
}

}  // namespace
}  // namespace jankbox::tools
