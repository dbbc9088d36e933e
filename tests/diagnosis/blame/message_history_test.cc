#include "diagnosis/blame/message_history.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr int32_t kUiTid = 77;
constexpr double kNsPerTick = 2.0;
constexpr uint64_t kMs = 500'000;  // in ticks

// A window in which messages are written as a thread does.
class MessageHistoryTest : public testing::Test {
 protected:
  MessageHistoryTest() {
    window_.from_ticks = 10 * kMs;
    window_.threads.resize(2);
    window_.threads[0].tid = 5;  // another thread, whose messages do not count
    window_.threads[1].tid = kUiTid;
    NewChunk(window_.from_ticks, false);
    NewChunk(window_.from_ticks, false, 0);
    Begin("other", now_, 0);
    End(now_ + 9 * kMs, 0);
  }

  WindowChunk& NewChunk(uint64_t base, bool gap, size_t thread = 1) {
    WindowChunk& chunk = window_.threads[thread].chunks.emplace_back();
    chunk.base_ticks = base;
    chunk.gap_before = gap;
    return chunk;
  }
  void Begin(const std::string& name, uint64_t ticks, size_t thread = 1) {
    ChunkWords& words = window_.threads[thread].chunks.back().words;
    words.push_back(
        MakeEvent(EventKind::kDispatchBegin, static_cast<uint32_t>(name.size()), ticks));
    for (size_t i = 0; i < name.size(); i += 7) {
      uint64_t word = 0;
      for (size_t k = i; k < std::min(name.size(), i + 7); ++k) {
        word |= uint64_t{static_cast<uint8_t>(name[k])} << (8 * (k - i));
      }
      words.push_back(MakePayload(word));
    }
  }
  void End(uint64_t ticks, size_t thread = 1) {
    window_.threads[thread].chunks.back().words.push_back(
        MakeEvent(EventKind::kDispatchEnd, 0, ticks));
  }
  // One message from now on; the next one begins right after it.
  void Message(const std::string& name, uint64_t wall_ticks) {
    Begin(name, now_);
    now_ += wall_ticks;
    End(now_);
  }
  MessageHistory Read(size_t max_messages = 200) {
    return ReadMessageHistory(window_, kUiTid, now_, kNsPerTick, max_messages);
  }
  static std::string NameOf(const MessageHistory& history, const LoopMessage& message) {
    return message.name == 0 ? "" : history.names.at(message.name - 1);
  }

  RingWindow window_;
  uint64_t now_ = 20 * kMs;
};

TEST_F(MessageHistoryTest, CountsWhatEndedBeforeTheIncident) {
  Message("first", 3 * kMs);
  Message("", 2 * kMs);
  const uint64_t incident = now_;
  Message("the incident itself", 800 * kMs);
  Message("later", 5 * kMs);
  // The incident's begin went through the clock's line and back.
  const MessageHistory history = ReadMessageHistory(window_, kUiTid, incident + 1, kNsPerTick, 200);
  EXPECT_EQ(history.count, 2u);
  EXPECT_EQ(history.busy_ticks, 5 * kMs);
  EXPECT_EQ(history.from_ticks, window_.from_ticks);
  EXPECT_EQ(history.left_out, 0u);
  ASSERT_EQ(history.last.size(), 2u);
  EXPECT_EQ(NameOf(history, history.last[0]), "first");
  EXPECT_EQ(history.last[0].begin_ticks, 20 * kMs);
  EXPECT_EQ(history.last[0].wall_ticks, 3 * kMs);
  EXPECT_EQ(NameOf(history, history.last[1]), "");
}

TEST_F(MessageHistoryTest, LastTwoHundredAreReportedRightAfterWrapAround) {
  for (int i = 0; i < 1000; ++i) Message("message " + std::to_string(i % 300), 2 * kMs);
  const MessageHistory history = Read();
  EXPECT_EQ(history.count, 1000u);
  EXPECT_EQ(history.left_out, 800u);
  ASSERT_EQ(history.last.size(), 200u);
  for (size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(NameOf(history, history.last[i]), "message " + std::to_string((800 + i) % 300));
    EXPECT_EQ(history.last[i].begin_ticks, 20 * kMs + (800 + i) * 2 * kMs);
  }
}

