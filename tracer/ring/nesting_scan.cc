#include "tracer/ring/nesting_scan.h"

#include <array>
#include <atomic>
#include <cstring>

#include "tracer/event/event.h"

namespace jankbox {
namespace {

constexpr int kBlock = 8;  // words

// By the begins and ends of a block, when it holds nothing else (bit i: word i begins).
struct Nesting {
  int8_t excess;  // begins less ends
  int8_t record;  // the largest excess of any of its tails, 0 for the empty one
};
constexpr std::array<Nesting, 256> kNesting = [] {
  std::array<Nesting, 256> table{};
  for (int begins = 0; begins < 256; ++begins) {
    int excess = 0, record = 0;
    for (int i = kBlock - 1; i >= 0; --i) {
      excess += (begins >> i & 1) != 0 ? 1 : -1;
      record = excess > record ? excess : record;
    }
    table[static_cast<size_t>(begins)] = {static_cast<int8_t>(excess), static_cast<int8_t>(record)};
  }
  return table;
}();

uint64_t LoadWord(const uint64_t* at) {
  return std::atomic_ref<uint64_t>(*const_cast<uint64_t*>(at)).load(std::memory_order_relaxed);
}

}  // namespace

uint32_t BeginOrEndBits(uint64_t word) {
  return KindOf(word) == EventKind::kBegin || KindOf(word) == EventKind::kEnd ? IdOf(word) : 0;
}

#if defined(__x86_64__)

// Passes over whole blocks that hold method begins and ends alone and no open begin.
void NestingScan::Skip(const uint64_t* first) {
  using Words = uint32_t __attribute__((vector_size(16)));  // low halves of four words
  using Bytes = char __attribute__((vector_size(16)));
  using Shorts = short __attribute__((vector_size(16)));
  using Ints = int __attribute__((vector_size(16)));
  using Floats = float __attribute__((vector_size(16)));
  Words sum{};
  while (at_ - first >= kBlock) {
    const uint64_t* block = at_ - kBlock;
    Floats pairs[4];
    memcpy(pairs, block, sizeof(pairs));
    const Words low = reinterpret_cast<Words>(__builtin_ia32_shufps(pairs[0], pairs[1], 0x88));
    const Words high = reinterpret_cast<Words>(__builtin_ia32_shufps(pairs[2], pairs[3], 0x88));
    const Words kind_low = low & 15, kind_high = high & 15;
    const auto begin_low = reinterpret_cast<Words>(kind_low == 1);
    const auto begin_high = reinterpret_cast<Words>(kind_high == 1);
    const auto end_low = reinterpret_cast<Words>(kind_low == 2);
    const auto end_high = reinterpret_cast<Words>(kind_high == 2);
    const auto mask = [](Words a, Words b) {
      const Shorts shorts =
          __builtin_ia32_packssdw128(reinterpret_cast<Ints>(a), reinterpret_cast<Ints>(b));
      const Bytes bytes = __builtin_ia32_packsswb128(shorts, Shorts{});
      return static_cast<uint32_t>(__builtin_ia32_pmovmskb128(bytes));
    };
    const uint32_t begins = mask(begin_low, begin_high);
    if ((begins | mask(end_low, end_high)) != 0xff) break;
    const Nesting nesting = kNesting[begins];
    if (excess_ + nesting.record > record_) break;
    excess_ += nesting.excess;
    const Words id_low = low >> 4 & kMaxMethodId, id_high = high >> 4 & kMaxMethodId;
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
      const uint64_t word = LoadWord(--at_);
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
