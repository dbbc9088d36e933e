// Whole-file reads and writes and directory listing for cold paths. Threads: any but the app's own.
// Nothing here follows a symbolic link in the last component or blocks on a FIFO.
#ifndef JANKBOX_BASE_FILE_H_
#define JANKBOX_BASE_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/scoped_fd.h"
#include "base/status.h"

namespace jankbox {

// Opens a regular file read-only (O_NOFOLLOW, O_NONBLOCK, O_CLOEXEC); anything else is
// kInvalidArgument.
Result<ScopedFd> OpenRegularFile(const std::string& path);

// Reads all of a regular file, at most `max_bytes` (kInvalidArgument beyond).
Result<std::string> ReadFile(const std::string& path, size_t max_bytes);

// Reads a /proc file, whose size the kernel does not say, at most `max_bytes` (cut beyond). Empty
// when absent.
std::string ReadProcFile(const std::string& path, size_t max_bytes = 1 << 20);

// Writes all of `bytes`, retrying short writes and EINTR.
Status WriteFully(int fd, std::string_view bytes);

// Makes `path` and its parents, each new one with `mode`. Existing directories are left as they
// are.
Status MakeDirectories(const std::string& path, mode_t mode);

// Names (not paths) in a directory, sorted, without "." and "..".
Result<std::vector<std::string>> ListDirectory(const std::string& path);

// fsync of a directory, so that a rename in it survives a power cut.
Status SyncDirectory(const std::string& path);

std::string JoinPath(std::string_view directory, std::string_view name);
std::string_view BaseName(std::string_view path);
std::string_view DirName(std::string_view path);

}  // namespace jankbox

#endif  // JANKBOX_BASE_FILE_H_
