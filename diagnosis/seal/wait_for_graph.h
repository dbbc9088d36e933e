// Threads that wait for each other in a circle: a deadlock. Pure logic; allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_WAIT_FOR_GRAPH_H_
#define JANKBOX_DIAGNOSIS_SEAL_WAIT_FOR_GRAPH_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace jankbox {

struct WaitingThread {
  int32_t tid = 0;
  int32_t waits_for = 0;  // the tid of the owner of the lock that it waits for; 0: unknown
  std::string name;
};

// Each circle once, as indices into `threads` in the order of waiting, from its lowest index on.
std::vector<std::vector<size_t>> FindDeadlocks(std::span<const WaitingThread> threads);

// "deadlock: thread A (12) holds a lock that thread B (13) waits for, and vice versa"; longer
// circles thread by thread.
std::string DeadlockSentence(std::span<const WaitingThread> threads,
                             std::span<const size_t> circle);

// The threads that `tid` waits for, directly and through others, nearest first; as indices.
std::vector<size_t> OwnersOf(std::span<const WaitingThread> threads, int32_t tid);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_WAIT_FOR_GRAPH_H_
