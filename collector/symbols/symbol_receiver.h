// A file that someone sent as symbols: checks what it is, keeps it, and says what became of it. The
// file is untrusted; a process of its own reads it. THREAD-SAFE; blocks on the disk and on that
// process.
#ifndef JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_RECEIVER_H_
#define JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_RECEIVER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "collector/symbols/symbol_folder.h"
#include "collector/symbols/symbol_store.h"

namespace jankbox::collector {

// Which releases a mapping is of.
struct MappedApp {
  std::string app;
  std::string version;
};

struct ReceivedSymbols {
  SymbolFile file;
  PutOutcome::Result result = PutOutcome::Result::kStored;
};

class SymbolReceiver {
 public:
  // `symbols` and `folder` outlive this. `on_stored` is called when there is something to name.
  SymbolReceiver(SymbolStore* symbols, const SymbolFolder* folder, std::function<void()> on_stored)
      : symbols_(symbols), folder_(folder), on_stored_(std::move(on_stored)) {}

  Result<std::unique_ptr<IncomingFile>> Begin() const { return folder_->Begin(); }

  // Durable when it returns ok. `app`: of a mapping; none: the file is a debug file.
  // kInvalidArgument says why the file is of no use.
  Result<ReceivedSymbols> Accept(IncomingFile* file, const std::optional<MappedApp>& app);

  // Ends what reads files.
  void Stop() { stop_ = true; }

 private:
  Status Identify(const std::string& path, SymbolFile* symbols) const;
  Status CheckMapping(const std::string& path) const;

  SymbolStore* symbols_;
  const SymbolFolder* folder_;
  const std::function<void()> on_stored_;
  std::atomic<bool> stop_{false};
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_SYMBOL_RECEIVER_H_
