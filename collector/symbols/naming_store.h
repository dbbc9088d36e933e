// How reports get names in the store, in steps that a kill may end at any point. The messages with
// names are written beside those that are shown, a few at a time; then one row (symbol_state) makes
// all of them the ones that are shown, with their group keys, in one transaction; then they take
// the place of the earlier ones, a few at a time, which no reader sees. THREAD-SAFE, but for one
// naming at a time; blocks on the disk. docs/decisions/0024-names-in-the-collector.md
#ifndef JANKBOX_COLLECTOR_SYMBOLS_NAMING_STORE_H_
#define JANKBOX_COLLECTOR_SYMBOLS_NAMING_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "collector/store.h"
#include "report/report.pb.h"

namespace jankbox::collector {

// A report as it was received.
struct ReceivedReport {
  proto::Report report;
  std::string content_hash;
  std::string group_key;  // that is shown
  bool named = false;     // an earlier naming is shown
};

struct NamedMessage {
  std::string id;
  std::string content_hash;  // of what it was made from
  std::string old_group_key;
  std::string group_key;
  std::string message;  // serialized; empty: nothing is known, and the received one stays
};

class NamingStore {
 public:
  // `store` outlives this.
  explicit NamingStore(ReportStore* store) : store_(store) {}

  // Ends what a kill interrupted: a naming that is shown takes its place, another one is dropped.
  Status Recover();

  // Version of the symbols that are there now.
  Result<int64_t> Version();
  // Reports that are to be named, at most `limit`.
  Result<std::vector<std::string>> ToName(int limit);
  Result<std::optional<ReceivedReport>> Received(const std::string& id);
  // Begins a naming with the symbols of `version`, whose number it returns.
  Result<int64_t> Begin();
  Status Add(int64_t naming, int64_t version, const std::vector<NamedMessage>& messages);
  // Shows all messages of a naming.
  Status Show(int64_t naming);
  // Then: moves them to their place.
  Status Settle();

  // Traces that are to be named, at most `limit`, of reports of which it is known what they want.
  Result<std::vector<std::string>> TracesToName(int limit);
  // `frames`: zstd frames with names, for the end of the trace.
  Status SetTraceNames(const std::string& id, const std::string& content_hash, int64_t version,
                       const std::string& frames);
  // Empty if there are none for this content.
  Result<std::string> TraceNames(const std::string& id, const std::string& content_hash);

 private:
  Result<std::vector<std::string>> Ids(const char* sql, int limit);

  ReportStore* store_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_SYMBOLS_NAMING_STORE_H_
