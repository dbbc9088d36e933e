#include "tracer/snapshot/packet_matches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/emulator.h"
#include "tests/tracer/snapshot/random_trace.h"

namespace jankbox::testing {
namespace {

using Sequences = std::span<const ZstdSequence>;

// What a zstd decoder makes of the sequences, with literals from where they stand in `piece`. Fails
// the test if they break a rule of the format.
std::string Decode(Sequences sequences, std::string_view piece) {
  std::string out;
  size_t block_begin = 0;
  for (const ZstdSequence& sequence : sequences) {
    if (sequence.literals > piece.size() - out.size()) {
      ADD_FAILURE() << "more literals than there are bytes";
      return out;
    }
    out += piece.substr(out.size(), sequence.literals);
    if (sequence.length == 0) {
      EXPECT_EQ(sequence.offset, 0u);
      EXPECT_GT(out.size(), block_begin) << "empty block";
      EXPECT_LE(out.size() - block_begin, PacketMatches::kMaxBlockBytes);
      block_begin = out.size();
      continue;
    }
    EXPECT_GE(sequence.length, PacketMatches::kMinMatchBytes);
    if (sequence.offset == 0 || sequence.offset > out.size()) {
      ADD_FAILURE() << "offset " << sequence.offset << " at " << out.size();
      return out;
    }
    for (uint32_t i = 0; i < sequence.length; ++i) out += out[out.size() - sequence.offset];
  }
  EXPECT_EQ(block_begin, out.size()) << "the last block has no end";
  return out;
}

size_t Literals(Sequences sequences) {
  size_t literals = 0;
  for (const ZstdSequence& sequence : sequences) literals += sequence.literals;
  return literals;
}

// Finds and decodes `trace` in pieces of random sizes; returns how many were not left to zstd.
size_t CheckPieces(Random* random, std::string_view trace) {
  PacketMatches matches;
  size_t named = 0;
  while (!trace.empty()) {
    const size_t limit = (*random)() % 4 == 0 ? 300 : PacketMatches::kMaxPieceBytes;
    const size_t size = std::min(trace.size(), static_cast<size_t>((*random)() % limit + 1));
    // In memory of its own, after which a sanitizer watches.
    const std::vector<char> bytes(trace.begin(), trace.begin() + static_cast<ptrdiff_t>(size));
    const std::string_view piece(bytes.data(), bytes.size());
    trace.remove_prefix(piece.size());
    const Sequences sequences = matches.Find(piece);
    if (sequences.empty()) continue;
    ++named;
    if (Decode(sequences, piece) != piece) {
      ADD_FAILURE() << "another piece of " << piece.size() << " bytes";
      break;
    }
  }
  return named;
}

// Bytes of the packets in `slices` that end up to `limit`.
size_t WholePackets(const std::string& slices, size_t limit) {
  size_t bytes = 0;
  while (true) {
    const auto low = static_cast<uint8_t>(slices[bytes + 1]);
    const auto high = static_cast<uint8_t>(slices[bytes + 2]);
    const size_t packet = low < 0x80 ? 2u + low : 3u + (low & 0x7fu) + high * 128u;
    if (bytes + packet > limit) return bytes;
    bytes += packet;
  }
}

TEST(PacketMatches, SequencesOfSlicesMakeThePiece) {
  Random random(1);
  size_t named = 0;
  const int traces = ByMachine(10, 1);
  for (int i = 0; i < traces; ++i) named += CheckPieces(&random, SliceTrace(&random, 700'000));
  EXPECT_GT(named, ByMachine(20u, 0u));
}

TEST(PacketMatches, SequencesOfAnythingMakeThePiece) {
  Random random(2);
  size_t named = 0;
  const int traces = ByMachine(30, 3);
  for (int i = 0; i < traces; ++i) named += CheckPieces(&random, MixedTrace(&random, 700'000));
  EXPECT_GT(named, ByMachine(20u, 0u));
}

TEST(PacketMatches, EverySizeFromOneByte) {
  Random random(3);
  const std::string trace = SliceTrace(&random, 2000);
  for (size_t begin : {size_t{0}, size_t{300}, size_t{777}}) {
    for (size_t size = 1; size < 600; ++size) {
      PacketMatches matches;
      const std::vector<char> bytes(trace.data() + begin, trace.data() + begin + size);
      const std::string_view piece(bytes.data(), bytes.size());
      const Sequences sequences = matches.Find(piece);
      if (sequences.empty()) continue;
      ASSERT_TRUE(Decode(sequences, piece) == piece) << begin << " " << size;
    }
  }
}

TEST(PacketMatches, SliceIsOneMatchAndTheBytesOfNameAndTime) {
  std::string piece;
  for (int i = 0; i < 1000; ++i) {
    piece += std::string("\x0a\x10\x50\x08\x68\x02\x5a\x07\x48\x01\x18\x01\x50", 13);
    for (int byte : {i % 100, 0, 0x40, i % 7, i % 31}) piece += static_cast<char>(byte);
    piece += std::string("\x0a\x0b\x50\x08\x68\x02\x5a\x02\x48\x02\x40", 11);
    for (int byte : {i % 90, i % 3}) piece += static_cast<char>(byte);
  }
  PacketMatches matches;
  const Sequences sequences = matches.Find(piece);
  EXPECT_LE(sequences.size(), 2 * 1000 + 1u);  // the block's end
  EXPECT_LE(Literals(sequences), 13 + 11 + 1000 * (5 + 2u));
}

// A long packet over the border of two blocks: of zeros, one match after another; of noise, none.
TEST(PacketMatches, LongMatchesAndLongLiteralsAreCutIntoBlocks) {
  Random random(4);
  const std::string slices = SliceTrace(&random, PacketMatches::kMaxPieceBytes);
  const std::string zeros(40'000, '\0');
  std::string noise;
  while (noise.size() < zeros.size()) noise += static_cast<char>(random());
  for (const std::string& text : {zeros, noise}) {
    const size_t few = ByMachine(1, 8);
    for (size_t before = 90'000; before < 131'200; before += (before < 131'000 ? 1001 : 9) * few) {
      const std::string piece =
          slices.substr(0, WholePackets(slices, before)) + "\x0a\xc0\xb8\x02" + text + slices;
      PacketMatches matches;
      const std::string_view cut = std::string_view(piece).substr(0, slices.size());
      const Sequences sequences = matches.Find(cut);
      ASSERT_FALSE(sequences.empty());
      EXPECT_TRUE(Decode(sequences, cut) == cut);
    }
  }
}

// Of packets of seven bytes, two of them new, a piece holds more than there is room for matches.
TEST(PacketMatches, BeyondItsRoomAllIsLiterals) {
  Random random(5);
  std::string piece;
  while (piece.size() + 7 <= PacketMatches::kMaxPieceBytes) {
    piece += "\x0a\x05\x68\x02\x40";
    piece += static_cast<char>(random());
    piece += static_cast<char>(random());
  }
  PacketMatches matches;
  const Sequences sequences = matches.Find(piece);
  ASSERT_FALSE(sequences.empty());
  EXPECT_LT(sequences.size(), piece.size() / 7);
  EXPECT_TRUE(Decode(sequences, piece) == piece);
}

TEST(PacketMatches, MostlyOtherPacketsAreLeftToZstd) {
  Random random(6);
  PacketMatches matches;
  EXPECT_TRUE(matches.Find(TextTrace(&random, 100'000)).empty());
  EXPECT_TRUE(matches.Find(SliceTrace(&random, 60'000) + TextTrace(&random, 40'000)).empty());
  EXPECT_FALSE(matches.Find(SliceTrace(&random, 95'000) + TextTrace(&random, 5'000)).empty());
}

// A packet's border is where the packet before ends, also when that is in two pieces or three.
TEST(PacketMatches, BordersAreFollowedOverPieces) {
  Random random(7);
  const std::string text(100'000, '\x0a');  // looks like borders
  const std::string head = std::string("\x0a\xa0\x8d\x06", 4) + text;
  const std::string slices = SliceTrace(&random, 50'000);
  PacketMatches fresh;
  const Sequences expected_view = fresh.Find(slices);
  const std::vector<ZstdSequence> expected(expected_view.begin(), expected_view.end());
  PacketMatches matches;
  matches.Find(std::string_view(head).substr(0, 30'000));
  matches.Find(std::string_view(head).substr(30'000, 60'000));
  const std::string last = head.substr(90'000) + slices;
  const Sequences sequences = matches.Find(last);
  EXPECT_TRUE(Decode(sequences, last) == last);
  // The slices are taken apart as they are alone.
  ASSERT_GE(sequences.size(), expected.size());
  for (size_t i = 2; i <= expected.size(); ++i) {
    EXPECT_EQ(sequences[sequences.size() - i].length, expected[expected.size() - i].length);
  }
}

}  // namespace
}  // namespace jankbox::testing
