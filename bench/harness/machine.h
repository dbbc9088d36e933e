// The machine of a measurement: part of every bench's output, because figures without it say
// nothing. Reads /proc and /sys. One thread; allocates.
#ifndef JANKBOX_BENCH_HARNESS_MACHINE_H_
#define JANKBOX_BENCH_HARNESS_MACHINE_H_

#include <nlohmann/json.hpp>
#include <string>

namespace jankbox::bench {

using Json = nlohmann::ordered_json;

// cpu, cores, memory_mib, virtual, os, kernel, clocksource, compiler, date, load_average_1min.
Json DescribeMachine();

// Seconds of UTC, as ISO 8601.
std::string UtcNow();

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_MACHINE_H_
