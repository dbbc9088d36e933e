#include "collector/blob_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sealed_file.h"
#include "base/uuid.h"
#include "report/report_file.h"

namespace jankbox::collector {
namespace {

constexpr size_t kUuidLength = 36;

bool IsBlobName(std::string_view name) {
  return name.size() > kUuidLength && IsUuid(name.substr(0, kUuidLength)) &&
         name.ends_with(kReportFileSuffix);
}

}  // namespace

std::string BlobFolder::NameOf(const BlobKey& key) {
  return key.id + "." + std::to_string(key.revision) + kReportFileSuffix;
}

std::string BlobFolder::PathOf(const BlobKey& key) const {
  return JoinPath(directory_, NameOf(key));
}

Status BlobFolder::Create() {
  Status status = MakeDirectories(directory_, 0700);
  if (!status.ok()) return status;
  return SyncDirectory(std::string(DirName(directory_)));
}

Status BlobFolder::Put(const BlobKey& key, std::string_view bytes) {
  Result<SealedFile> file = SealedFile::Create(directory_, NameOf(key));
  if (!file.ok()) return file.status();
  Status status = file->Write(bytes);
  if (!status.ok()) return status;
  status = file->Seal();
  // The rename may have happened before the folder's fsync failed.
  if (!status.ok()) Remove(key);
  return status;
}

Result<std::string> BlobFolder::Read(const BlobKey& key) const {
  return ReadFile(PathOf(key), kMaxReportFileBytes);
}

bool BlobFolder::Holds(const BlobKey& key, uint64_t size_bytes) const {
  struct stat st {};
  return lstat(PathOf(key).c_str(), &st) == 0 && S_ISREG(st.st_mode) &&
         static_cast<uint64_t>(st.st_size) == size_bytes;
}

void BlobFolder::Remove(const BlobKey& key) { unlink(PathOf(key).c_str()); }

int BlobFolder::RemoveAllBut(const std::set<std::string>& wanted) {
  Result<std::vector<std::string>> names = ListDirectory(directory_);
  if (!names.ok()) return 0;
  int removed = 0;
  for (const std::string& name : names.value()) {
    // By prefix and not by the pid in the name: a restarted container has its dead predecessor's.
    const bool ours = name.starts_with(SealedFile::kTemporaryPrefix) || IsBlobName(name);
    if (!ours || wanted.contains(name)) continue;
    if (unlink(JoinPath(directory_, name).c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace jankbox::collector
