// A file that becomes visible whole or not at all, and survives a power cut once it is: temporary
// name, fsync, rename, fsync of the folder (decision 9). Destroyed before Seal() it removes its
// temporary file. A temporary file is locked by whoever writes it: one without that lock is of a
// dead process, whatever PID namespace that had, and is swept. Threads: any one but the app's own.
// Blocks on the disk.
#ifndef JANKBOX_BASE_SEALED_FILE_H_
#define JANKBOX_BASE_SEALED_FILE_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/scoped_fd.h"
#include "base/status.h"

namespace jankbox {

// A new file (0600) in `directory` that nobody else has, locked while it is open: of this process
// and for `name`, as its own name says. `access`: O_WRONLY or O_RDWR.
Result<ScopedFd> CreateTemporary(const std::string& directory, const std::string& name, int access,
                                 std::string* path);

class SealedFile {
 public:
  static constexpr char kTemporaryPrefix[] = ".tmp-";

  // Opens a new temporary file (0600) in `directory`; Seal() renames it to `final_name`.
  static Result<SealedFile> Create(const std::string& directory, const std::string& final_name);

  SealedFile(SealedFile&&) noexcept = default;
  SealedFile& operator=(SealedFile&&) = delete;
  ~SealedFile();

  Status Write(std::string_view bytes);
  int fd() const { return fd_.get(); }

  // Makes the file durable and visible; replaces an older file of that name. After an error the
  // temporary file is removed and nothing is visible.
  Status Seal();

  // Removes temporary files in `directory` that nobody writes any more; returns how many.
  static int SweepOrphans(const std::string& directory);

 private:
  SealedFile(ScopedFd fd, std::string directory, std::string temporary, std::string final_path);

  ScopedFd fd_;
  std::string directory_;
  std::string temporary_path_;
  std::string final_path_;
};

// Makes `bytes` the whole content of `name` in `directory`; a reader sees the old content or the
// new. `durable`: it also survives a power cut. Blocks on the disk.
Status ReplaceFile(const std::string& directory, const std::string& name, std::string_view bytes,
                   bool durable);

// The same for a content that says something of its own file: `content` makes it for the new one.
Status ReplaceFile(const std::string& directory, const std::string& name,
                   const std::function<std::string(int fd)>& content, bool durable);

}  // namespace jankbox

#endif  // JANKBOX_BASE_SEALED_FILE_H_
