// The rows of usage in the collector's store, one for each epoch, day, app and version: the latest
// state that its device sent (docs/formats/counts.md). Within a transaction of the caller's; blocks
// on the disk.
#ifndef JANKBOX_COLLECTOR_USAGE_ROWS_H_
#define JANKBOX_COLLECTOR_USAGE_ROWS_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "collector/database.h"
#include "report/report.pb.h"

namespace jankbox::collector {

// The table, for the store's schema; the table of epochs is there.
extern const char kUsageTable[];

// The rows of `counts` that are newer than what is stored; sets `forked` if they cannot come from
// the device of what is stored. kInvalidArgument: the epoch has too many.
Result<std::vector<const proto::Usage*>> NewerUsage(Database* database, const proto::Counts& counts,
                                                    bool* forked);

Status SaveUsage(Database* database, const proto::Counts& counts,
                 const std::vector<const proto::Usage*>& rows, int64_t received_at_ms);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_USAGE_ROWS_H_
