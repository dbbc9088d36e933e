// Asks for one report after another, as long as the object lives: a snapshot is being written all
// the time. A thread of its own; the SDK must be started and stay so.
#ifndef JANKBOX_BENCH_APP_INTERFERENCE_SNAPSHOT_LOAD_H_
#define JANKBOX_BENCH_APP_INTERFERENCE_SNAPSHOT_LOAD_H_

#include <atomic>
#include <cstdint>
#include <thread>

namespace jankbox::bench {

class SnapshotLoad {
 public:
  // Adds the reports that were finished to `written`.
  explicit SnapshotLoad(uint64_t* written);
  ~SnapshotLoad();
  SnapshotLoad(const SnapshotLoad&) = delete;
  SnapshotLoad& operator=(const SnapshotLoad&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_APP_INTERFERENCE_SNAPSHOT_LOAD_H_
