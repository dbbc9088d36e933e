#include "diagnosis/blame/report_history.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kUi = 7;
constexpr uint64_t kMs = kNsPerMs;
constexpr uint64_t kOffset = 3 * kNsPerSecond;

class ReportHistoryTest : public testing::Test {
 protected:
  ReportHistoryTest() {
    window_.from_ticks = 10 * kMs;
    window_.to_ticks = 10'000 * kMs;
    window_.threads.reserve(2);
    ui_.emplace(AddThread(&window_, kUi, "main"));
  }
  void Message(const std::string& name, uint64_t from_ms, uint64_t to_ms) {
    ui_->BeginDispatch(name, from_ms * kMs).EndDispatch(to_ms * kMs);
  }
  ReportHistory Before(uint64_t incident_ms, uint32_t most = 200) {
    return HistoryBefore(window_, kUi, incident_ms * kMs, FakeClock(kOffset), most);
  }
  static std::string NameOf(const ReportHistory& history, const ReportLoopMessage& message) {
    return message.name == 0 ? "" : history.names.at(message.name - 1);
  }
  Report Idle(uint64_t from_ms, uint64_t to_ms) {
    Report report;
    SetIdleCallback(window_, kUi, from_ms * kMs, to_ms * kMs, FakeClock(kOffset), &report);
    return report;
  }

  RingWindow window_;
  std::optional<FakeThread> ui_;
};

TEST_F(ReportHistoryTest, NoMessageIsAnEmptyHistory) {
  const ReportHistory history = Before(1000);
  EXPECT_EQ(history.count, 0u);
  EXPECT_EQ(history.from_ns, 0u) << "and not the begin of the window";
  EXPECT_THAT(history.last, IsEmpty());
}

TEST_F(ReportHistoryTest, MessagesAreToldByHowLongBeforeTheIncidentTheyBegan) {
  Message("first", 100, 150);
  Message("second", 200, 300);
  const ReportHistory history = Before(1000);
  EXPECT_EQ(history.count, 2u);
  EXPECT_EQ(history.busy_ns, 150 * kMs);
  EXPECT_EQ(history.from_ns, 10 * kMs + kOffset) << "on BOOTTIME";
  ASSERT_THAT(history.last, SizeIs(2));
  EXPECT_EQ(NameOf(history, history.last[0]), "first");
  EXPECT_EQ(history.last[0].before_ns, 900 * kMs);
  EXPECT_EQ(history.last[0].wall_ns, 50 * kMs);
  EXPECT_EQ(history.last[1].before_ns, 800 * kMs);
  ASSERT_THAT(history.longest, SizeIs(2));
  EXPECT_EQ(NameOf(history, history.longest[0]), "second");
}

TEST_F(ReportHistoryTest, MessageOfTheIncidentItselfIsNotBeforeIt) {
  Message("before", 100, 150);
  Message("the incident", 200, 2000);
  Message("after", 2100, 2200);
  const ReportHistory history = Before(200);
  EXPECT_EQ(history.count, 1u);
  EXPECT_THAT(history.names, ElementsAre("before"));
}

TEST_F(ReportHistoryTest, OlderMessagesAreCountedAsLeftOut) {
  for (uint64_t i = 0; i < 10; ++i) Message("m" + std::to_string(i), 100 + 10 * i, 105 + 10 * i);
  const ReportHistory history = Before(1000, 4);
  EXPECT_EQ(history.count, 10u);
  EXPECT_EQ(history.left_out, 6u);
  ASSERT_THAT(history.last, SizeIs(4));
  EXPECT_EQ(NameOf(history, history.last[3]), "m9");
}

TEST_F(ReportHistoryTest, IdleCallbackOfTwoSecondsIsTold) {
  ui_->BeginDispatch("message", 1000 * kMs);
  ui_->BeginDispatch("idle: prefetch", 1100 * kMs).EndDispatch(3200 * kMs);
  ui_->EndDispatch(3300 * kMs);
  const Report report = Idle(1000, 3300);
  EXPECT_EQ(report.idle_callback, "prefetch");
  EXPECT_EQ(report.idle_callback_ns, 2100 * kMs);
}

TEST_F(ReportHistoryTest, ShorterIdleCallbackIsNot) {
  ui_->BeginDispatch("message", 1000 * kMs);
  ui_->BeginDispatch("idle: prefetch", 1100 * kMs).EndDispatch(3099 * kMs);
  ui_->EndDispatch(3300 * kMs);
  const Report report = Idle(1000, 3300);
  EXPECT_EQ(report.idle_callback, "");
  EXPECT_EQ(report.idle_callback_ns, 0u);
}

// Random messages, idle times and limits: what the history says is what counting says.
class RandomMessages : public ReportHistoryTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(RandomMessages, HistoryIsWhatCountingSays) {
  std::mt19937 random(GetParam());
  const auto any = [&](uint64_t from, uint64_t to) {
    return std::uniform_int_distribution<uint64_t>(from, to)(random);
  };
  struct Done {
    std::string name;
    uint64_t from_ms, to_ms;
  };
  std::vector<Done> all;
  uint64_t now = 20;
  for (int i = 0; i < 100; ++i) {
    const uint64_t to = now + any(1, 60);
    all.push_back({"name " + std::to_string(any(0, 5)), now, to});
    Message(all.back().name, now, to);
    now = to + any(0, 20);
  }
  for (int round = 0; round < 20; ++round) {
    const uint64_t incident = any(0, now);
    const auto most = static_cast<uint32_t>(any(1, 50));
    std::vector<Done> before;
    for (const Done& done : all) {
      if (done.from_ms < incident) before.push_back(done);
    }
    const ReportHistory history = Before(incident, most);
    ASSERT_EQ(history.count, before.size());
    uint64_t busy_ms = 0, longest_ms = 0;
    for (const Done& done : before) {
      busy_ms += done.to_ms - done.from_ms;
      longest_ms = std::max(longest_ms, done.to_ms - done.from_ms);
    }
    EXPECT_EQ(history.busy_ns, busy_ms * kMs);
    uint64_t told = 0;
    for (const ReportLoopMessage& message : history.last) told += message.count;
    EXPECT_LE(told, most);
    EXPECT_EQ(told + history.left_out, history.count) << "each message is told or left out";
    for (size_t i = 1; i < history.last.size(); ++i) {
      EXPECT_LT(history.last[i].before_ns, history.last[i - 1].before_ns) << "oldest first";
    }
    if (!before.empty()) {
      EXPECT_EQ(history.longest.at(0).wall_ns, longest_ms * kMs);
      EXPECT_EQ(NameOf(history, history.last.back()), before.back().name);
    }
    for (size_t i = 1; i < history.longest.size(); ++i) {
      EXPECT_LE(history.longest[i].wall_ns, history.longest[i - 1].wall_ns);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMessages, testing::Range(1u, 7u));

}  // namespace
}  // namespace jankbox
