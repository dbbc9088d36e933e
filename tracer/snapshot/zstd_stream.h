// Compresses a trace piece by piece into a sink: each piece is a zstd frame of its own, level 1,
// with a checksum. Of pieces that are mostly slices we name the matches (PacketMatches) and libzstd
// codes them (decision 10); others, and all if libzstd cannot take them, it compresses with its own
// search. Fixed memory, about 1.4 MiB. One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_ZSTD_STREAM_H_
#define JANKBOX_TRACER_SNAPSHOT_ZSTD_STREAM_H_

#include <memory>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "tracer/snapshot/packet_matches.h"
#include "tracer/snapshot/snapshot_input.h"

struct ZSTD_CCtx_s;

namespace jankbox {

class ZstdStream {
 public:
  enum class Matches { kNamed, kFoundByZstd };

  static constexpr size_t kMaxPieceBytes = PacketMatches::kMaxPieceBytes;

  // kNamed if the libzstd of this process takes matches by name.
  static Matches BestMatches();

  // `sink` outlives the stream and gets a frame at a time.
  explicit ZstdStream(const SnapshotSink& sink, Matches matches = BestMatches());
  ~ZstdStream();
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;

  // REQUIRES piece.size() <= kMaxPieceBytes. After an error the sink is not called again and every
  // call returns the same error.
  Status Write(std::string_view piece);
  // Nothing may be written afterwards.
  Status Finish();

 private:
  // Both return the frame's bytes in out_, or 0.
  size_t CompressNamed(std::string_view piece);
  size_t Compress(std::string_view piece);
  Status WriteFrame(std::string_view piece);

  const SnapshotSink& sink_;
  ZSTD_CCtx_s* context_;
  std::optional<PacketMatches> matches_;  // none: found by zstd
  size_t out_capacity_;
  std::unique_ptr<char[]> out_;
  bool empty_ = true;
  Status status_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_ZSTD_STREAM_H_
