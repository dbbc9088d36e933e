#include "symbolize/packets/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>

namespace jankbox {
namespace {

constexpr size_t kMemoryPieceBytes = 1 << 20;
constexpr int kMaxWindowLog = 27;  // what `zstd` itself reads by default
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";

}  // namespace

void ByteSource::FreeContext::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ByteSource::ByteSource(std::string_view bytes) : memory_(bytes), total_(bytes.size()) {}
ByteSource::ByteSource(ByteSource&&) noexcept = default;
ByteSource::~ByteSource() = default;

Result<ByteSource> ByteSource::OpenFile(const std::string& path) {
  ByteSource source;
  source.fd_.Reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!source.fd_.valid() || fstat(source.fd_.get(), &st) != 0) {
    return Status::FromErrno(errno, path);
  }
  if (S_ISDIR(st.st_mode)) return Status::FromErrno(EISDIR, path);
  source.total_ = static_cast<uint64_t>(st.st_size);
  source.buffer_.resize(kMemoryPieceBytes);
  return source;
}

// Leaves `raw_` empty at the end.
Status ByteSource::ReadRaw() {
  if (!raw_.empty()) return Status::Ok();
  if (!fd_.valid()) {
    raw_ = memory_.substr(0, kMemoryPieceBytes);
    memory_.remove_prefix(raw_.size());
  } else {
    ssize_t n;
    do {
      n = read(fd_.get(), buffer_.data(), buffer_.size());
    } while (n < 0 && errno == EINTR);
    if (n < 0) return Status::FromErrno(errno, "read");
    raw_ = std::string_view(buffer_.data(), static_cast<size_t>(n));
  }
  taken_ += raw_.size();
  return Status::Ok();
}

Result<std::string_view> ByteSource::NextPiece() {
  Status status = ReadRaw();
  if (!status.ok()) return status;
  if (!started_) {
    started_ = true;
    if (raw_.substr(0, kZstdMagic.size()) == kZstdMagic) {
      context_.reset(ZSTD_createDCtx());
      if (context_ == nullptr) return Status(StatusCode::kNoSpace, "no memory for zstd");
      ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
      output_.resize(kMemoryPieceBytes);
    }
  }
  if (context_ != nullptr) return Decompress();
  const std::string_view piece = raw_;
  raw_ = {};
  return piece;
}

Result<std::string_view> ByteSource::Decompress() {
  while (true) {
    Status status = output_full_ ? Status::Ok() : ReadRaw();
    if (!status.ok()) return status;
    if (raw_.empty() && !output_full_) {
      if (hint_ != 0) return Status(StatusCode::kCorrupt, "cut off inside a zstd frame");
      return std::string_view();
    }
    ZSTD_inBuffer in{raw_.data(), raw_.size(), 0};
    ZSTD_outBuffer out{output_.data(), output_.size(), 0};
    hint_ = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(hint_)) {
      return Status(StatusCode::kCorrupt, std::string("zstd: ") + ZSTD_getErrorName(hint_));
    }
    raw_.remove_prefix(in.pos);
    output_full_ = out.pos == out.size && hint_ != 0;
    if (out.pos > 0) return std::string_view(output_.data(), out.pos);
  }
}

Result<std::string_view> ByteSource::Next() {
  if (peeked_.empty()) return NextPiece();
  current_.swap(peeked_);
  peeked_.clear();
  return std::string_view(current_);
}

Result<std::string_view> ByteSource::Peek(size_t size) {
  while (peeked_.size() < size) {
    Result<std::string_view> piece = NextPiece();
    if (!piece.ok()) return piece.status();
    if (piece.value().empty()) break;
    peeked_ += piece.value();
  }
  return std::string_view(peeked_).substr(0, size);
}

}  // namespace jankbox
