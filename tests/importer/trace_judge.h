// trace_processor as a judge of traces: judge.mjs loads a trace in it, and the result is compared
// with what the strict reader takes of the same trace. No error is no proof: trace_processor says
// nothing about a trace that ends too early, or about an end without its start.
#ifndef JANKBOX_TESTS_IMPORTER_TRACE_JUDGE_H_
#define JANKBOX_TESTS_IMPORTER_TRACE_JUDGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "tests/perfetto/trace_content.h"

namespace jankbox::testing {

// Why trace_processor cannot be run here; empty if it can.
std::string WhyNoJudge();

struct Judgement {
  // One sentence each: the strict reader's error, why trace_processor refuses the trace, what it
  // lost, and each count in which the two differ. Empty: the trace is good.
  std::vector<std::string> objections;
  TraceContent content;  // what the strict reader took
};

// `trace` is the path of a plain trace. `truth` is the content of the file that it was made from,
// compressed or not.
Judgement JudgeTrace(const std::string& trace, std::string_view truth,
                     Switches switches = Switches::kAll);

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_IMPORTER_TRACE_JUDGE_H_
