// Both keys of an incident. The same cause has the same fingerprint: in every run and lap of the
// ring, in a stripped and an unstripped program, with ftrace and without. Its group is the same in
// every build. No incident of another cause is taken for a repeat. JANKBOX_SOAK=1: 50 runs of each
// program instead of one.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "report/group_key.h"
#include "tests/e2e/run_program.h"
#include "uploader/counts/count_book.h"

namespace jankbox {
namespace {

class FingerprintTest : public EndToEndTest, public testing::WithParamInterface<const char*> {
 protected:
  // The only report of one run of build `build`, with `calls` small calls ahead of the slow ones.
  proto::Report Run(int build, int calls) {
    const std::string folder = Folder("run" + std::to_string(++runs_));
    const std::string program = "rebuilt_" + std::string(GetParam()) + std::to_string(build);
    const Outcome outcome = RunProgram({Binary(program), folder, std::to_string(calls)});
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    const std::vector<proto::Report> reports = Reports(folder);
    EXPECT_EQ(reports.size(), 1u);
    return reports.empty() ? proto::Report() : reports[0];
  }

  // The programs of three builds have three names, and so do their apps.
  static std::vector<std::string> LastNames(const proto::Report& report) {
    std::vector<std::string> names;
    for (const proto::Frame& frame : report.identity().own_frames()) {
      names.push_back(LastingFunctionName(frame.function()));
    }
    return names;
  }

