// The time and size of the same events with the usual means: Perfetto's messages through
// libprotobuf's generated classes on an arena, and ftrace print events as btrace 2 writes them. One
// thread.
#ifndef JANKBOX_BENCH_SNAPSHOT_ENCODE_PROTOBUF_ENCODERS_H_
#define JANKBOX_BENCH_SNAPSHOT_ENCODE_PROTOBUF_ENCODERS_H_

#include <cstdint>
#include <string>

#include "bench/snapshot_encode/workload.h"

namespace jankbox::bench {

enum class Timestamps {
  kAbsolute,  // ns since boot
  kDelta,     // since the thread's last event, by an incremental clock
};

// All packets in one arena, serialized at the end.
std::string EncodeTrackEvents(const Workload& workload, Timestamps timestamps);

// The same bytes by many small traces one after another, in one arena that is reused: libprotobuf
// at its fastest.
std::string EncodeTrackEventsInPieces(const Workload& workload, Timestamps timestamps);

// "B|pid|name" and "E|pid", a bundle a thread.
std::string EncodeFtracePrints(const Workload& workload);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_SNAPSHOT_ENCODE_PROTOBUF_ENCODERS_H_
