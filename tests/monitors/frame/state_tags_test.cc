#include "monitors/frame/state_tags.h"

#include <gtest/gtest.h>

#include <thread>

namespace jankbox {
namespace {

std::string Text(const std::vector<StateTag>& tags) {
  std::string text;
  for (const StateTag& tag : tags) {
    text += tag.key + "=" + tag.value + "@" + std::to_string(tag.from_ns);
    text += (tag.to_ns != 0 ? "-" + std::to_string(tag.to_ns) : "") + " ";
  }
  return text;
}

TEST(StateTags, HoldUntilChangedOrRemovedAndThePastIsKept) {
  StateTags tags;
  EXPECT_TRUE(tags.Set("screen", "Cart", 100));
  EXPECT_TRUE(tags.Set("user", "new", 150));
  EXPECT_TRUE(tags.Set("screen", "Cart", 180));  // says nothing new
  EXPECT_TRUE(tags.Set("screen", "Checkout", 200));
  tags.Remove("user", 300);
  tags.Remove("nothing", 300);
  EXPECT_EQ(Text(tags.Between(0, 1000)),
            "screen=Cart@100-200 user=new@150-300 screen=Checkout@200 ");
  EXPECT_EQ(Text(tags.Between(210, 250)), "user=new@150-300 screen=Checkout@200 ");
  EXPECT_EQ(Text(tags.Between(310, 310)), "screen=Checkout@200 ");
  EXPECT_EQ(Text(tags.Between(0, 99)), "");
  tags.Remove("screen", 400);
}

TEST(StateTags, TheStateScreenIsTheScene) {
  StateTags tags;
  EXPECT_EQ(StateTags::CurrentScene(), 0u);
  tags.Set("screen", "Cart", 1);
  const uint32_t cart = StateTags::CurrentScene();
  EXPECT_EQ(tags.SceneName(cart), "Cart");
  tags.Set("screen", "Checkout", 2);
  EXPECT_EQ(tags.SceneName(StateTags::CurrentScene()), "Checkout");
  tags.Set("screen", "Cart", 3);
  EXPECT_EQ(StateTags::CurrentScene(), cart);
  tags.Remove("screen", 4);
  EXPECT_EQ(StateTags::CurrentScene(), 0u);
  EXPECT_EQ(tags.SceneName(0), "");
  EXPECT_EQ(tags.SceneName(77), "");
}

TEST(StateTags, AreBounded) {
  StateTags tags;
  EXPECT_FALSE(tags.Set("", "x", 1));
  EXPECT_TRUE(tags.Set(std::string(1000, 'k'), std::string(1000, 'v'), 1));
  EXPECT_EQ(tags.Between(1, 1)[0].key.size(), StateTags::kMaxKeyBytes);
  EXPECT_EQ(tags.Between(1, 1)[0].value.size(), StateTags::kMaxValueBytes);
  for (size_t i = 1; i < StateTags::kMaxHeld; ++i) {
    EXPECT_TRUE(tags.Set("key" + std::to_string(i), "", 1));
  }
  EXPECT_FALSE(tags.Set("one more", "", 1));
  EXPECT_TRUE(tags.Set("key1", "changed", 2));
  for (uint64_t i = 0; i < 1000; ++i) tags.Set("key1", std::to_string(i), 3 + i);
  EXPECT_EQ(tags.Between(0, 5000).size(), StateTags::kMaxHeld + StateTags::kMaxEnded);
  for (uint32_t i = 0; i < 2 * StateTags::kMaxScenes; ++i) {
    tags.Set("screen", "scene " + std::to_string(i), 5000);
  }
  tags.Remove("key2", 5001);
  for (uint32_t i = 0; i < 2 * StateTags::kMaxScenes; ++i) {
    tags.Set("screen", "scene " + std::to_string(i), 5002);
  }
  EXPECT_EQ(tags.SceneName(StateTags::CurrentScene()), "(others)");
  EXPECT_EQ(tags.SceneName(3), "scene 2");
  tags.Remove("screen", 5003);
}

TEST(StateTags, AreAnyThreads) {
  StateTags tags;
  std::thread threads[3];
  for (size_t t = 0; t < 3; ++t) {
    threads[t] = std::thread([&tags, t] {
      for (uint64_t i = 1; i < 2000; ++i) {
        tags.Set("screen", "s" + std::to_string(i % 5), i);
        tags.Set("thread" + std::to_string(t), "", i);
        tags.Between(0, i);
        tags.Remove("thread" + std::to_string(t), i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  tags.Remove("screen", 3000);
  EXPECT_EQ(tags.Between(4000, 4000).size(), 0u);
}

}  // namespace
}  // namespace jankbox