  int runs_ = 0;
};

TEST_P(FingerprintTest, IsThatOfTheCauseInEachRunAndItsGroupInThreeBuilds) {
  const proto::Report first = Run(1, 0);
  EXPECT_EQ(first.fingerprint().size(), 32u);
  EXPECT_EQ(Run(1, 0).fingerprint(), first.fingerprint());
  EXPECT_FALSE(GroupKeyOf(first).provisional);
  for (int build = 2; build <= 3; ++build) {
    const proto::Report report = Run(build, 0);
    EXPECT_EQ(report.identity().blamed_function(), "DecodeAvatar") << build;
    EXPECT_EQ(report.identity().message(), "click") << build;
    EXPECT_EQ(LastNames(report), LastNames(first)) << build;
  }
}

// 2 x 100,000 events are twice the ring: the outer calls' begins are long gone.
using LappedFingerprintTest = FingerprintTest;
TEST_P(LappedFingerprintTest, IsTheSameWhenTheRingWentRound) {
  const proto::Report lapped = Run(1, 100'000);
  EXPECT_EQ(lapped.fingerprint(), Run(1, 0).fingerprint());
  const auto& methods = lapped.methods();
  ASSERT_GE(methods.size(), 3);
  EXPECT_EQ(methods[0].function(), "HandleClick");
  EXPECT_EQ(methods[0].depth(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Builds, FingerprintTest,
                         testing::Values("traced", "instrumented", "sampled"),
                         [](const auto& how) { return how.param; });

INSTANTIATE_TEST_SUITE_P(Builds, LappedFingerprintTest, testing::Values("traced", "instrumented"),
                         [](const auto& how) { return how.param; });

// Reports of twelve_causes, by message.
class TwelveCausesTest : public EndToEndTest {
 protected:
  void SetUp() override {
    EndToEndTest::SetUp();
    if (getenv("JANKBOX_TEST_PRELOAD") != nullptr) {
      GTEST_SKIP() << "the sanitizer's functions are on the blamed stacks";
    }
  }
  using ByMessage = std::map<std::string, proto::Report>;

  struct Column {
    std::string program;  // below the folder of programs
    const char* ftrace = "off";
    const char* sampler = "auto";
    const char* perf = "perf";
  };

  static int Runs() { return getenv("JANKBOX_SOAK") != nullptr ? 50 : 1; }

  ByMessage Run(const Column& column) {
    const std::string folder = Folder("run" + std::to_string(++runs_));
    const Outcome outcome =
        RunProgram({Binary(column.program + "/twelve_causes"), folder, column.sampler, column.perf},
                   {{"JANKBOX_OPTIONS", std::string("ftrace=") + column.ftrace}}, 120000);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.err;
    ByMessage reports;
    twice_.clear();
    for (const proto::Report& report : Reports(folder)) {
      if (report.what() == "index") {
        twice_.push_back(report);
      } else {
        reports[report.what()] = report;
      }
    }
    EXPECT_EQ(reports.size(), 12u) << column.program << ", ftrace " << column.ftrace;
    ExpectNoneSuppressedByMistake(folder, reports);
    return reports;
  }

  // The program has the default policy: a repeat is counted and perhaps not written. Every key that
  // was counted has its report, and each of the twelve was counted once.
  void ExpectNoneSuppressedByMistake(const std::string& folder, const ByMessage& reports) {
    std::set<std::string> written;
    for (const auto& [message, report] : reports) written.insert(report.fingerprint());
    for (const proto::Report& report : twice_) written.insert(report.fingerprint());
    counted_.clear();
    uint64_t incidents = 0;
    const Result<ReportCountBook> book = CountBook::Read(folder);
    ASSERT_TRUE(book.ok()) << book.status().message();
    for (const ReportBookedCounter& booked : book->counters) {
      counted_[booked.counter.key] = booked.counter.incidents;
      incidents += booked.counter.incidents;
      EXPECT_EQ(written.count(booked.counter.key), 1u) << booked.counter.message;
    }
    for (const auto& [message, report] : reports) {
      EXPECT_EQ(counted_[report.fingerprint()], 1u) << message;
    }
    EXPECT_EQ(incidents, 14u);
  }
  // The message with two causes, where nothing tells them apart.
  void ExpectOneKeyForTwoCauses() {
    ASSERT_GE(twice_.size(), 1u);
    for (const proto::Report& report : twice_) {
      EXPECT_EQ(report.fingerprint(), twice_[0].fingerprint());
      EXPECT_TRUE(NotesTheMessage(report)) << "the report says so";
    }
    EXPECT_EQ(counted_[twice_[0].fingerprint()], 2u);
  }

  static std::set<std::string> Keys(const ByMessage& reports) {
    std::set<std::string> keys;
    for (const auto& [message, report] : reports) keys.insert(report.fingerprint());
    return keys;
  }
  // Whatever the sampler, it joins the reports of a cause.
  static std::string Cause(const proto::Report& report) {
    const proto::Identity& identity = report.identity();
    return identity.app() + ", " + identity.message() + ", " + identity.cause();
  }
  static std::string Told(const proto::Report& report) {
    std::string text = Cause(report) + ", " + report.identity().basis() + ", " + report.sampler() +
                       ", in " + report.identity().blamed_function() + ":";
    for (const proto::Frame& frame : report.identity().own_frames()) {
      text += "\n  " + frame.function() + " " + frame.module() + " " +
              std::to_string(frame.function_start());
    }
    for (const proto::Frame& frame : report.top_frames()) {
      text += "\n    " + frame.function() + " " + frame.module() + " " +
              std::to_string(frame.function_start());
    }
    return text + "\n" + report.verdict().summary();
  }
  static bool NotesTheMessage(const proto::Report& report) {
    return std::any_of(report.notes().begin(), report.notes().end(), [](const std::string& note) {
      return note.find("No stack shows a function of the app") == 0;
    });
  }

  std::vector<proto::Report> twice_;         // of the message with two causes
  std::map<std::string, uint64_t> counted_;  // incidents by key

 private:
  int runs_ = 0;
};

TEST_F(TwelveCausesTest, HaveTwelveKeysStrippedOrNotWithFtraceOrWithout) {
  const ByMessage first = Run({"release1"});
  EXPECT_EQ(Keys(first).size(), 12u);
  ASSERT_EQ(twice_.size(), 2u);
  EXPECT_NE(twice_[0].fingerprint(), twice_[1].fingerprint()) << "two functions";
  std::set<std::string> stripped_places;
  for (int run = 0; run < Runs(); ++run) {
    for (const char* program : {"release1", "release1/stripped"}) {
      for (const char* ftrace : {"off", "auto"}) {
        const ByMessage reports = Run({program, ftrace});
        EXPECT_EQ(twice_.size(), 2u) << program << ", ftrace " << ftrace;
        for (const auto& [message, report] : reports) {
          const proto::Report& other = first.at(message);
          EXPECT_EQ(report.fingerprint(), other.fingerprint())
              << program << ", ftrace " << ftrace << "\n"
              << Told(report) << "\n"
              << Told(other);
          EXPECT_EQ(report.identity().basis(), "stack") << message;
          if (std::string(program) == "release1") {
            EXPECT_EQ(report.identity().blamed_function(), other.identity().blamed_function())
                << message;
            EXPECT_EQ(GroupKeyOf(report).key, GroupKeyOf(other).key) << message;
          } else {
            EXPECT_TRUE(GroupKeyOf(report).provisional) << message;
            EXPECT_EQ(report.identity().blamed_function().rfind("twelve_causes+0x", 0), 0u)
                << Told(report);
            stripped_places.insert(report.identity().blamed_function());
          }
        }
      }
    }
  }
  EXPECT_EQ(stripped_places.size(), 12u) << "distinct for distinct functions";
}

TEST_F(TwelveCausesTest, KeysOfAProgramWithoutABuildIdAreThoseOfItsCode) {
  const ByMessage whole = Run({"release3"});
  EXPECT_EQ(Keys(whole).size(), 12u);
  EXPECT_EQ(whole.at("light").identity().own_frames(0).build_id(), "");
  EXPECT_EQ(Keys(Run({"release3/stripped"})), Keys(whole));
}

TEST_F(TwelveCausesTest, AreJoinedByMessageAndCauseWithoutPerf) {
  const ByMessage with_stacks = Run({"release1"});
  for (int run = 0; run < Runs(); ++run) {
    for (const char* program : {"release1", "release1/stripped"}) {
      for (const char* perf : {"perf", "noperf"}) {
        SCOPED_TRACE(std::string(program) + ", " + perf);
        const ByMessage reports = Run({program, "off", "proc", perf});
        EXPECT_EQ(Keys(reports).size(), 12u);
        for (const auto& [message, report] : reports) {
          EXPECT_EQ(Cause(report), Cause(with_stacks.at(message))) << Told(report);
          EXPECT_EQ(NotesTheMessage(report), report.identity().basis() == "message") << message;
        }
        EXPECT_EQ(reports.at("decode").identity().basis(), "message");
        ExpectOneKeyForTwoCauses();
      }
    }
  }
}

TEST_F(TwelveCausesTest, HaveTheSameKeysIfSignalsTakeTheStacksInsteadOfPerf) {
  const ByMessage with_perf = Run({"release1"});
  for (int run = 0; run < Runs(); ++run) {
    for (const char* program : {"release1", "release1/stripped"}) {
      const ByMessage reports = Run({program, "off", "auto", "noperf"});
      EXPECT_EQ(twice_.size(), 2u);
      for (const auto& [message, report] : reports) {
        EXPECT_EQ(report.fingerprint(), with_perf.at(message).fingerprint()) << Told(report);
      }
    }
  }
}

TEST_F(TwelveCausesTest, SecondReleaseHasOtherKeysAndTheSameGroups) {
  const ByMessage first = Run({"release1"});
  for (int run = 0; run < Runs(); ++run) {
    const ByMessage second = Run({"release2"});
    std::set<std::string> both = Keys(first);
    both.merge(Keys(second));
    EXPECT_EQ(both.size(), 24u);
    std::set<std::string> groups;
    for (const auto& [message, report] : second) {
      const GroupKey group = GroupKeyOf(report);
      groups.insert(group.key);
      EXPECT_FALSE(group.provisional) << Told(report);
      EXPECT_EQ(group.version, kGroupKeyVersion);
      EXPECT_EQ(group.key, GroupKeyOf(first.at(message)).key) << Told(report) << "\n"
                                                              << Told(first.at(message));
    }
    EXPECT_EQ(groups.size(), 12u);
  }
}

}  // namespace
}  // namespace jankbox
