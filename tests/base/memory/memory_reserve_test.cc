#include "base/memory/memory_reserve.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace jankbox {
namespace {

constexpr size_t kBytes = 64 << 10;

class BlockHeapTest : public testing::Test {
 protected:
  alignas(BlockHeap::kAlignment) std::byte memory_[kBytes];
  BlockHeap heap_{memory_};
};

TEST_F(BlockHeapTest, BlocksAreAlignedAndOfTheMemory) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{64}, size_t{65}, size_t{1000}}) {
    void* block = heap_.Take(bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_TRUE(heap_.Has(block));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % BlockHeap::kAlignment, 0u);
  }
  int elsewhere = 0;
  EXPECT_FALSE(heap_.Has(&elsewhere));
  EXPECT_FALSE(heap_.Has(memory_ + kBytes));
}

TEST_F(BlockHeapTest, TakesNoMoreThanThereIs) {
  EXPECT_EQ(heap_.Take(kBytes), nullptr);
  EXPECT_EQ(heap_.Take(SIZE_MAX), nullptr);
  EXPECT_NE(heap_.Take(kBytes - BlockHeap::kAlignment), nullptr);
  EXPECT_EQ(heap_.Take(0), nullptr);
}

TEST_F(BlockHeapTest, NeighboursThatAreFreeBecomeOne) {
  std::vector<void*> blocks;
  while (void* block = heap_.Take(1000)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), kBytes / 1088);
  for (void* block : blocks) heap_.Give(block);
  EXPECT_NE(heap_.Take(kBytes - BlockHeap::kAlignment), nullptr);
}

TEST_F(BlockHeapTest, NoBlockIsAnothersThroughRandomUse) {
  struct Taken {
    unsigned char* at;
    size_t bytes;
    unsigned char filled;
  };
  std::mt19937 random(7);
  std::vector<Taken> taken;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 && !taken.empty()) {
      const size_t which = random() % taken.size();
      const Taken block = taken[which];
      for (size_t at = 0; at < block.bytes; ++at) ASSERT_EQ(block.at[at], block.filled);
      heap_.Give(block.at);
      taken.erase(taken.begin() + static_cast<ptrdiff_t>(which));
      continue;
    }
    const size_t bytes = random() % 3000;
    auto* at = static_cast<unsigned char*>(heap_.Take(bytes));
    if (at == nullptr) continue;
    const auto filled = static_cast<unsigned char>(random());
    memset(at, filled, bytes);
    taken.push_back({at, bytes, filled});
  }
  for (const Taken& block : taken) heap_.Give(block.at);
  EXPECT_NE(heap_.Take(kBytes - BlockHeap::kAlignment), nullptr);
}

TEST(MemoryReserve, GivesMallocsBlocksBackToMalloc) {
  for (size_t alignment : {size_t{1}, size_t{16}, size_t{64}, size_t{4096}}) {
    void* block = memory_reserve::Take(100, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u);
    memset(block, 1, 100);
    memory_reserve::Give(block);
  }
  memory_reserve::Give(nullptr);
  EXPECT_EQ(memory_reserve::Uses(), 0u);
}

}  // namespace
}  // namespace jankbox
