#include "bench/snapshot_encode/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <stdexcept>

namespace jankbox::bench {

bool IsZstd(std::string_view bytes) { return bytes.substr(0, 4) == "\x28\xb5\x2f\xfd"; }

std::string ZstdDecompress(std::string_view bytes) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  std::string text;
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  while (in.pos < in.size) {
    ZSTD_outBuffer out = {piece.data(), piece.size(), 0};
    const size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left)) throw std::runtime_error(ZSTD_getErrorName(left));
    text.append(piece, 0, out.pos);
  }
  return text;
}

ZstdCompressor::ZstdCompressor(int level) : level_(level), context_(ZSTD_createCCtx()) {}

ZstdCompressor::~ZstdCompressor() { ZSTD_freeCCtx(context_); }

size_t ZstdCompressor::Compress(std::string_view bytes) {
  const size_t bound = ZSTD_compressBound(bytes.size());
  if (bound > out_bytes_) {
    out_.reset(new char[bound]);
    out_bytes_ = bound;
  }
  const size_t written =
      ZSTD_compressCCtx(context_, out_.get(), out_bytes_, bytes.data(), bytes.size(), level_);
  if (ZSTD_isError(written)) throw std::runtime_error(ZSTD_getErrorName(written));
  return written;
}

size_t Gzip6Bytes(std::string_view bytes) {
  uLongf written = compressBound(bytes.size());
  const std::unique_ptr<Bytef[]> out(new Bytef[written]);
  if (compress2(out.get(), &written, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                6) != Z_OK) {
    throw std::runtime_error("zlib fails");
  }
  return written + 12;  // gzip's header and trailer are that much longer than zlib's
}

}  // namespace jankbox::bench
