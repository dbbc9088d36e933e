// Bytes of a file or of memory, zstd frames decompressed on the way, skippable ones passed over.
// Reading goes on in pieces: memory stays at a few MiB, however long the file. Untrusted input:
// frames that want more than 128 MiB of window are refused. One thread; blocks on the disk.
#ifndef JANKBOX_SYMBOLIZE_PACKETS_BYTE_SOURCE_H_
#define JANKBOX_SYMBOLIZE_PACKETS_BYTE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/scoped_fd.h"
#include "base/status.h"

struct ZSTD_DCtx_s;

namespace jankbox {

class ByteSource {
 public:
  // kNotFound, kInvalidArgument (a folder) and the like if it cannot be opened.
  static Result<ByteSource> OpenFile(const std::string& path);
  // `bytes` outlive the source.
  explicit ByteSource(std::string_view bytes);
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) = delete;
  ~ByteSource();

  // The next bytes; empty at the end. They stay until the next call. kCorrupt if zstd refuses.
  Result<std::string_view> Next();
  // Returns the first bytes of the next Next() without consuming them; shorter than `size` only at
  // the end.
  Result<std::string_view> Peek(size_t size);

  bool compressed() const { return context_ != nullptr; }
  // Of the file as it is on the disk, for progress.
  uint64_t bytes_taken() const { return taken_; }
  uint64_t bytes_in_all() const { return total_; }

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  ByteSource() = default;
  Status ReadRaw();
  Result<std::string_view> NextPiece();
  Result<std::string_view> Decompress();

  ScopedFd fd_;
  std::string buffer_;       // of a file
  std::string_view raw_;     // read, not yet taken
  std::string_view memory_;  // not yet read
  std::string output_;       // of zstd
  std::string peeked_;
  std::string current_;
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  size_t hint_ = 0;  // of zstd: 0 between frames
  bool output_full_ = false;
  bool started_ = false;
  uint64_t taken_ = 0;
  uint64_t total_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_PACKETS_BYTE_SOURCE_H_
