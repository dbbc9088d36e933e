// A zstd frame written piece by piece into a sink: level 1, with a checksum. One compression
// context and one 64 KiB output buffer for its whole life (about 1.4 MiB). One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_ZSTD_STREAM_H_
#define JANKBOX_TRACER_SNAPSHOT_ZSTD_STREAM_H_

#include <memory>
#include <string_view>

#include "base/status.h"
#include "tracer/snapshot/snapshot.h"

struct ZSTD_CCtx_s;

namespace jankbox {

class ZstdStream {
 public:
  static constexpr size_t kMaxPieceBytes = 64 << 10;

  // `sink` outlives the stream and gets pieces of at most kMaxPieceBytes.
  explicit ZstdStream(const SnapshotSink& sink);
  ~ZstdStream();
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;

  // After an error the sink is not called again and every call returns the same error.
  Status Write(std::string_view bytes) { return Compress(bytes, false); }
  // Ends the frame. Nothing may be written afterwards.
  Status Finish() { return Compress({}, true); }

 private:
  Status Compress(std::string_view bytes, bool end);

  const SnapshotSink& sink_;
  ZSTD_CCtx_s* context_;
  std::unique_ptr<char[]> out_;
  size_t out_bytes_ = 0;
  Status status_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_ZSTD_STREAM_H_
