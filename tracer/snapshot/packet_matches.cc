#include "tracer/snapshot/packet_matches.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tracer/perfetto/trace_fields.h"

namespace jankbox {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint8_t kPacketTag = perfetto::BytesTag(perfetto::trace::kPacket);
constexpr uint64_t kNoPacket = 1;  // byte, which is passed over
// What is left of a packet after the match of its head is literals if it is this short: the name
// and the time of a start or an end.
constexpr ptrdiff_t kMaxTailBytes = 12;
// More than a quarter of a piece is not searched.
constexpr size_t kMaxSearchedShare = 4;

uint64_t Load(const uint8_t* at) {
  uint64_t value;
  memcpy(&value, at, sizeof(value));
  return value;
}

// Knuth's multiplicative hash; the constant is 2^64 divided by the golden ratio.
size_t Hash(uint64_t value, uint32_t bits) {
  return static_cast<size_t>((value * 0x9E3779B97F4A7C15u) >> (64 - bits));
}

// Bytes from `at` that are the same from `earlier`, up to `end`.
inline size_t EqualBytes(const uint8_t* at, const uint8_t* earlier, const uint8_t* end) {
  const uint8_t* const begin = at;
  for (; end - at >= 8; at += 8, earlier += 8) {
    const uint64_t difference = Load(at) ^ Load(earlier);
    if (difference != 0) {
      return static_cast<size_t>(at - begin) +
             static_cast<size_t>(std::countr_zero(difference) >> 3);
    }
  }
  while (at < end && *at == *earlier) ++at, ++earlier;
  return static_cast<size_t>(at - begin);
}

// Bytes of the packet that begins at `at`, tag and length included; kNoPacket if none does.
inline uint64_t PacketBytes(const uint8_t* at, const uint8_t* end) {
  if (*at != kPacketTag) return kNoPacket;
  if (end - at >= 2 && at[1] < 0x80) return at[1] + 2u;
  uint64_t length = 0;
  const uint8_t* const begin = at++;
  for (uint32_t shift = 0; at < end && shift <= 28; shift += 7) {
    const uint8_t byte = *at++;
    length |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return length + static_cast<uint64_t>(at - begin);
  }
  return kNoPacket;
}

}  // namespace

PacketMatches::PacketMatches()
    : sequences_(new ZstdSequence[kMaxSequences + kMaxBlocks]),
      hashed_(new uint32_t[size_t{1} << kHashBits]) {}

// Ends the block, and those of only literals that no longer fit into it, at `at`.
void PacketMatches::EndBlock(const uint8_t* at) {
  do {
    const uint8_t* const end = std::min(at, block_ + kMaxBlockBytes);
    sequences_[count_++] = {
        .offset = 0, .literals = static_cast<uint32_t>(end - literals_), .length = 0, .rep = 0};
    block_ = literals_ = end;
  } while (block_ != at);
}

inline void PacketMatches::Add(const uint8_t* at, const uint8_t* earlier, size_t length) {
  if (__builtin_expect(at + length > block_ + kMaxBlockBytes, 0)) EndBlock(at);
  if (count_ >= kMaxSequences) return;  // all the rest are literals
  sequences_[count_++] = {.offset = static_cast<uint32_t>(at - earlier),
                          .literals = static_cast<uint32_t>(at - literals_),
                          .length = static_cast<uint32_t>(length),
                          .rep = 0};
  literals_ = at + length;
}

// Matches the packet's head with that of the last packet of its kind. Returns the match's end.
inline const uint8_t* PacketMatches::FindAtHead(const uint8_t* at, const uint8_t* packet_end) {
  if (end_ - at < 8) return at;
  uint32_t& head = heads_[Hash(Load(at), kHeadBits)];
  const uint8_t* const earlier = begin_ + head;
  head = static_cast<uint32_t>(at - begin_);
  if (earlier == at) return at;
  // A word more is compared than is wanted: all by words.
  const uint8_t* const limit = packet_end + std::min<ptrdiff_t>(8, end_ - packet_end);
  const size_t length = std::min(
      {EqualBytes(at, earlier, limit), static_cast<size_t>(packet_end - at), kMaxMatchBytes});
  if (length < kMinMatchBytes) return at;
  Add(at, earlier, length);
  return at + length;
}

// Greedy, by a hash of the five bytes at each position.
void PacketMatches::Search(const uint8_t* at, const uint8_t* end) {
  if (end_ - at < 8) return;
  const uint8_t* const last = std::min(end, end_ - 8);
  while (at < last) {
    const uint64_t value = Load(at);
    uint32_t& position = hashed_[Hash(value << 24, kHashBits)];
    const uint8_t* const earlier = begin_ + position;
    position = static_cast<uint32_t>(at - begin_);
    if (((value ^ Load(earlier)) << 24) != 0 || earlier == at) {
      ++at;
      continue;
    }
    const size_t length = std::min(EqualBytes(at, earlier, end), kMaxMatchBytes);
    if (length < kMinMatchBytes) return;  // the packet ends within these bytes
    Add(at, earlier, length);
    at += length;
  }
}

void PacketMatches::Reset(std::string_view piece) {
  begin_ = reinterpret_cast<const uint8_t*>(piece.data());
  end_ = begin_ + piece.size();
  block_ = literals_ = begin_;
  count_ = 0;
  // Position 0 if nothing was seen yet: as good a guess as another, bytes are compared.
  memset(heads_, 0, sizeof(heads_));
  memset(hashed_.get(), 0, sizeof(uint32_t) << kHashBits);
}

std::span<const ZstdSequence> PacketMatches::Find(std::string_view piece) {
  Reset(piece);
  size_t searchable = piece.size() / kMaxSearchedShare;
  bool worth = true;
  for (const uint8_t* at = begin_; at < end_;) {
    const bool head = packet_left_ == 0;
    const uint64_t bytes = head ? PacketBytes(at, end_) : packet_left_;
    const auto here = static_cast<size_t>(std::min(bytes, static_cast<uint64_t>(end_ - at)));
    packet_left_ = bytes - here;
    const uint8_t* const packet_end = at + here;
    if (head && worth) at = FindAtHead(at, packet_end);
    if ((packet_end - at > kMaxTailBytes || bytes == kNoPacket) && worth) {
      const auto searched = static_cast<size_t>(packet_end - at);
      worth = searched <= searchable;
      searchable -= searched;
      if (worth) Search(at, packet_end);
    }
    at = packet_end;
  }
  if (!worth) return {};
  EndBlock(end_);
  return {sequences_.get(), count_};
}

}  // namespace jankbox
