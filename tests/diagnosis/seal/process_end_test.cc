// How the end of a process is judged, from a header and facts that the test names.
#include "diagnosis/seal/process_end.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "base/clock.h"
#include "tests/fakes/fake_ring.h"
#include "tests/uploader/temporary_folder.h"

namespace jankbox {
namespace {

int ExitStatus(int status) { return status << 8; }  // as waitpid() gives it

class ProcessEndTest : public testing::Test {
 protected:
  RingHeader* header() { return ring_.header(); }
  ProcessEnd Judge() { return JudgeEnd(*header(), facts_); }
  void InForeground(bool front) { ring_.file()->NoteForeground(front); }
  void Calls(RingEndCall call, int signal) {
    header()->end_call.store(static_cast<uint32_t>(call));
    header()->end_signal.store(static_cast<uint32_t>(signal));
  }

  FakeRing ring_;
  EndFacts facts_{.note_is_fresh = true};
};

TEST_F(ProcessEndTest, WithoutEvidenceTheReasonIsUnknown) {
  const ProcessEnd end = Judge();
  EXPECT_EQ(end.reason, kUnknownEnd);
  EXPECT_EQ(end.evidence, "");
  EXPECT_FALSE(end.expected);
}

TEST_F(ProcessEndTest, WaitStatusSaysTheSignal) {
  Calls(RingEndCall::kAbort, SIGABRT);
  facts_.wait_status = SIGSEGV;
  EXPECT_EQ(Judge().reason, "SIGSEGV") << "and wins over a call";
  EXPECT_EQ(Judge().evidence, "wait status");
  EXPECT_FALSE(Judge().expected);
  facts_.wait_status = SIGSEGV | 0x80;  // with a core file
  EXPECT_EQ(Judge().reason, "SIGSEGV");
}

TEST_F(ProcessEndTest, UnknownEndAfterARequestToTheSessionIsExpected) {
  facts_.asked_to_end = true;
  EXPECT_EQ(Judge().reason, kUnknownEnd);
  EXPECT_TRUE(Judge().expected);
  Calls(RingEndCall::kAbort, SIGABRT);
  EXPECT_FALSE(Judge().expected) << "a crash is one all the same";
  Calls(RingEndCall::kNone, 0);
  ring_.file()->NoteOomKills("/the/file", 4);
  facts_.oom_kills = 6;
  EXPECT_FALSE(Judge().expected);
}

TEST_F(ProcessEndTest, RequestsAndExitsAreExpected) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    facts_.wait_status = signal;
    EXPECT_TRUE(Judge().expected) << signal;
  }
  facts_.wait_status = ExitStatus(3);
  EXPECT_TRUE(Judge().expected);
  EXPECT_EQ(Judge().reason, "exit status 3");
}

TEST_F(ProcessEndTest, CallSaysTheSignalWhileItIsFresh) {
  Calls(RingEndCall::kAbort, SIGABRT);
  EXPECT_EQ(Judge().reason, "SIGABRT");
  EXPECT_EQ(Judge().evidence, "abort()");
  Calls(RingEndCall::kRaise, SIGBUS);
  EXPECT_EQ(Judge().reason, "SIGBUS");
  EXPECT_EQ(Judge().evidence, "raise()");
  Calls(RingEndCall::kRaise, SIGTERM);
  EXPECT_TRUE(Judge().expected);
  facts_.note_is_fresh = false;
  EXPECT_EQ(Judge().reason, kUnknownEnd);
}

TEST_F(ProcessEndTest, NoteThatTheProcessOutlivedIsNotFresh) {
  header()->end_call_ticks.store(1000);
  header()->heartbeat_ticks.store(1000 + kNsPerSecond - 1);
  EXPECT_TRUE(FactsOfEnd(*header(), TickConverter(), {}).note_is_fresh);
  header()->heartbeat_ticks.store(1000 + kNsPerSecond);
  EXPECT_FALSE(FactsOfEnd(*header(), TickConverter(), {}).note_is_fresh);
  EXPECT_TRUE(FactsOfEnd(*header(), TickConverter({}, {}, 0.5), {}).note_is_fresh);
}

TEST_F(ProcessEndTest, WaitStatusIsThatOfItsOwnProcess) {
  const int pid = header()->pid;
  EXPECT_EQ(FactsOfEnd(*header(), TickConverter(), ChildEnd{pid, SIGKILL}).wait_status, SIGKILL);
  EXPECT_FALSE(FactsOfEnd(*header(), TickConverter(), ChildEnd{pid + 1, SIGKILL}).wait_status);
}

TEST_F(ProcessEndTest, LowMemoryNeedsASigkillAndACount) {
  ring_.file()->NoteOomKills("/the/file", 4);
  facts_.oom_kills = 5;
  facts_.wait_status = SIGKILL;
  EXPECT_EQ(Judge().reason, "low memory");
  EXPECT_FALSE(Judge().expected);
  facts_.wait_status = SIGSEGV;
  EXPECT_EQ(Judge().reason, "SIGSEGV");
  facts_.oom_kills = 4;
  facts_.wait_status = SIGKILL;
  EXPECT_EQ(Judge().reason, "SIGKILL");
}

TEST_F(ProcessEndTest, CountAloneIsEvidenceAndNoReason) {
  ring_.file()->NoteOomKills("/the/file", 4);
  facts_.oom_kills = 6;
  EXPECT_EQ(Judge().reason, kUnknownEnd) << "another process of the cgroup may be the one";
  EXPECT_EQ(Judge().evidence, "oom_kill of the cgroup rose by 2");
}

TEST_F(ProcessEndTest, CountIsReadAgainFromTheFile) {
  TemporaryFolder folder;
  const std::string file = folder / "memory.events";
  std::ofstream(file) << "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n";
  EXPECT_FALSE(FactsOfEnd(*header(), TickConverter(), {}).oom_kills);
  ring_.file()->NoteOomKills(file, 1);
  EXPECT_EQ(FactsOfEnd(*header(), TickConverter(), {}).oom_kills, 2u);
}

TEST_F(ProcessEndTest, AnotherBootIsNoCrash) {
  EXPECT_TRUE(FactsOfEnd(*header(), TickConverter(), {}).same_boot);
  header()->boot_id[0] ^= 1;
  facts_ = FactsOfEnd(*header(), TickConverter(), {});
  EXPECT_FALSE(facts_.same_boot);
  EXPECT_EQ(Judge().reason, "machine stopped");
  EXPECT_EQ(Judge().evidence, "boot id");
  EXPECT_TRUE(Judge().expected);
}

TEST_F(ProcessEndTest, KillsInTheBackgroundAreExpectedAndCrashesAreNot) {
  InForeground(false);
  EXPECT_TRUE(Judge().expected);
  facts_.wait_status = SIGKILL;
  EXPECT_TRUE(Judge().expected);
  facts_.wait_status = SIGSEGV;
  EXPECT_FALSE(Judge().expected);
  InForeground(true);
  facts_.wait_status = SIGKILL;
  EXPECT_FALSE(Judge().expected);
}

}  // namespace
}  // namespace jankbox
