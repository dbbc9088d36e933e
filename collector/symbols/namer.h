// The thread that gives names to reports, soon after they or their symbols have arrived. Uploads
// only wake it. Start() once; Wake() from any thread.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_NAMER_H_
#define JANKBOX_COLLECTOR_SYMBOLS_NAMER_H_

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "collector/blob_folder.h"
#include "collector/store.h"
#include "collector/symbols/folder_watch.h"
#include "collector/symbols/naming_steps.h"
#include "collector/symbols/symbol_store.h"

namespace jankbox::collector {

class Namer {
 public:
  // All but `folders` outlive this.
  Namer(ReportStore* store, SymbolStore* symbols, const BlobFolder* blobs,
        const std::vector<std::string>& folders);
  // Ends the process that reads files, and leaves what is to be done for the next start.
  ~Namer();

  // Ends what an earlier run began, then works on a thread of its own.
  Status Start();

  void Wake() EXCLUDES(mutex_);

 private:
  void Run();
  // What is most urgent. False if there was nothing to do.
  Result<bool> Step();
  enum class Wakes { kEnd, kPassedOver };
  // Returns after `seconds`, at a stop, and at a Wake() that ends it.
  void Wait(uint64_t seconds, Wakes wakes) EXCLUDES(mutex_);

  std::atomic<bool> stop_{false};
  NamingSteps steps_;
  FolderWatch folders_;
  uint64_t scan_at_ns_ = 0;
  Mutex mutex_;
  CondVar woken_;
  bool awake_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_NAMER_H_
