// Which debug files and mappings there are, and which reports want them: rows of the collector's
// store. Every change of the symbols has a version, which tells the reports that are to be named
// again. THREAD-SAFE; blocks on the disk.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_STORE_H_
#define JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_STORE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "collector/store.h"
#include "symbolize/elf_contents.h"

namespace jankbox::collector {

// The key of a mapping: that of one version of one app. A debug file's key is its build id.
std::string MappingKey(const std::string& app, const std::string& app_version);
bool IsMappingKey(const std::string& key);

// The best file of its key.
struct SymbolFile {
  std::string key;
  std::string path;
  bool uploaded = false;  // it is in the collector's own folder
  uint64_t bytes = 0;
  std::string content_hash;  // of an uploaded one
  ElfContents contents = ElfContents::kNothing;
  std::string app;  // of a mapping
  std::string app_version;
  int64_t received_at_ms = 0;
  std::string problem;   // why it gave no names the last time; empty: it did
  uint64_t reports = 0;  // that want it; of List() and Find()
};

struct PutOutcome {
  enum class Result {
    kStored,
    kDuplicate,  // the same is there
    kKept,       // another file is there, which says as much or more
  };
  Result result = Result::kStored;
  std::string replaced_path;  // of an uploaded file that no row points to now; may be empty
};

// A file in a folder of the user's, as it was when it was read.
struct FolderFile {
  uint64_t bytes = 0;
  int64_t changed_ns = 0;
  bool operator==(const FolderFile&) const = default;
};

class SymbolStore {
 public:
  // `store` outlives this. `directory`: of uploaded files.
  SymbolStore(ReportStore* store, std::string directory)
      : store_(store), directory_(std::move(directory)) {}

  Result<std::optional<SymbolFile>> Find(const std::string& key);
  // By key, at most kMaxListed.
  Result<std::vector<SymbolFile>> List();
  Result<std::map<std::string, SymbolFile>> FindAll(const std::set<std::string>& keys);
  Result<std::set<std::string>> UploadedPaths();

  // Makes `file` the one of its key, unless the one that is there says more, and has the reports
  // that want it named again.
  Result<PutOutcome> Put(const SymbolFile& file);
  Status NoteProblem(const std::string& key, const std::string& problem);

  Result<std::map<std::string, FolderFile>> FolderFiles();
  Status NoteFolderFiles(const std::map<std::string, FolderFile>& files);
  // It is gone, and its symbols with it.
  Status ForgetFolderFile(const std::string& path);

  static constexpr int kMaxListed = 1000;

 private:
  ReportStore* store_;
  const std::string directory_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_STORE_H_
