// Finds the repeated bytes in the packets of a trace, as zstd's sequences: a few literals, then a
// match. Made for begins and ends of slices, which are one match with the last packet of their kind
// and a few bytes of name and time; what else there is, is searched as zstd does. Every match is
// found by comparing bytes: whatever the input, the sequences describe it. One thread; allocates at
// construction only (about 580 KiB).
#ifndef JANKBOX_TRACER_SNAPSHOT_PACKET_MATCHES_H_
#define JANKBOX_TRACER_SNAPSHOT_PACKET_MATCHES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace jankbox {

// `literals` bytes as they are, then `length` bytes that are `offset` bytes earlier too. Length
// and offset 0 end a block. Laid out as ZSTD_Sequence.
struct ZstdSequence {
  uint32_t offset;
  uint32_t literals;
  uint32_t length;
  uint32_t rep;  // 0: zstd finds repeated offsets itself, if at all
};

class PacketMatches {
 public:
  static constexpr size_t kMaxPieceBytes = 256 << 10;
  static constexpr size_t kMaxBlockBytes = 128 << 10;  // RFC 8878, 3.1.1.2.4
  static constexpr size_t kMinMatchBytes = 5;

  PacketMatches();

  // Sequences of `piece`, which continues the piece before it (a packet may be in both, but not
  // its length) and is compressed on its own. Together they cover it; the last one ends a block.
  // None if more than a quarter of it would have to be searched: zstd does that better. Good
  // until the next call. REQUIRES 0 < piece.size() <= kMaxPieceBytes.
  std::span<const ZstdSequence> Find(std::string_view piece);

 private:
  static constexpr size_t kMaxSequences = 32 << 10;
  // Ends of blocks: a block ends early by less than kMaxMatchBytes.
  static constexpr size_t kMaxBlocks = 8;
  static constexpr size_t kMaxMatchBytes = 32 << 10;
  static constexpr uint32_t kHeadBits = 8;
  static constexpr uint32_t kHashBits = 14;

  void Reset(std::string_view piece);
  const uint8_t* FindAtHead(const uint8_t* at, const uint8_t* packet_end);
  void Search(const uint8_t* at, const uint8_t* end);
  void Add(const uint8_t* at, const uint8_t* earlier, size_t length);
  void EndBlock(const uint8_t* at);

  std::unique_ptr<ZstdSequence[]> sequences_;
  std::unique_ptr<uint32_t[]> hashed_;  // positions in the piece, by their first bytes
  uint32_t heads_[1 << kHeadBits];      // of packets, by theirs
  size_t count_ = 0;
  const uint8_t* begin_ = nullptr;
  const uint8_t* end_ = nullptr;
  const uint8_t* block_ = nullptr;     // its start
  const uint8_t* literals_ = nullptr;  // after the last match
  uint64_t packet_left_ = 0;           // bytes of a packet that begins in an earlier piece
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_PACKET_MATCHES_H_
