#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {
namespace {

constexpr long kTmpfsMagic = 0x01021994;

bool IsTmpfs(const char* path) {
  struct statfs fs {};
  return path != nullptr && path[0] == '/' && statfs(path, &fs) == 0 && fs.f_type == kTmpfsMagic &&
         access(path, W_OK) == 0;
}

constexpr char kSharedMemory[] = "/dev/shm";
constexpr char kInRuntimeFolder[] = "jankbox";

std::string InSharedMemory() { return "/dev/shm/jankbox-" + std::to_string(geteuid()); }

// `spool_dir` with links resolved as far as it exists.
std::string Canonical(const std::string& spool_dir) {
  std::string head = spool_dir;
  std::string tail;
  char resolved[PATH_MAX];
  while (realpath(head.c_str(), resolved) == nullptr) {
    if (head == "/" || head == ".") return spool_dir;
    tail = "/" + std::string(BaseName(head)) + tail;
    head = std::string(DirName(head));
  }
  return resolved + tail;
}

void AddFoldersIn(const std::string& parent, std::vector<std::string>* folders) {
  struct stat st {};
  if (lstat(parent.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid()) return;
  const Result<std::vector<std::string>> names = ListDirectory(parent);
  if (!names.ok()) return;
  for (const std::string& name : names.value()) folders->push_back(JoinPath(parent, name));
}

Status MakePrivateDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return Status::FromErrno(errno, path);
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) return Status::FromErrno(errno, path);
  // /dev/shm is open to all: another tool may have made the name first.
  if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
    return Status(StatusCode::kPermissionDenied, path + ": not a private folder of this user");
  }
  return Status::Ok();
}

}  // namespace

Result<std::string> RingFolder(const std::string& spool_dir) {
  const std::string canonical = Canonical(spool_dir);
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  std::string parent;
  if (IsTmpfs(runtime)) {
    parent = JoinPath(runtime, kInRuntimeFolder);
  } else if (IsTmpfs(kSharedMemory)) {
    parent = InSharedMemory();
  } else {
    Status made = MakeDirectories(canonical, 0700);
    if (!made.ok()) return made;
    const std::string beside = JoinPath(canonical, ".rings");
    Status status = MakePrivateDirectory(beside);
    if (!status.ok()) return status;
    return beside;
  }
  char name[17];
  snprintf(name, sizeof(name), "%016llx",
           static_cast<unsigned long long>(XXH3_64bits(canonical.data(), canonical.size())));
  const std::string folder = JoinPath(parent, name);
  Status status = MakePrivateDirectory(parent);
  if (status.ok()) status = MakePrivateDirectory(folder);
  if (!status.ok()) return status;
  return folder;
}

ScopedFd OpenNamelessRing() {
#if defined(O_TMPFILE)
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  const char* parent = IsTmpfs(runtime) ? runtime : kSharedMemory;
  struct statfs fs {};
  ScopedFd fd(open(parent, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid() && fstatfs(fd.get(), &fs) == 0 && fs.f_type == kTmpfsMagic) return fd;
#endif
  return ScopedFd();
}

std::vector<std::string> RingFolders() {
  std::vector<std::string> folders;
  AddFoldersIn(InSharedMemory(), &folders);
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr) AddFoldersIn(JoinPath(runtime, kInRuntimeFolder), &folders);
  return folders;
}

}  // namespace jankbox
