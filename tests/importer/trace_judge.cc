#include "tests/importer/trace_judge.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_reader.h"

namespace jankbox::testing {
namespace {

using Counts = std::map<std::string, int64_t>;

// Statistics of trace_processor that count samples without a stack: of each it asks for the stack
// with the number 0.
constexpr const char* kOfSamplesWithoutStack[] = {"interned_data_tokenizer_errors",
                                                  "stackprofile_invalid_callstack_id"};

template <typename Items, typename Predicate>
int64_t CountIf(const Items& items, Predicate&& predicate) {
  return std::count_if(items.begin(), items.end(), predicate);
}

template <typename Items>
int64_t SumOfDurations(const Items& items) {
  int64_t sum = 0;
  for (const auto& item : items) sum += static_cast<int64_t>(item.dur);
  return sum;
}

// From one event to another. The strict reader permits no end of a flow that never began.
int64_t FlowsThatEnd(const TraceContent& content) {
  int64_t flows = 0;
  for (const ReadInstant& instant : content.instants) {
    flows += static_cast<int64_t>(instant.ended_flows.size());
  }
  return flows;
}

// What trace_processor must count in a trace with this content. An instant and a trigger are slices
// of no length there. The strict reader permits no open slice and no slice without a name.
Counts ExpectedCounts(const TraceContent& content) {
  return {
      {"packets", content.packets},
      {"slices", content.slices.size() + content.instants.size() + content.triggers.size()},
      {"flows", FlowsThatEnd(content)},
      {"slice_ns", SumOfDurations(content.slices)},
      {"open_slices", 0},
      {"unnamed_slices", 0},
      {"expected_frames", CountIf(content.frames, [](const auto& frame) { return !frame.actual; })},
      {"actual_frames", CountIf(content.frames, [](const auto& frame) { return frame.actual; })},
      {"frame_ns", SumOfDurations(content.frames)},
      {"counters", content.counters.size()},
      {"samples", content.samples.size()},
      {"samples_without_stack",
       CountIf(content.samples, [](const auto& sample) { return sample.frames.empty(); })},
      {"sched", content.sched.size()},
      {"wakings", content.wakings.size()},
  };
}

Counts ExpectedLosses(const Counts& counts) {
  Counts losses;
  const int64_t without_stack = counts.at("samples_without_stack");
  if (without_stack == 0) return losses;
  for (const char* statistic : kOfSamplesWithoutStack) losses[statistic] = without_stack;
  return losses;
}

// A name that one side lacks counts as 0.
void Compare(const std::string& what, Counts seen, Counts expected,
             std::vector<std::string>* objections) {
  for (const auto& [name, count] : expected) seen.emplace(name, 0);
  for (const auto& [name, count] : seen) {
    if (count == expected[name]) continue;
    objections->push_back(what + " " + name + ": trace_processor has " + std::to_string(count) +
                          ", the strict reader " + std::to_string(expected[name]));
  }
}

void CompareWithImporter(const std::string& trace, Judgement* judgement) {
  const Outcome outcome = RunProgram(
      {"node", JANKBOX_TEST_JUDGE, JANKBOX_TEST_NPM_PACKAGES, JANKBOX_TEST_DESCRIPTORS, trace});
  const nlohmann::json results = nlohmann::json::parse(outcome.out, nullptr, false);
  if (outcome.exit_status != 0 || !results.is_array() || results.size() != 1) {
    judgement->objections.push_back("the judge failed: " + outcome.out + outcome.err);
    return;
  }
  const nlohmann::json& result = results[0];
  if (result.contains("refused")) {
    judgement->objections.push_back("refused: " + result["refused"].get<std::string>());
    return;
  }
  const Counts expected = ExpectedCounts(judgement->content);
  Compare("count", result["counts"], expected, &judgement->objections);
  Compare("loss", result["losses"], ExpectedLosses(expected), &judgement->objections);
}

}  // namespace

std::string WhyNoJudge() {
  if (access(JANKBOX_TEST_NPM_PACKAGES "/node_modules", R_OK) == 0) return "";
  return "the packages of npm could not be fetched: see the test importer/fetch_packages";
}

Judgement JudgeTrace(const std::string& trace, std::string_view truth, Switches switches) {
  Judgement judgement;
  std::string error;
  judgement.content = ReadTrace(truth, &error, switches);
  if (!error.empty()) judgement.objections.push_back("the strict reader: " + error);
  CompareWithImporter(trace, &judgement);
  return judgement;
}

}  // namespace jankbox::testing
