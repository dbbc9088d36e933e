// A call of Jankbox's fails that never fails elsewhere: the program that it runs in lives, and is
// as it was.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/e2e/collector_program.h"
#include "tests/e2e/run_program.h"
#include "uploader/counts/count_book.h"

namespace jankbox {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

struct HostRun {
  int first = 0;
  long calls = 0;
  long failed = 0;
  int second = 0;
  int own = 0;
  bool writes_nothing = false;  // the first recording, and it said so
};

class FaultTest : public EndToEndTest {
 protected:
  // Each N at first, then a ninth more each time; all of them with JANKBOX_SOAK.
  static long Next(long n) {
    return n + (getenv("JANKBOX_SOAK") != nullptr ? 1 : std::max<long>(1, n / 9));
  }

  static HostRun RunWith(const std::string& call, long n, const std::string& folder,
                         const Environment& environment = {}) {
    const Outcome outcome =
        RunProgram({Binary("fault_host"), folder, call, std::to_string(n)}, environment, 60'000);
    HostRun run;
    EXPECT_EQ(outcome.exit_status, 0)
        << call << ' ' << n << " failed: signal " << outcome.signal << ' ' << outcome.err;
    EXPECT_EQ(sscanf(outcome.out.c_str(), "first %d calls %ld failed %ld second %d own %d",
                     &run.first, &run.calls, &run.failed, &run.second, &run.own),
              5)
        << outcome.out;
    run.writes_nothing = outcome.err.find("no reports will be written") != std::string::npos;
    return run;
  }
};

// Incidents of `folder`, as it has them counted.
uint64_t Counted(const std::string& folder) {
  const Result<ReportCountBook> book = CountBook::Read(folder);
  if (!book.ok()) return 0;
  uint64_t incidents = book.value().lost_incidents;
  for (const auto& booked : book.value().counters) incidents += booked.counter.incidents;
  return incidents;
}

class EachCallTest : public FaultTest, public testing::WithParamInterface<const char*> {};

TEST_P(EachCallTest, TheProgramLivesAndTheNextReportIsWritten) {
  const std::string call = GetParam();
  for (long n = 1;; n = Next(n)) {
    SCOPED_TRACE(call + " " + std::to_string(n));
    const std::string folder = Folder(call + std::to_string(n));
    const HostRun run = RunWith(call, n, folder);
    EXPECT_EQ(run.second, 0);
    EXPECT_EQ(run.own, 1) << "the program's file is changed";
    std::vector<std::string> messages;
    for (const proto::Report& report : Reports(folder)) messages.push_back(report.what());
    EXPECT_THAT(messages, AnyOf(ElementsAre("second"), ElementsAre("first", "second")));
    const uint64_t counted = Counted(folder);
    if (call == "memory") {  // a thread of Jankbox's may stand still before it has counted
      EXPECT_THAT(counted, AllOf(Ge(messages.size()), Le(2u)));
    } else {
      EXPECT_EQ(counted, run.first != 0 || run.writes_nothing ? 1u : 2u);
    }
    if (HasFailure()) return;
    if (run.failed == 0) {
      EXPECT_GT(n, 1) << "Jankbox made no such call";
      EXPECT_EQ(messages.size(), 2u);
      return;
    }
    std::filesystem::remove_all(folder);
  }
}

TEST_P(EachCallTest, WhatIsUploadedIsThereOnce) {
  const std::string call = GetParam();
  CollectorProgram collector(Binary("jankbox-collector"), Folder("data"));
  ASSERT_TRUE(collector.Start());
  size_t before = 0;
  for (long n = 1;; n += std::max(1l, n / 4)) {
    SCOPED_TRACE(call + " " + std::to_string(n));
    const std::string folder = Folder(call + std::to_string(n));
    const HostRun run = RunWith(call, n, folder, {{"FAULT_HOST_UPLOAD_URL", collector.url()}});
    EXPECT_EQ(run.second, 0);
    EXPECT_EQ(run.own, 1) << "the program's file is changed";
    const Outcome list = RunProgram({Binary("jankbox"), "list", "--json", collector.url()});
    const size_t received = json::parse(list.out).size();
    const size_t all = received - before + Reports(folder).size();
    before = received;
    EXPECT_THAT(all, AnyOf(1u, 2u));
    if (HasFailure()) return;
    if (run.failed == 0) {
      EXPECT_EQ(all, 2u);
      return;
    }
    std::filesystem::remove_all(folder);
  }
}

// On an overloaded machine, or while an app starts, a message may be over before the watcher
// begins.
TEST_F(FaultTest, MessageBeforeTheWatcherBeginsIsReported) {
  for (const long ms : {50, 100}) {
    const std::string folder = Folder("late" + std::to_string(ms));
    RunWith("late", ms, folder);
    std::vector<std::string> messages;
    for (const proto::Report& report : Reports(folder)) messages.push_back(report.what());
    EXPECT_THAT(messages, ElementsAre("first", "second")) << ms;
  }
}

// A daemon closes all descriptors while Jankbox works; after the start, which is on its own thread.
TEST_F(FaultTest, FilesThatTakeItsDescriptorsStayTheProgramsOwn) {
  const long step = getenv("JANKBOX_SOAK") != nullptr ? 1 : 9;
  for (long ms = 5; ms <= 120; ms += step) {
    SCOPED_TRACE(ms);
    const std::string folder = Folder("closefrom" + std::to_string(ms));
    const HostRun run = RunWith("closefrom", ms, folder);
    EXPECT_EQ(run.second, 0);
    EXPECT_EQ(run.own, 1) << "a file of the program's is closed or changed";
    EXPECT_GE(Reports(folder).size(), 1u);
    if (HasFailure()) return;
  }
}

// Little of what a process needs: address space (KiB), descriptors, sizes of files (512 bytes).
TEST_F(FaultTest, ProgramLivesUnderEachLimit) {
  // That came from whoever runs the tests.
  const std::string kCloseOthers = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ";
  for (const char* limit : {"-v 12000", "-v 16000", "-v 20000", "-v 25000", "-v 32000", "-v 33500",
                            "-v 43500", "-v 45000", "-v 46000", "-v 48000", "-v 70000", "-v 120000",
                            "-n 4",     "-n 5",     "-n 6",     "-n 7",     "-n 8",     "-n 10",
                            "-n 16",    "-f 1",     "-f 100",   "-f 800",   "-f 2000"}) {
    const std::string folder = Folder(limit);
    const Outcome outcome =
        RunProgram({"sh", "-c", kCloseOthers + "ulimit " + limit + " && exec \"$0\" \"$1\" none 1",
                    Binary("fault_host"), folder},
                   {}, 60'000);
    EXPECT_EQ(outcome.exit_status, 0)
        << limit << ": signal " << outcome.signal << ' ' << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("own 1"), std::string::npos) << limit << ": " << outcome.out;
  }
}

INSTANTIATE_TEST_SUITE_P(Fails, EachCallTest,
                         testing::Values("malloc", "mmap", "open", "write", "fsync", "thread",
                                         "memory"),
                         [](const auto& call) { return std::string(call.param); });

}  // namespace
}  // namespace jankbox
