#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/compact_sort.h"

namespace jankbox {
namespace {

// Appends what `fd` yields until end of file or `max_bytes`.
bool ReadAll(int fd, size_t max_bytes, std::string* out) {
  char block[16384];
  while (out->size() < max_bytes) {
    ssize_t n = read(fd, block, std::min(sizeof(block), max_bytes - out->size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) break;
    out->append(block, static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

Result<ScopedFd> OpenRegularFile(const std::string& path) {
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) return Status::FromErrno(errno, path);
  struct stat st {};
  if (fstat(fd.get(), &st) != 0) return Status::FromErrno(errno, path);
  if (!S_ISREG(st.st_mode)) {
    return Status(StatusCode::kInvalidArgument, path + ": not a regular file");
  }
  return fd;
}

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  Result<ScopedFd> fd = OpenRegularFile(path);
  if (!fd.ok()) return fd.status();
  std::string bytes;
  if (!ReadAll(fd->get(), max_bytes + 1, &bytes)) return Status::FromErrno(errno, path);
  if (bytes.size() > max_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  path + ": larger than " + std::to_string(max_bytes) + " bytes");
  }
  return bytes;
}

std::string ReadProcFile(const std::string& path, size_t max_bytes) {
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes;
  if (fd.valid()) ReadAll(fd.get(), max_bytes, &bytes);
  return bytes;
}

Status WriteFully(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Status::FromErrno(errno, "write");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return Status::Ok();
}

Status MakeDirectories(const std::string& path, mode_t mode) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    std::string parent = path.substr(0, end);
    if (mkdir(parent.c_str(), mode) != 0 && errno != EEXIST) {
      return Status::FromErrno(errno, parent);
    }
  }
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return Status::FromErrno(errno, path);
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return Status::FromErrno(errno, path);
  if (!S_ISDIR(st.st_mode)) return Status::FromErrno(ENOTDIR, path);
  return Status::Ok();
}

Result<std::vector<std::string>> ListDirectory(const std::string& path) {
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr) return Status::FromErrno(errno, path);
  std::vector<std::string> names;
  while (dirent* entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  closedir(dir);
  CompactSort(&names);
  return names;
}

Status SyncDirectory(const std::string& path) {
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || fsync(fd.get()) != 0) return Status::FromErrno(errno, path);
  return Status::Ok();
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  path += name;
  return path;
}

std::string_view BaseName(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view DirName(std::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace jankbox
