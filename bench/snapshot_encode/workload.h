// The events that snapshot_encode encodes: 1,000,000 of four threads, 500,000 slices. Read from a
// file, so that figures of two machines are of the same events, or made here with the same
// parameters. One thread; allocates.
#ifndef JANKBOX_BENCH_SNAPSHOT_ENCODE_WORKLOAD_H_
#define JANKBOX_BENCH_SNAPSHOT_ENCODE_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

namespace jankbox::bench {

struct WorkloadEvent {
  uint64_t timestamp_ns = 0;
  uint32_t name = 0;  // index
  bool begin = false;
};

struct WorkloadThread {
  int32_t tid = 0;
  std::vector<WorkloadEvent> events;  // in order of time
};

struct Workload {
  int32_t pid = 0;
  std::vector<std::string> names;
  std::vector<WorkloadThread> threads;

  uint64_t events() const;
  uint64_t slices() const;  // begins
};

// Of a file, as it is or zstd-compressed. Little endian: "JBXWORK1", u32 threads, u32 names, u32
// pid, u32 0; each name as u32 length and bytes; each thread as u32 tid, u32 events, and each event
// as u64 timestamp in ns, u32 name's index, u32 kind (0 begin, 1 end). Throws std::runtime_error.
Workload ReadWorkload(const std::string& path);

// Threads with 70, 15, 10 and 5 % of the events; a tree of calls with fixed callees, about ten
// deep; gaps lognormal (mu 6.3, sigma 1.6) and 20 ns; names of 42 bytes in the mean. The same each
// time.
Workload MakeWorkload();

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_SNAPSHOT_ENCODE_WORKLOAD_H_
