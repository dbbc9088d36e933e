#include "diagnosis/seal/seal_request.h"

#include "base/clock.h"
#include "base/own_thread.h"
#include "base/uuid.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

SealRequest RequestByHand(ReportKind kind, const std::string& what, uint64_t begin_ns,
                          uint64_t end_ns) {
  SealRequest request;
  request.id = NewUuid(RealtimeNs() / kNsPerMs);
  request.kind = kind;
  request.begin_ns = begin_ns;
  request.end_ns = end_ns;
  request.what = what;
  request.tid = CurrentTid();
  request.watched_index = kMaxWatchedThreads;
  return request;
}

}  // namespace jankbox
