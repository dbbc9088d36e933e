// Takes counts of incidents and of usage into the collector's store: a row for each epoch, version
// and key, the latest state that its device sent (docs/formats/counts.md). THREAD-SAFE; blocks on
// the disk.
#ifndef JANKBOX_COLLECTOR_COUNT_STORE_H_
#define JANKBOX_COLLECTOR_COUNT_STORE_H_

#include <cstdint>

#include "base/status.h"
#include "collector/count_sums.h"
#include "collector/store.h"
#include "collector/usage_rates.h"
#include "report/report.pb.h"

namespace jankbox::collector {

class CountStore {
 public:
  // `store` outlives this.
  explicit CountStore(ReportStore* store) : store_(store) {}

  // Takes what is newer than what is stored; durable when it returns ok. kInvalidArgument: the
  // epoch has too many counters, or usage of too many days.
  Result<proto::CountsReply> Accept(const proto::Counts& counts, int64_t received_at_ms);

  Result<CountSums> Sums();
  Result<UsageRates> Usage();

 private:
  ReportStore* store_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_COUNT_STORE_H_