TEST_F(MessageHistoryTest, RunsOfShortMessagesOfOneNameAreOne) {
  for (int i = 0; i < 50; ++i) Message("scroll", kMs / 4);
  Message("scroll", 7 * kMs);
  for (int i = 0; i < 10; ++i) Message("scroll", kMs / 4);
  for (int i = 0; i < 5; ++i) Message("draw", kMs / 4);
  const MessageHistory history = Read(60);
  EXPECT_EQ(history.count, 66u);
  EXPECT_EQ(history.left_out, 6u);
  ASSERT_EQ(history.last.size(), 4u);
  EXPECT_EQ(history.last[0].count, 44u);
  EXPECT_EQ(history.last[0].wall_ticks, 11 * kMs);
  EXPECT_EQ(history.last[1].count, 1u);
  EXPECT_EQ(history.last[1].wall_ticks, 7 * kMs);
  EXPECT_EQ(history.last[2].count, 10u);
  EXPECT_EQ(NameOf(history, history.last[3]), "draw");
}

TEST_F(MessageHistoryTest, WhatEndedBeforeTheWindowDoesNotCount) {
  window_.from_ticks = now_ + 10 * kMs;
  Message("before", 9 * kMs);
  Message("across", 5 * kMs);
  Message("inside", 5 * kMs);
  const MessageHistory history = Read();
  EXPECT_EQ(history.from_ticks, window_.from_ticks);
  EXPECT_EQ(history.count, 2u);
  EXPECT_EQ(history.busy_ticks, 10 * kMs);
}

TEST_F(MessageHistoryTest, LongestAreInOrder) {
  for (const uint64_t ms : {3, 9, 1, 40, 2, 7, 30, 8}) Message("m" + std::to_string(ms), ms * kMs);
  const MessageHistory history = Read(2);
  std::vector<std::string> names;
  for (const LoopMessage& message : history.longest) names.push_back(NameOf(history, message));
  EXPECT_EQ(names, (std::vector<std::string>{"m40", "m30", "m9", "m8", "m7"}));
  EXPECT_EQ(history.last.size(), 2u);
}

TEST_F(MessageHistoryTest, NestedDispatchesBelongToTheOutermostAndNameIt) {
  Begin("", now_);
  Begin("button", now_ + kMs);
  End(now_ + 2 * kMs);
  Begin("menu", now_ + 2 * kMs);
  End(now_ + 3 * kMs);
  End(now_ + 4 * kMs);
  now_ += 4 * kMs;
  const MessageHistory history = Read();
  ASSERT_EQ(history.last.size(), 1u);
  EXPECT_EQ(NameOf(history, history.last[0]), "button");
  EXPECT_EQ(history.last[0].wall_ticks, 4 * kMs);
}

TEST_F(MessageHistoryTest, MessageAcrossTwoChunksIsOne) {
  Begin("long", now_);
  NewChunk(now_ + kMs, false).open_calls = {{0, EventKind::kDispatchBegin, now_}};
  End(now_ + 5 * kMs);
  now_ += 5 * kMs;
  const MessageHistory history = Read();
  ASSERT_EQ(history.last.size(), 1u);
  EXPECT_EQ(NameOf(history, history.last[0]), "long");
}

TEST_F(MessageHistoryTest, MissingEventsMakeItStartAgain) {
  Message("before the gap", 50 * kMs);
  Begin("cut", now_);
  now_ += 30 * kMs;
  NewChunk(now_, true).open_calls = {{0, EventKind::kDispatchBegin, now_ - 10 * kMs}};
  End(now_ + kMs);  // of one that began in the gap
  const uint64_t gap = now_;
  now_ += kMs;
  Message("after", 2 * kMs);
  const MessageHistory history = Read();
  EXPECT_EQ(history.from_ticks, gap);
  EXPECT_EQ(history.count, 2u);
  EXPECT_EQ(history.busy_ticks, 13 * kMs);
  EXPECT_EQ(history.longest.front().wall_ticks, 11 * kMs);
  EXPECT_EQ(NameOf(history, history.last[1]), "after");
}

TEST_F(MessageHistoryTest, EndsWithoutABeginAndUnknownThreadsAreNothing) {
  End(now_);
  End(now_);
  EXPECT_EQ(Read().count, 0u);
  EXPECT_EQ(ReadMessageHistory(window_, 4711, now_, kNsPerTick, 200).count, 0u);
  EXPECT_EQ(ReadMessageHistory(RingWindow(), kUiTid, now_, kNsPerTick, 0).count, 0u);
}

TEST_F(MessageHistoryTest, NamesAreBounded) {
  for (int i = 0; i < 1000; ++i) Message("name " + std::to_string(i), 2 * kMs);
  const MessageHistory history = Read(5000);
  EXPECT_EQ(history.names.size(), MessageHistory::kMaxNames);
  EXPECT_EQ(history.last.size(), 1000u);
  EXPECT_EQ(NameOf(history, history.last.back()), "");
}

}  // namespace
}  // namespace jankbox
