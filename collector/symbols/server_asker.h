// The thread that asks the servers of DEBUGINFOD_URLS for the debug files that reports want, each
// once a day. Without that variable there is no thread. Start() once.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_SERVER_ASKER_H_
#define JANKBOX_COLLECTOR_SYMBOLS_SERVER_ASKER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"
#include "collector/symbols/symbol_demand.h"
#include "collector/symbols/symbol_receiver.h"

namespace jankbox::collector {

class ServerAsker {
 public:
  // Both outlive this.
  ServerAsker(ReportStore* store, SymbolReceiver* receiver) : demand_(store), receiver_(receiver) {}
  ~ServerAsker();

  void Start();

 private:
  void Run();
  // False if there was nothing to ask for.
  Result<bool> AskForOne();
  // Keeps a copy: the cache of debuginfod's library has a limited time.
  Status Take(const std::string& path);
  void Wait(uint64_t ns) EXCLUDES(mutex_);

  std::atomic<bool> stop_{false};
  SymbolDemand demand_;
  SymbolReceiver* receiver_;
  Mutex mutex_;
  CondVar woken_;
  std::thread thread_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_SERVER_ASKER_H_
