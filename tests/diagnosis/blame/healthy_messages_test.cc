#include "diagnosis/blame/healthy_messages.h"

#include <gtest/gtest.h>

#include "tracer/event/event.h"

namespace jankbox {
namespace {

constexpr int32_t kTid = 7;

// A window of one thread, written as the ring has it.
class WindowWriter {
 public:
  WindowWriter& Begin(uint32_t id, uint64_t at) { return Word(EventKind::kBegin, id, at); }
  WindowWriter& End(uint32_t id, uint64_t at) { return Word(EventKind::kEnd, id, at); }
  WindowWriter& Message(const std::string& what, uint64_t at) {
    Word(EventKind::kDispatchBegin, static_cast<uint32_t>(what.size()), at);
    for (size_t i = 0; i < what.size(); i += 7) {
      uint64_t packed = 0;
      for (size_t j = 0; j < 7 && i + j < what.size(); ++j) {
        packed |= uint64_t{static_cast<uint8_t>(what[i + j])} << (8 * j);
      }
      chunk_.words.push_back(MakePayload(packed));
    }
    return *this;
  }
  WindowWriter& Done(uint64_t at) { return Word(EventKind::kDispatchEnd, 0, at); }
  WindowWriter& Gap() {
    thread_.chunks.push_back(chunk_);
    chunk_ = {};
    chunk_.gap_before = true;
    return *this;
  }
  std::vector<MessageProfile> Messages() {
    thread_.tid = kTid;
    thread_.chunks.push_back(chunk_);
    RingWindow window;
    window.threads.push_back(thread_);
    return MessagesOf(window, kTid);
  }

 private:
  WindowWriter& Word(EventKind kind, uint32_t id, uint64_t at) {
    chunk_.words.push_back(MakeEvent(kind, id, at));
    return *this;
  }

  WindowChunk chunk_;
  WindowThread thread_;
};

TEST(HealthyMessages, MessagesWithTheirMethods) {
  const auto messages = WindowWriter()
                            .Message("click", 100)
                            .Begin(1, 110)
                            .Begin(1, 120)
                            .End(1, 130)
                            .End(1, 150)
                            .Begin(2, 150)
                            .End(2, 155)
                            .Done(160)
                            .Messages();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].what, "click");
  EXPECT_EQ(messages[0].ticks(), 60u);
  EXPECT_EQ(messages[0].methods, (std::map<uint32_t, uint64_t>{{1, 40}, {2, 5}}));
}

TEST(HealthyMessages, MessageInsideALoopLendsItsName) {
  const auto messages =
      WindowWriter().Message("", 100).Message("idle", 101).Done(102).Done(103).Messages();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].what, "idle");
  EXPECT_EQ(messages[0].ticks(), 3u);
}

TEST(HealthyMessages, WhatIsCutOrHasAGapIsNoMessage) {
  EXPECT_TRUE(WindowWriter().Begin(1, 10).End(1, 20).Done(30).Messages().empty());
  EXPECT_TRUE(WindowWriter().Message("a", 10).Gap().End(1, 20).Done(30).Messages().empty());
  EXPECT_TRUE(WindowWriter().Message("a", 10).Begin(1, 20).Messages().empty());
}

MessageProfile Profile(const std::string& what, uint64_t begin, uint64_t ticks,
                       std::map<uint32_t, uint64_t> methods) {
  return {what, begin, begin + ticks, std::move(methods)};
}

TEST(HealthyMessages, WhatWasExtraInTheBadOne) {
  std::vector<MessageProfile> messages;
  for (uint64_t i = 0; i < 10; ++i) {
    messages.push_back(Profile("click", 100 * i, 20 + i, {{1, 10}, {2, 4}}));
  }
  messages.push_back(Profile("click", 2000, 900, {{1, 880}}));     // itself unwell
  messages.push_back(Profile("scroll", 3000, 900, {{1, 50000}}));  // another kind
  messages.push_back(Profile("click", 90'000, 1, {}));             // later
  HealthyMessages healthy;
  healthy.Learn(messages, 10'000, 500);
  const Difference difference =
      healthy.Compare(Profile("click", 10'000, 1000, {{1, 510}, {2, 4}, {3, 90}}));
  EXPECT_EQ(difference.messages, 10u);
  EXPECT_EQ(difference.median_ticks, 25u);
  ASSERT_EQ(difference.methods.size(), 2u);
  EXPECT_EQ(difference.methods[0].id, 1u);
  EXPECT_EQ(difference.methods[0].extra_ticks, 500u);
  EXPECT_EQ(difference.methods[0].usual_ticks, 10u);
  EXPECT_EQ(difference.methods[1].id, 3u);
  EXPECT_EQ(difference.methods[1].usual_ticks, 0u);
}

TEST(HealthyMessages, SeenTwiceIsLearntOnce) {
  HealthyMessages healthy;
  const std::vector<MessageProfile> messages = {Profile("a", 0, 1, {}), Profile("a", 10, 1, {}),
                                                Profile("a", 20, 1, {})};
  healthy.Learn(messages, 100, 50);
  healthy.Learn(messages, 100, 50);
  EXPECT_EQ(healthy.Compare(Profile("a", 100, 90, {})).messages, 3u);
  EXPECT_EQ(healthy.Compare(Profile("b", 100, 90, {})).messages, 0u);
}

// The reservoir is of all that was seen, not of the last or the first.
TEST(HealthyMessages, ReservoirIsOfAllThatWasSeen) {
  HealthyMessages healthy;
  std::vector<MessageProfile> messages;
  for (uint64_t i = 0; i < 10'000; ++i) {
    messages.push_back(Profile("a", 1000 * i, i < 5000 ? 100 : 200, {{1, i < 5000 ? 0u : 160u}}));
  }
  healthy.Learn(messages, UINT64_MAX, 500);
  const Difference difference = healthy.Compare(Profile("a", 0, 900, {{1, 1000}}));
  EXPECT_EQ(difference.messages, 10'000u);
  ASSERT_EQ(difference.methods.size(), 1u);
  EXPECT_GT(difference.methods[0].usual_ticks, 10u);
  EXPECT_LT(difference.methods[0].usual_ticks, 150u);
}

}  // namespace
}  // namespace jankbox
