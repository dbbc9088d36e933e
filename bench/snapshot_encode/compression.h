// One-shot compression of what an encoder wrote. One thread; throws std::runtime_error.
#ifndef JANKBOX_BENCH_SNAPSHOT_ENCODE_COMPRESSION_H_
#define JANKBOX_BENCH_SNAPSHOT_ENCODE_COMPRESSION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;

namespace jankbox::bench {

bool IsZstd(std::string_view bytes);
std::string ZstdDecompress(std::string_view bytes);

// Keeps its context and its output's memory from one use to the next.
class ZstdCompressor {
 public:
  explicit ZstdCompressor(int level);
  ~ZstdCompressor();
  ZstdCompressor(const ZstdCompressor&) = delete;
  ZstdCompressor& operator=(const ZstdCompressor&) = delete;

  // Compressed size.
  size_t Compress(std::string_view bytes);

 private:
  int level_;
  ZSTD_CCtx_s* context_;
  std::unique_ptr<char[]> out_;
  size_t out_bytes_ = 0;
};

size_t Gzip6Bytes(std::string_view bytes);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_SNAPSHOT_ENCODE_COMPRESSION_H_
