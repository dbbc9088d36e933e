// Other programs that a bench needs: peers' tools and the bench's own small ones, which are beside
// the benches. Waits for them; their output comes back as text. One thread.
#ifndef JANKBOX_BENCH_HARNESS_CHILD_PROGRAM_H_
#define JANKBOX_BENCH_HARNESS_CHILD_PROGRAM_H_

#include <string>
#include <vector>

namespace jankbox::bench {

struct ChildResult {
  int exit_status = -1;  // 127: could not be run; 128 + n: ended by signal n
  std::string output;    // stdout
  std::string errors;    // stderr
};

// Runs `argv[0]` (searched in PATH) to its end, without standard input.
ChildResult RunProgram(const std::vector<std::string>& argv);

// build/release/bench_parts/NAME, build/release/lib/NAME and build/release/bin/NAME of the tree
// that this bench was built in.
std::string BenchPart(const std::string& name);
std::string BuiltLibrary(const std::string& name);
std::string BuiltProgram(const std::string& name);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_CHILD_PROGRAM_H_
