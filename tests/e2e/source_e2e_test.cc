// Locks, file calls and threads of whole programs, with the SDK linked in and with the agent, as
// the report and its trace say them.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "report/report_file.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

struct Lasted {
  unsigned long long least_ns = 0, most_ns = 0;
};

struct Planted {
  Lasted waited, names[2];
  int keeper_tid = 0;
  int renamed_tid = 0;
  int reused_tid = 0;
};

class SourceE2eTest : public EndToEndTest {
 protected:
  // Runs the program by itself or under `jankbox run`, and reads the trace of its one report.
  void Run(bool agent, const std::string& options = "") {
    std::map<std::string, std::string> environment = {
        {"JANKBOX_OPTIONS", "slow_message_ms=100," + options}};
    ASSERT_TRUE(MakeDirectories(Folder("files"), 0700).ok());
    Outcome outcome;
    if (agent) {
      for (const auto& [name, value] : ForeignEnvironment()) environment[name] = value;
      outcome = RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"), "--",
                            Binary("source_waits"), Folder("files")},
                           environment);
    } else {
      outcome =
          RunProgram({Binary("source_driver"), Folder("files"), Folder("spool")}, environment);
    }
    ASSERT_EQ(outcome.exit_status, 0) << outcome.err;
    ASSERT_EQ(sscanf(outcome.out.c_str(),
                     "waited %llu %llu keeper %d renamed %d first %llu %llu second %llu %llu "
                     "reused %d",
                     &planted_.waited.least_ns, &planted_.waited.most_ns, &planted_.keeper_tid,
                     &planted_.renamed_tid, &planted_.names[0].least_ns, &planted_.names[0].most_ns,
                     &planted_.names[1].least_ns, &planted_.names[1].most_ns, &planted_.reused_tid),
              9)
        << outcome.out;
    const std::vector<proto::Report> reports = Reports(Folder("spool"));
    ASSERT_EQ(reports.size(), 1u);
    report_ = reports[0];
    std::string error;
    const std::string path = Folder("spool") + "/" + report_.id() + kReportFileSuffix;
    file_ = ReadFile(path, 64 << 20).value();
    raw_ = testing::DecompressTrace(file_, &error);
    trace_ = testing::ReadTrace(file_, &error);
    ASSERT_EQ(error, "");
  }

  std::vector<testing::ReadSlice> SlicesOf(const std::string& category) const {
    std::vector<testing::ReadSlice> slices;
    std::copy_if(trace_.slices.begin(), trace_.slices.end(), std::back_inserter(slices),
                 [&](const testing::ReadSlice& slice) { return slice.category == category; });
    return slices;
  }
  const testing::ReadSlice* Slice(const std::string& prefix) const {
    for (const testing::ReadSlice& slice : trace_.slices) {
      if (slice.name.rfind(prefix, 0) == 0) return &slice;
    }
    return nullptr;
  }
  const testing::ReadInstant* Instant(const std::string& name) const {
    for (const testing::ReadInstant& instant : trace_.instants) {
      if (instant.name == name) return &instant;
    }
    return nullptr;
  }
  std::string Keeper() const { return "lock-keeper [" + std::to_string(planted_.keeper_tid) + "]"; }

  void ExpectLock();
  void ExpectFileCalls();
  void ExpectCreation();
  void ExpectNames();
  void ExpectNoCanary();
  void ExpectAll() {
    ExpectLock();
    ExpectFileCalls();
    ExpectCreation();
    ExpectNames();
    ExpectNoCanary();
  }

  Planted planted_;
  proto::Report report_;
  std::string file_;  // the report's
  std::string raw_;   // its trace, decompressed
  testing::TraceContent trace_;
};

// As long as the program measured, on the UI thread's own track, with its owner; the report has it
// too.
void SourceE2eTest::ExpectLock() {
  const testing::ReadSlice* wait = Slice("lock contention");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->name, "lock contention on a mutex (owner " + Keeper() + ")");
  EXPECT_EQ(wait->category, "wait");
  EXPECT_EQ(wait->tid, static_cast<int32_t>(report_.tid()));
  EXPECT_EQ(wait->track, "");
  EXPECT_GE(wait->depth, 1u);  // in the dispatch
  EXPECT_EQ(wait->annotations.at("owner_tid"), std::to_string(planted_.keeper_tid));
  EXPECT_GE(wait->dur, planted_.waited.least_ns);
  EXPECT_LE(wait->dur, planted_.waited.most_ns);
  bool told = false;
  for (const std::string& note : report_.notes()) {
    told = told || note.rfind("lock contention on a mutex (owner " + Keeper() + "): ", 0) == 0;
  }
  EXPECT_TRUE(told) << report_.ShortDebugString();
}

