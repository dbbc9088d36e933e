#include "tracer/snapshot/zstd_stream.h"

#include <zstd.h>

namespace jankbox {

ZstdStream::ZstdStream(const SnapshotSink& sink)
    : sink_(sink), context_(ZSTD_createCCtx()), out_(new char[kMaxPieceBytes]) {
  if (context_ == nullptr) {
    status_ = Status(StatusCode::kNoSpace, "no memory to compress with");
    return;
  }
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, 1);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
}

ZstdStream::~ZstdStream() { ZSTD_freeCCtx(context_); }

Status ZstdStream::Compress(std::string_view bytes, bool end) {
  if (!status_.ok()) return status_;
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  size_t left = 1;
  while (end ? left != 0 : in.pos < in.size) {
    ZSTD_outBuffer out = {out_.get(), kMaxPieceBytes, out_bytes_};
    left = ZSTD_compressStream2(context_, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) {
      return status_ = Status(StatusCode::kIo, ZSTD_getErrorName(left));
    }
    out_bytes_ = out.pos;
    if (out_bytes_ == kMaxPieceBytes || (end && left == 0)) {
      status_ = sink_(std::string_view(out_.get(), out_bytes_));
      out_bytes_ = 0;
      if (!status_.ok()) return status_;
    }
  }
  return status_;
}

}  // namespace jankbox
