// A bench's JSON as text for people: scalars as lines, an object of objects as a table with a row
// each. Pure; allocates.
#ifndef JANKBOX_BENCH_HARNESS_RESULT_TABLES_H_
#define JANKBOX_BENCH_HARNESS_RESULT_TABLES_H_

#include <string>

#include "bench/harness/machine.h"

namespace jankbox::bench {

// `output` as BenchMain() prints it: bench, machine, results.
std::string ResultTables(const Json& output, bool colour);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_RESULT_TABLES_H_
