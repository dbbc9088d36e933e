// Sends the counts of a spool's folder, and then its reports, oldest first, one at a time, until a
// deadline. Used by the SDK's upload thread and by `jankbox run --upload` at its end. Of several
// processes at one spool, one drains at a time. Threads: one that may block; nothing else may use
// the transport meanwhile.
#ifndef JANKBOX_UPLOADER_TRANSPORT_UPLOAD_DRAIN_H_
#define JANKBOX_UPLOADER_TRANSPORT_UPLOAD_DRAIN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "uploader/policy/upload_pace.h"
#include "uploader/spool/spool.h"
#include "uploader/transport/transport.h"

namespace jankbox {

struct DrainOptions {
  std::string base_url;  // "http://127.0.0.1:8750"; "/api/v1/reports" or "/api/v1/counts" is added
  // No post begins after it and none lasts beyond it.
  uint64_t deadline_monotonic_ns = 0;
  bool metered = false;
  UploadBudget budget;
  // A user waits for this drain: neither Jankbox's backoff nor the day's budget delays it; a
  // server's Retry-After does.
  bool on_demand = false;
  bool usage = true;  // is sent
  uint32_t connect_timeout_ms = 5'000;
  uint32_t total_timeout_ms = 30'000;
  const std::atomic<bool>* cancelled =
      nullptr;  // set by any thread: the drain ends within a second
  // Sleeps; false if the drain should end instead. Without it the drain ends at the first answer
  // that asks for patience; with it, it tries again while the deadline lasts.
  std::function<bool(uint64_t ms)> wait;
};

struct DrainSummary {
  uint64_t sent = 0;
  uint64_t kept = 0;     // still in the spool
  uint64_t dropped = 0;  // refused by the server, too large, or no reports at all
  std::string last_error;
  uint64_t retry_in_ms = 0;  // with kept > 0: not earlier than that
  bool paused = false;       // address or key is wrong: no report will be taken until it is fixed
  bool busy = false;         // another process drains this spool
  bool counts_kept = false;  // the server does not have all counts yet, and is to get them
};

// `progress` (may be empty) is called after each report.
DrainSummary DrainSpool(Spool* spool, Transport* transport, const DrainOptions& options,
                        const std::function<void(const DrainSummary&)>& progress);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_TRANSPORT_UPLOAD_DRAIN_H_
