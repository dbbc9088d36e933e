// Bytes of made-up traces for the tests of compression: packets as the encoder writes them, others,
// and what is no packet at all.
#ifndef JANKBOX_TESTS_TRACER_SNAPSHOT_RANDOM_TRACE_H_
#define JANKBOX_TESTS_TRACER_SNAPSHOT_RANDOM_TRACE_H_

#include <cstddef>
#include <random>
#include <string>

namespace jankbox::testing {

using Random = std::mt19937_64;

// Begins and ends of slices and the names they use first, as EventSequence writes them: whole
// packets, at least `bytes`.
std::string SliceTrace(Random* random, size_t bytes);

// The same of packets with text, some of thousands of bytes.
std::string TextTrace(Random* random, size_t bytes);

// Slices for the most part, cut off within packets, and between them text, single bytes repeated
// and noise: some hundred bytes of each in turn, now and then more than a block. `bytes` in all.
std::string MixedTrace(Random* random, size_t bytes);

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_TRACER_SNAPSHOT_RANDOM_TRACE_H_
