#include "tracer/snapshot/zstd_stream.h"

#include <cstddef>
#include <initializer_list>

#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_compressSequences, which the shared library exports too
#include <zstd.h>

#include "base/dcheck.h"

// Outside the stable interface: a libzstd without it must load all the same.
#pragma weak ZSTD_compressSequences

namespace jankbox {
namespace {

static_assert(sizeof(ZstdSequence) == sizeof(ZSTD_Sequence) &&
              offsetof(ZstdSequence, offset) == offsetof(ZSTD_Sequence, offset) &&
              offsetof(ZstdSequence, literals) == offsetof(ZSTD_Sequence, litLength) &&
              offsetof(ZstdSequence, length) == offsetof(ZSTD_Sequence, matchLength) &&
              offsetof(ZstdSequence, rep) == offsetof(ZSTD_Sequence, rep));

// 1.5.4 is the oldest that was tried; the parameters' numbers are valid within 1.5.
constexpr unsigned kOldestVersion = 10504;
constexpr unsigned kBehindNewestVersion = 10600;

struct Parameter {
  ZSTD_cParameter parameter;
  int value;
};

// Besides level and checksum. False if libzstd does not know one.
bool SetParameters(ZSTD_CCtx* context, std::initializer_list<Parameter> parameters) {
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  const auto set = [&](ZSTD_cParameter parameter, int value) {
    return ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value)) == 0;
  };
  bool ok = set(ZSTD_c_compressionLevel, 1) && set(ZSTD_c_checksumFlag, 1);
  for (const Parameter& each : parameters) ok = ok && set(each.parameter, each.value);
  return ok;
}

}  // namespace

ZstdStream::Matches ZstdStream::BestMatches() {
  const unsigned version = ZSTD_versionNumber();
  const bool known = version >= kOldestVersion && version < kBehindNewestVersion;
  return known && &ZSTD_compressSequences != nullptr ? Matches::kNamed : Matches::kFoundByZstd;
}

ZstdStream::ZstdStream(const SnapshotSink& sink, Matches matches)
    : sink_(sink),
      context_(ZSTD_createCCtx()),
      out_capacity_(ZSTD_compressBound(kMaxPieceBytes)),
      out_(new char[out_capacity_]) {
  if (context_ == nullptr) status_ = Status(StatusCode::kNoSpace, "no memory to compress with");
  if (matches == Matches::kNamed) matches_.emplace();
}

ZstdStream::~ZstdStream() { ZSTD_freeCCtx(context_); }

Status ZstdStream::Write(std::string_view piece) {
  DCHECK(piece.size() <= kMaxPieceBytes);
  if (piece.empty() || !status_.ok()) return status_;
  empty_ = false;
  return WriteFrame(piece);
}

// Even an empty trace is a frame.
Status ZstdStream::Finish() { return status_.ok() && empty_ ? WriteFrame({}) : status_; }

Status ZstdStream::WriteFrame(std::string_view piece) {
  size_t bytes = matches_ && !piece.empty() ? CompressNamed(piece) : 0;
  if (bytes == 0) bytes = Compress(piece);
  if (bytes == 0) return status_ = Status(StatusCode::kIo, "zstd fails");
  return status_ = sink_(std::string_view(out_.get(), bytes));
}

size_t ZstdStream::CompressNamed(std::string_view piece) {
  const std::span<const ZstdSequence> sequences = matches_->Find(piece);
  if (sequences.empty()) return 0;
  // zstd's own search rests: no tables for it, no copies of input and output.
  if (!SetParameters(context_, {{ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters},
                                {ZSTD_c_validateSequences, 1},
                                {ZSTD_c_minMatch, PacketMatches::kMinMatchBytes},
                                {ZSTD_c_hashLog, ZSTD_HASHLOG_MIN},
                                {ZSTD_c_chainLog, ZSTD_CHAINLOG_MIN},
                                {ZSTD_c_stableInBuffer, 1},
                                {ZSTD_c_stableOutBuffer, 1}})) {
    return 0;
  }
  const size_t bytes = ZSTD_compressSequences(
      context_, out_.get(), out_capacity_, reinterpret_cast<const ZSTD_Sequence*>(sequences.data()),
      sequences.size(), piece.data(), piece.size());
  return ZSTD_isError(bytes) ? 0 : bytes;
}

size_t ZstdStream::Compress(std::string_view piece) {
  if (!SetParameters(context_, {})) return 0;
  const size_t bytes =
      ZSTD_compress2(context_, out_.get(), out_capacity_, piece.data(), piece.size());
  return ZSTD_isError(bytes) ? 0 : bytes;
}

}  // namespace jankbox
