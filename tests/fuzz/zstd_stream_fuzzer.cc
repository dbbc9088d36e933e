// Any bytes, in pieces of any size, must come back as they were from frames whose matches we named:
// libzstd trusts them. The input is made longer by repeating parts of what is there, packets'
// headers among them, as a fuzzer's few bytes hardly fill a block.
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/perfetto/trace_reader.h"
#include "tracer/snapshot/zstd_stream.h"

namespace {

constexpr size_t kMaxTraceBytes = 600'000;

// Of five bytes of input: what is added to the trace. Slice packets for the most part.
void AppendTo(std::string* trace, const uint8_t* five) {
  const size_t count = five[1] | size_t{five[2]} << 8;
  switch (five[0] & 7) {
    case 0: {  // again what was a while before
      const size_t distance = std::min<size_t>(trace->size(), five[3] * 64 + five[4]);
      if (distance == 0) return;
      for (size_t i = 0; i < count; ++i) *trace += (*trace)[trace->size() - distance];
      return;
    }
    case 1:
      trace->append(count, static_cast<char>(five[3]));
      return;
    case 2:  // as it is
      trace->append(reinterpret_cast<const char*>(five), 5);
      return;
    case 3: {  // a packet's header, its content to come or not
      *trace += '\x0a';
      *trace += static_cast<char>(five[1] | 0x80);
      *trace += static_cast<char>(five[2] & 0x7f);
      return;
    }
    default: {
      const size_t packets = five[2] * size_t{five[3]} / 16;
      for (size_t i = 0; i <= packets; ++i) {
        const bool begin = (five[0] >> (3 + i % 5) & 1) != 0;
        *trace += begin ? std::string("\x0a\x10\x50\x08\x68\x02\x5a\x07\x48\x01\x18\x01\x50", 13)
                        : std::string("\x0a\x0b\x50\x08\x68\x02\x5a\x02\x48\x02\x40", 11);
        for (size_t k = begin ? 5 : 2; k > 0; --k) *trace += static_cast<char>(five[4] * i * k);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using jankbox::ZstdStream;
  if (size < 3) return 0;
  const size_t piece_bytes =
      std::min<size_t>((bytes[0] | size_t{bytes[1]} << 8 | size_t{bytes[2]} << 16) % 300'000 + 1,
                       ZstdStream::kMaxPieceBytes);
  std::string trace;
  for (size_t at = 3; at + 5 <= size && trace.size() < kMaxTraceBytes; at += 5) {
    AppendTo(&trace, bytes + at);
  }
  std::string file;
  const jankbox::SnapshotSink sink = [&](std::string_view frame) {
    file += frame;
    return jankbox::Status::Ok();
  };
  ZstdStream stream(sink, ZstdStream::Matches::kNamed);
  for (size_t at = 0, frames = 0; at < trace.size() && frames < 64; ++frames) {
    // The 64th and last takes what is left, so that tiny pieces of long traces cost little.
    const size_t piece =
        frames == 63 ? trace.size() - at : std::min(piece_bytes, trace.size() - at);
    if (piece > ZstdStream::kMaxPieceBytes) {
      trace.resize(at);
      break;
    }
    if (!stream.Write(std::string_view(trace).substr(at, piece)).ok()) abort();
    at += piece;
  }
  if (!stream.Finish().ok()) abort();
  std::string error;
  if (jankbox::testing::DecompressTrace(file, &error) != trace || !error.empty()) abort();
  return 0;
}
