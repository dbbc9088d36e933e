#include "tracer/ring/nesting_scan.h"

#include <array>
#include <cstring>

#include "base/atomic_word.h"
#include "base/cpu_features.h"
#include "base/mutex.h"

namespace jankbox {
namespace {

constexpr int kBlock = 8;  // words

constexpr uint32_t kIdBits = kBeginOrEndBits;

}  // namespace

uint32_t BeginOrEndBits(uint64_t word) {
  const bool method = KindOf(word) == EventKind::kBegin || KindOf(word) == EventKind::kEnd;
  return method ? static_cast<uint32_t>(word) & kIdBits : 0;
}

#if defined(__x86_64__)

namespace {

// By the ends of a block that holds nothing but begins and ends.
struct Nesting {
  int32_t excess;  // begins less ends
  int32_t record;  // the largest excess of any of its tails, 0 for the empty one
};
using NestingTable = std::array<Nesting, 256>;

// Bit i of the index says whether word `order[i]` is an end.
constexpr NestingTable MakeTable(const std::array<int, kBlock>& order) {
  NestingTable table{};
  for (unsigned bits = 0; bits < table.size(); ++bits) {
    std::array<bool, kBlock> begins{};
    for (size_t i = 0; i < kBlock; ++i)
      begins[static_cast<size_t>(order[i])] = (bits >> i & 1) == 0;
    int excess = 0, record = 0;
    for (size_t i = kBlock; i > 0; --i) {
      excess += begins[i - 1] ? 1 : -1;
      record = excess > record ? excess : record;
    }
    table[bits] = {excess, record};
  }
  return table;
}
constexpr NestingTable kNesting = MakeTable({0, 1, 2, 3, 4, 5, 6, 7});
constexpr NestingTable kNestingAvx2 = MakeTable({0, 1, 4, 5, 2, 3, 6, 7});

using Words4 = uint32_t __attribute__((vector_size(16)));  // low halves of four words
using Words8 = uint32_t __attribute__((vector_size(32)));  // low halves of eight

#define JANKBOX_AVX2 __attribute__((target("avx2")))

}  // namespace

// Passes over whole blocks that hold method begins and ends alone and no open begin. A chunk of
// 2,000 events is 250 rounds of some twenty instructions: about one instruction a begin or end
// recorded is saved by each one here.
JANKBOX_AVX2 void NestingScan::SkipAvx2(const uint64_t* first) {
  using Floats = float __attribute__((vector_size(32)));
  // Of a vector type that is named by `using`, clang drops the lesser alignment.
  struct __attribute__((packed, may_alias)) Unaligned {
    Floats floats;
  };
  using Ints = int __attribute__((vector_size(32)));
  using Longs = long long __attribute__((vector_size(32)));
  const Words8 kNotOne = ~(Words8{} + 1);
  const int32_t room_before = record_ - excess_;
  int32_t room = room_before;
  const uint64_t* block = at_ - kBlock;
  Words8 sum{};
  while (block >= first) {
    const auto* halves = reinterpret_cast<const Unaligned*>(block);
    // Words 0 1 4 5 2 3 6 7: kNestingAvx2 is in this order.
    const auto low = reinterpret_cast<Words8>(
        __builtin_ia32_shufps256(halves[0].floats, halves[1].floats, 0x88));
    const Words8 is_end = (low & 15) - 1;  // 0: a begin, 1: an end, else neither
    if (!__builtin_ia32_ptestz256(reinterpret_cast<Longs>(is_end),
                                  reinterpret_cast<Longs>(kNotOne)))
      break;
    const Words8 sign = low << 30;  // begin 1: positive; end 2: negative
    const Nesting& nesting = kNestingAvx2[static_cast<uint32_t>(
        __builtin_ia32_movmskps256(reinterpret_cast<Floats>(sign)))];
    if (nesting.record > room) break;
    room -= nesting.excess;
    // A begin counts positive, an end negative.
    sum += reinterpret_cast<Words8>(
        __builtin_ia32_psignd256(reinterpret_cast<Ints>(low), reinterpret_cast<Ints>(sign)));
    block -= kBlock;
    asm("" : "+r"(block));  // else the compiler keeps the last one too
  }
  const uint64_t* const at = block + kBlock;
  const auto words = static_cast<int32_t>(at_ - at);
  const int32_t excess = room_before - room;
  uint32_t total = sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
  // Without the kinds, which were added with the ids: 1 for each begin, -2 for each end.
  total -= static_cast<uint32_t>((words + excess) / 2 - (words - excess));
  id_sum_ += total & kIdBits;
  excess_ += excess;
  at_ = at;
}

void NestingScan::Skip(const uint64_t* first) {
  if (AskOnce<HasAvx2>()) return SkipAvx2(first);
  using Bytes = char __attribute__((vector_size(16)));
  using Shorts = short __attribute__((vector_size(16)));
  using Ints = int __attribute__((vector_size(16)));
  using Floats = float __attribute__((vector_size(16)));
  Words4 sum{};
  while (at_ - first >= kBlock) {
    const uint64_t* block = at_ - kBlock;
    Floats pairs[4];
    memcpy(pairs, block, sizeof(pairs));
    const Words4 low = reinterpret_cast<Words4>(__builtin_ia32_shufps(pairs[0], pairs[1], 0x88));
    const Words4 high = reinterpret_cast<Words4>(__builtin_ia32_shufps(pairs[2], pairs[3], 0x88));
    const Words4 kind_low = low & 15, kind_high = high & 15;
    const auto begin_low = reinterpret_cast<Words4>(kind_low == 1);
    const auto begin_high = reinterpret_cast<Words4>(kind_high == 1);
    const auto end_low = reinterpret_cast<Words4>(kind_low == 2);
    const auto end_high = reinterpret_cast<Words4>(kind_high == 2);
    const auto mask = [](Words4 a, Words4 b) {
      const Shorts shorts =
          __builtin_ia32_packssdw128(reinterpret_cast<Ints>(a), reinterpret_cast<Ints>(b));
      const Bytes bytes = __builtin_ia32_packsswb128(shorts, Shorts{});
      return static_cast<uint32_t>(__builtin_ia32_pmovmskb128(bytes));
    };
    const uint32_t ends = mask(end_low, end_high);
    if ((ends | mask(begin_low, begin_high)) != 0xff) break;
    const Nesting nesting = kNesting[ends];
    if (excess_ + nesting.record > record_) break;
    excess_ += nesting.excess;
    const Words4 id_low = low & kIdBits, id_high = high & kIdBits;
    // An end counts negative: its bits turned and one more.
    sum += (id_low ^ end_low) - end_low + (id_high ^ end_high) - end_high;
    at_ = block;
  }
  id_sum_ += sum[0] + sum[1] + sum[2] + sum[3];
}

#else

void NestingScan::Skip(const uint64_t*) {}

#endif

const uint64_t* NestingScan::NextOpenBegin(const uint64_t* first) {
  while (at_ > first) {
    Skip(first);
    // One by one through what Skip() stopped at, then try again.
    for (int i = 0; i < kBlock && at_ > first; ++i) {
      const uint64_t word = LoadRelaxed(--at_);
      switch (KindOf(word)) {
        case EventKind::kBegin:
        case EventKind::kDispatchBegin:
          id_sum_ += BeginOrEndBits(word);
          if (++excess_ > record_) {
            record_ = excess_;
            return at_;
          }
          break;
        case EventKind::kEnd:
        case EventKind::kDispatchEnd:
          id_sum_ -= BeginOrEndBits(word);
          --excess_;
          break;
        case EventKind::kRebase:
          saw_rebase_ = true;
          break;
        default:
          break;
      }
    }
  }
  return nullptr;
}

}  // namespace jankbox
