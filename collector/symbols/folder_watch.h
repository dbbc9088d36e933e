// Takes the debug files in folders of the user's (--symbols) into the store: those that are there,
// and later those that came or changed. One thread at a time; blocks on the disk and on processes.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_FOLDER_WATCH_H_
#define JANKBOX_COLLECTOR_SYMBOLS_FOLDER_WATCH_H_

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "collector/symbols/symbol_store.h"

namespace jankbox::collector {

class FolderWatch {
 public:
  // `symbols` and `stop` outlive this.
  FolderWatch(const std::vector<std::string>& folders, SymbolStore* symbols,
              const std::atomic<bool>* stop);

  bool has_folders() const { return !folders_.empty(); }

  Status Scan();

 private:
  using Files = std::map<std::string, FolderFile>;

  Files FilesNow() const;
  Status Identify(const Files& files);

  std::vector<std::string> folders_;  // absolute
  SymbolStore* symbols_;
  const std::atomic<bool>& stop_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_FOLDER_WATCH_H_
