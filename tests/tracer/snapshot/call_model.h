// An oracle for the slices of one thread: random call trees with their truth, cut into chunks of
// which some are then lost, and a plain model of what a window of them must show. Shares no code
// with the encoder.
#ifndef JANKBOX_TESTS_TRACER_SNAPSHOT_CALL_MODEL_H_
#define JANKBOX_TESTS_TRACER_SNAPSHOT_CALL_MODEL_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {

// A call as it happened; `end` UINT64_MAX: never ended.
struct TrueCall {
  bool dispatch = false;
  uint32_t id = 0;  // of a dispatch: number in its name
  uint64_t begin = 0;
  uint64_t end = UINT64_MAX;
  size_t parent = SIZE_MAX;
};

struct CallHistory {
  std::vector<TrueCall> calls;    // by begin
  std::vector<TestEvent> events;  // by time, every tick once
};

// About `events` events from `first_ticks` on. Where `damaged`, some ends are missing and some have
// no begin.
CallHistory RandomCalls(std::mt19937* random, size_t events, uint64_t first_ticks, bool damaged);

std::string DispatchText(uint32_t id);

// The events as the ring's writer cuts them: chunks with random rebases and their open calls.
std::vector<WindowChunk> CutIntoChunks(const std::vector<TestEvent>& events, std::mt19937* random);

// Removes the first chunks, and if `gaps` some later ones, as laps of the ring do.
void LoseChunks(std::vector<WindowChunk>* chunks, bool gaps, std::mt19937* random);

// What a snapshot of an undamaged history without gaps must show, from the truth alone.
std::vector<std::string> ExpectedFromTruth(const CallHistory& history,
                                           const std::vector<WindowChunk>& chunks,
                                           const RingWindow& window);

struct ModelResult {
  std::vector<std::string> slices;
  uint64_t unmatched_ends = 0;
  uint64_t open_slices = 0;
};

// What a snapshot of any chunks must show, by playing them through plainly.
ModelResult ExpectedFromChunks(const std::vector<WindowChunk>& chunks, const RingWindow& window);

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_TRACER_SNAPSHOT_CALL_MODEL_H_
