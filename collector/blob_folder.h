// The sealed files as received, one a report: <id>.<revision>.pftrace.zst. A name is written once
// for a row that does not exist yet, so nothing that a row points to is ever overwritten.
// THREAD-SAFE for different ids; Ingest keeps equal ids apart. Blocks on the disk.
#ifndef JANKBOX_COLLECTOR_BLOB_FOLDER_H_
#define JANKBOX_COLLECTOR_BLOB_FOLDER_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/status.h"

namespace jankbox::collector {

struct BlobKey {
  std::string id;  // REQUIRES IsUuid(id)
  uint32_t revision = 1;
};

class BlobFolder {
 public:
  explicit BlobFolder(std::string directory) : directory_(std::move(directory)) {}

  static std::string NameOf(const BlobKey& key);
  std::string PathOf(const BlobKey& key) const;

  Status Create();

  // Durable when it returns ok; otherwise nothing is left on the disk.
  Status Put(const BlobKey& key, std::string_view bytes);

  Result<std::string> Read(const BlobKey& key) const;

  // True if the blob is there with that size.
  bool Holds(const BlobKey& key, uint64_t size_bytes) const;

  void Remove(const BlobKey& key);

  // Removes temporary files and blobs that are not in `wanted` (names): what a crash left between
  // a blob and its row. Files of other names are left alone. REQUIRES: no Put() runs, in no
  // process.
  int RemoveAllBut(const std::set<std::string>& wanted);

 private:
  std::string directory_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_BLOB_FOLDER_H_
