// The debug files and mappings that were uploaded or fetched, in one folder: KEY.UUID.debug. A name
// is used once, so that nothing that a row points to is overwritten. THREAD-SAFE; blocks on the
// disk.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_FOLDER_H_
#define JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_FOLDER_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/scoped_fd.h"
#include "base/status.h"

namespace jankbox::collector {

// A file that is being received. Destroyed before Keep() it is removed.
class IncomingFile {
 public:
  ~IncomingFile();
  IncomingFile(const IncomingFile&) = delete;
  IncomingFile& operator=(const IncomingFile&) = delete;

  // kNoSpace also if too little would be left for reports.
  Status Write(std::string_view bytes);
  uint64_t bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  // 16 bytes, XXH3-128 of what was written.
  std::string ContentHash() const;

  // Makes the file durable under a name that begins with `key` (characters of file names), and
  // returns its path.
  Result<std::string> Keep(const std::string& key);

 private:
  friend class SymbolFolder;
  struct Hash;

  IncomingFile(ScopedFd fd, std::string directory, std::string path);

  ScopedFd fd_;
  const std::string directory_;
  const std::string path_;
  std::unique_ptr<Hash> hash_;
  uint64_t bytes_ = 0;
  uint64_t checked_bytes_ = 0;
};

class SymbolFolder {
 public:
  explicit SymbolFolder(std::string directory) : directory_(std::move(directory)) {}

  const std::string& path() const { return directory_; }

  Status Create();

  Result<std::unique_ptr<IncomingFile>> Begin() const;

  // Removes files of this folder's names that are not in `wanted` (paths): what a crash left.
  // REQUIRES: no file is being received, in no process.
  int RemoveAllBut(const std::set<std::string>& wanted) const;

 private:
  const std::string directory_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_FOLDER_H_
