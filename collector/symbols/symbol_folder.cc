#include "collector/symbols/symbol_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/sealed_file.h"
#include "base/uuid.h"

namespace jankbox::collector {
namespace {

constexpr char kSuffix[] = ".debug";
constexpr uint64_t kLeftFreeBytes = 64u << 20;  // as the spool's floor; reports need it more
constexpr uint64_t kCheckEachBytes = 8u << 20;

std::string NewName() { return NewUuid(RealtimeNs() / kNsPerMs); }

bool LeavesSpace(int fd) {
  struct statvfs disk {};
  if (fstatvfs(fd, &disk) != 0) return true;
  return static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize >= kLeftFreeBytes;
}

}  // namespace

struct IncomingFile::Hash {
  struct Free {
    void operator()(XXH3_state_t* hash) const { XXH3_freeState(hash); }
  };
  std::unique_ptr<XXH3_state_t, Free> state{XXH3_createState()};
};

IncomingFile::IncomingFile(ScopedFd fd, std::string directory, std::string path)
    : fd_(std::move(fd)),
      directory_(std::move(directory)),
      path_(std::move(path)),
      hash_(std::make_unique<Hash>()) {
  XXH3_128bits_reset(hash_->state.get());
}

IncomingFile::~IncomingFile() {
  if (fd_.valid()) unlink(path_.c_str());
}

Status IncomingFile::Write(std::string_view bytes) {
  if (bytes_ == 0 || bytes_ - checked_bytes_ >= kCheckEachBytes) {
    if (!LeavesSpace(fd_.get())) return Status(StatusCode::kNoSpace, "the disk is almost full");
    checked_bytes_ = bytes_;
  }
  const Status status = WriteFully(fd_.get(), bytes);
  if (!status.ok()) return status;
  bytes_ += bytes.size();
  XXH3_128bits_update(hash_->state.get(), bytes.data(), bytes.size());
  return Status::Ok();
}

std::string IncomingFile::ContentHash() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash_->state.get()));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest));
}

Result<std::string> IncomingFile::Keep(const std::string& key) {
  if (fsync(fd_.get()) != 0) return Status::FromErrno(errno, path_);
  std::string kept = JoinPath(directory_, key + "." + NewName() + kSuffix);
  if (rename(path_.c_str(), kept.c_str()) != 0) return Status::FromErrno(errno, kept);
  fd_.Reset();
  const Status status = SyncDirectory(directory_);
  if (status.ok()) return kept;
  unlink(kept.c_str());
  return status;
}

Status SymbolFolder::Create() {
  const Status status = MakeDirectories(directory_, 0700);
  return status.ok() ? SyncDirectory(std::string(DirName(directory_))) : status;
}

Result<std::unique_ptr<IncomingFile>> SymbolFolder::Begin() const {
  std::string path = JoinPath(directory_, SealedFile::kTemporaryPrefix + NewName());
  ScopedFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return Status::FromErrno(errno, path);
  return std::unique_ptr<IncomingFile>(
      new IncomingFile(std::move(fd), directory_, std::move(path)));
}

int SymbolFolder::RemoveAllBut(const std::set<std::string>& wanted) const {
  const Result<std::vector<std::string>> names = ListDirectory(directory_);
  if (!names.ok()) return 0;
  int removed = 0;
  for (const std::string& name : names.value()) {
    const std::string path = JoinPath(directory_, name);
    const bool is_mine = name.starts_with(SealedFile::kTemporaryPrefix) || name.ends_with(kSuffix);
    if (!is_mine || wanted.contains(path)) continue;
    if (unlink(path.c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace jankbox::collector