void SourceE2eTest::ExpectFileCalls() {
  std::vector<std::string> names;
  for (const testing::ReadSlice& slice : SlicesOf("wait")) {
    EXPECT_EQ(slice.tid, static_cast<int32_t>(report_.tid())) << slice.name;
    names.push_back(slice.name);
  }
  for (const char* call :
       {"open", "pwrite (file, 4096 bytes)", "fsync (file)", "write (file, 100 bytes)",
        "writev (file, 30 bytes)", "read (file, 4096 bytes)", "close (file)"}) {
    EXPECT_THAT(names, ::testing::Contains(call));
  }
  const testing::ReadSlice* read = Slice("read (file");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->annotations.at("bytes"), "4096");
  EXPECT_EQ(read->annotations.at("result"), "4096");
  bool refused = false;
  for (const testing::ReadSlice& slice : SlicesOf("wait")) {
    refused = refused || (slice.name == "open" && slice.annotations.count("errno") != 0 &&
                          slice.annotations.at("errno") == std::to_string(ENOENT));
  }
  EXPECT_TRUE(refused);
}

void SourceE2eTest::ExpectCreation() {
  const testing::ReadInstant* parent = Instant("create thread " + Keeper());
  ASSERT_NE(parent, nullptr);
  EXPECT_EQ(parent->tid, static_cast<int32_t>(report_.tid()));
  EXPECT_EQ(parent->category, "thread");
  ASSERT_EQ(parent->flows.size(), 1u);
  const testing::ReadInstant* child = nullptr;
  for (const testing::ReadInstant& instant : trace_.instants) {
    if (instant.ended_flows == parent->flows) child = &instant;
  }
  ASSERT_NE(child, nullptr);
  EXPECT_THAT(child->name, StartsWith("created by "));
  EXPECT_EQ(child->tid, planted_.keeper_tid);
  EXPECT_GE(child->ts, parent->ts);
  EXPECT_EQ(trace_.threads.at(planted_.keeper_tid), "lock-keeper");
  // The stack of who created it: its innermost function called pthread_create().
  bool found = false;
  for (const testing::ReadSample& sample : trace_.samples) {
    if (sample.frames.empty()) continue;
    found = found || sample.frames.back().function == "create_keeper";
  }
  EXPECT_TRUE(found);
}

// Both names at the right times, and those of a later thread with the same tid.
void SourceE2eTest::ExpectNames() {
  std::vector<testing::ReadSlice> names;
  for (const testing::ReadSlice& slice : SlicesOf("thread")) {
    if (slice.track == "thread name" &&
        slice.annotations.at("tid") == std::to_string(planted_.renamed_tid)) {
      names.push_back(slice);
    }
  }
  const bool reused = planted_.reused_tid == planted_.renamed_tid;
  ASSERT_EQ(names.size(), reused ? 3u : 2u);
  EXPECT_EQ(names[0].name, "first-name");
  EXPECT_EQ(names[1].name, "second-name");
  for (int i = 0; i < 2; ++i) {
    EXPECT_GE(names[i].dur, planted_.names[i].least_ns);
    EXPECT_LE(names[i].dur, planted_.names[i].most_ns);
  }
  EXPECT_EQ(names[1].ts, names[0].ts + names[0].dur);
  if (!reused) GTEST_SKIP() << "the next tid could not be chosen (ns_last_pid)";
  EXPECT_EQ(names[2].name, "third-name");
  EXPECT_GE(names[2].ts, names[1].ts + names[1].dur);
  EXPECT_GE(names[2].dur, 19'000'000u);
}

void SourceE2eTest::ExpectNoCanary() {
  const std::string report = report_.SerializeAsString();
  for (const char* part : {"canary", "4111", "ann@", "example.com"}) {
    EXPECT_THAT(raw_, ::testing::Not(HasSubstr(part)));
    EXPECT_THAT(report, ::testing::Not(HasSubstr(part)));
    EXPECT_THAT(file_, ::testing::Not(HasSubstr(part)));
  }
}

TEST_F(SourceE2eTest, LinkedSdkTellsLocksFilesAndThreads) {
  Run(/*agent=*/false);
  if (HasFatalFailure()) return;
  ExpectAll();
}

TEST_F(SourceE2eTest, AgentTellsLocksFilesAndThreads) {
  if (getenv("JANKBOX_TEST_PRELOAD") != nullptr) {
    GTEST_SKIP() << "a sanitizer's runtime answers the program's calls itself";
  }
  Run(/*agent=*/true);
  if (HasFatalFailure()) return;
  ExpectAll();
}

TEST_F(SourceE2eTest, SourcesThatAreOffTellNothing) {
  Run(/*agent=*/false, "sources=off");
  if (HasFatalFailure()) return;
  EXPECT_TRUE(SlicesOf("wait").empty());
  EXPECT_TRUE(SlicesOf("thread").empty());
  // Readings of the thread say who ended its waits.
  for (const testing::ReadInstant& instant : trace_.instants) {
    EXPECT_THAT(instant.name,
                ::testing::AnyOf(::testing::StartsWith("wakes "), ::testing::StartsWith("woken ")));
  }
}

TEST_F(SourceE2eTest, EachSourceStandsAlone) {
  Run(/*agent=*/false, "sources=locks");
  if (HasFatalFailure()) return;
  EXPECT_NE(Slice("lock contention"), nullptr);
  EXPECT_EQ(Slice("read"), nullptr);
  EXPECT_EQ(Instant("create thread " + Keeper()), nullptr);
}

}  // namespace
}  // namespace jankbox
