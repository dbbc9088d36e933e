#include "tracer/hook/packed_relocations.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace jankbox {
namespace {

using State = PackedRelocations::State;

constexpr uint64_t kTableAt = 0x1000;
constexpr uint64_t kModuleBytes = 0x4000;

void AppendNumber(int64_t value, std::string* table) {
  for (bool more = true; more;) {
    const uint8_t low = value & 0x7f;
    value >>= 7;
    more = !((value == 0 && (low & 0x40) == 0) || (value == -1 && (low & 0x40) != 0));
    *table += static_cast<char>(low | (more ? 0x80 : 0));
  }
}

std::string Packed(std::initializer_list<int64_t> numbers) {
  std::string table = "APS2";
  for (int64_t number : numbers) AppendNumber(number, &table);
  return table;
}

// What is read of `table`, which ends if memory does.
struct Outcome {
  State state;
  std::vector<Relocation> relocations;
};

Outcome ReadAll(const std::string& table, bool is_64 = true) {
  const std::unique_ptr<std::byte[]> exact(new std::byte[table.size() + 1]);
  memcpy(exact.get(), table.data(), table.size());
  static std::byte rest[kModuleBytes];
  const ElfImage image({EM_AARCH64, is_64}, 0,
                       {{kTableAt, table.size(), exact.get()}, {0x100000, kModuleBytes, rest}}, 0,
                       0);
  PackedRelocations packed(image, {kTableAt, table.size()});
  Outcome outcome{};
  Relocation relocation;
  while (packed.Next(&relocation)) outcome.relocations.push_back(relocation);
  outcome.state = packed.state();
  return outcome;
}

constexpr std::initializer_list<int64_t> kAllKindsOfGroups = {
    // clang-format off
    8, 0x2000,                            // relocations, first offset
    2, 1 | 2, 8, 0x401,                   // same info, offsets 8 apart, no addends
    2, 2, 16, 7, 9,                       // offsets 16 apart, an info each
    1, 8, -24, 11, 100,                   // all in full, with an addend
    1, 8, 8, 11, -30,                     // addends are relative to the last one
    1, 1 | 4 | 8, 0x402, 5, 8,            // a shared addend, and offsets of their own
    1, 1, 0x403, 8,                       // without addends again: 0
    // clang-format on
};

TEST(PackedRelocations, EveryKindOfGroup) {
  const Outcome outcome = ReadAll(Packed(kAllKindsOfGroups));
  EXPECT_EQ(outcome.state, State::kEnd);
  const Relocation expected[] = {
      {0x2008, 0x401, 0}, {0x2010, 0x401, 0}, {0x2020, 7, 0},      {0x2030, 9, 0},
      {0x2018, 11, 100},  {0x2020, 11, 70},   {0x2028, 0x402, 75}, {0x2030, 0x403, 0},
  };
  ASSERT_EQ(outcome.relocations.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(outcome.relocations[i].offset, expected[i].offset) << i;
    EXPECT_EQ(outcome.relocations[i].info, expected[i].info) << i;
    EXPECT_EQ(outcome.relocations[i].addend, expected[i].addend) << i;
  }
}

TEST(PackedRelocations, TableCutAnywhereIsCorruptAndReadNoFurther) {
  const std::string table = Packed(kAllKindsOfGroups);
  for (size_t size = 0; size < table.size(); ++size) {
    const Outcome outcome = ReadAll(table.substr(0, size));
    EXPECT_EQ(outcome.state, size < 4 ? State::kUnknown : State::kCorrupt) << size;
    EXPECT_LT(outcome.relocations.size(), 8u);
  }
}

TEST(PackedRelocations, MoreRelocationsThanWordsAreCorruptAtOnce) {
  // Members of such a group take no bytes: only their number can end the reading.
  for (int64_t count : {int64_t{4000}, int64_t{1} << 40, INT64_MAX, int64_t{-1}}) {
    const Outcome outcome = ReadAll(Packed({count, 0, count, 1 | 2, 0, 0x401}));
    EXPECT_EQ(outcome.state, State::kCorrupt) << count;
    EXPECT_TRUE(outcome.relocations.empty());
  }
}

TEST(PackedRelocations, GroupsThatDoNotAddUpAreCorrupt) {
  EXPECT_EQ(ReadAll(Packed({2, 0, 3, 1 | 2, 8, 7})).state, State::kCorrupt);
  EXPECT_EQ(ReadAll(Packed({2, 0, 0, 1 | 2, 8, 7})).state, State::kCorrupt);
  EXPECT_EQ(ReadAll(Packed({0, 0})).state, State::kEnd);
  EXPECT_EQ(ReadAll("APR1....").state, State::kUnknown);
  EXPECT_EQ(ReadAll("APS2" + std::string(12, '\xff')).state, State::kCorrupt);  // endless number
}

TEST(PackedRelocations, NumbersOf32BitTablesWrapAsItsWordsDo) {
  const Outcome outcome = ReadAll(Packed({2, 0x10, 2, 1 | 2, -0x20, 0x15}), /*is_64=*/false);
  EXPECT_EQ(outcome.state, State::kEnd);
  ASSERT_EQ(outcome.relocations.size(), 2u);
  EXPECT_EQ(outcome.relocations[0].offset, 0xfffffff0u);
  EXPECT_EQ(outcome.relocations[1].offset, 0xffffffd0u);
}

}  // namespace
}  // namespace jankbox
