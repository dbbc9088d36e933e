#include "diagnosis/seal/wait_for_graph.h"

#include <algorithm>

namespace jankbox {
namespace {

constexpr size_t kNone = SIZE_MAX;

size_t IndexOf(std::span<const WaitingThread> threads, int32_t tid) {
  if (tid <= 0) return kNone;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (threads[i].tid == tid) return i;
  }
  return kNone;
}

// Each thread waits for one other at most: the graph is an array.
std::vector<size_t> NextOf(std::span<const WaitingThread> threads) {
  std::vector<size_t> next(threads.size(), kNone);
  for (size_t i = 0; i < threads.size(); ++i) {
    const size_t owner = IndexOf(threads, threads[i].waits_for);
    if (owner != i) next[i] = owner;  // a thread that waits for itself: a word that was misread
  }
  return next;
}

std::string NameOf(const WaitingThread& thread) {
  return "thread " + thread.name + " (" + std::to_string(thread.tid) + ")";
}

}  // namespace

std::vector<std::vector<size_t>> FindDeadlocks(std::span<const WaitingThread> threads) {
  const std::vector<size_t> next = NextOf(threads);
  std::vector<size_t> walked_in(threads.size(), kNone);  // the walk that came by
  std::vector<std::vector<size_t>> circles;
  for (size_t start = 0; start < threads.size(); ++start) {
    size_t at = start;
    while (at != kNone && walked_in[at] == kNone) {
      walked_in[at] = start;
      at = next[at];
    }
    if (at == kNone || walked_in[at] != start) continue;
    std::vector<size_t> circle = {at};
    for (size_t i = next[at]; i != at; i = next[i]) circle.push_back(i);
    std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end()), circle.end());
    circles.push_back(std::move(circle));
  }
  return circles;
}

std::string DeadlockSentence(std::span<const WaitingThread> threads,
                             std::span<const size_t> circle) {
  std::string sentence = "deadlock: ";
  if (circle.size() == 2) {
    return sentence + NameOf(threads[circle[0]]) + " holds a lock that " +
           NameOf(threads[circle[1]]) + " waits for, and vice versa";
  }
  for (size_t i = 0; i < circle.size(); ++i) {
    if (i != 0) sentence += ", ";
    sentence += NameOf(threads[circle[i]]) + " waits for a lock of " +
                NameOf(threads[circle[(i + 1) % circle.size()]]);
  }
  return sentence;
}

std::vector<size_t> OwnersOf(std::span<const WaitingThread> threads, int32_t tid) {
  const std::vector<size_t> next = NextOf(threads);
  std::vector<size_t> owners;
  for (size_t at = IndexOf(threads, tid); at != kNone; at = next[at]) {
    if (std::find(owners.begin(), owners.end(), at) != owners.end()) break;
    owners.push_back(at);
  }
  if (!owners.empty()) owners.erase(owners.begin());
  return owners;
}

}  // namespace jankbox
