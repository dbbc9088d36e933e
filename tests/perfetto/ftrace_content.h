// The ftrace bundles of a trace as an importer takes them: by CPU, each switch closing the time on
// it that the last one began. Part of the strict trace reader: a switch from another thread than
// the one before went to, an event without a time or out of order, and bundles without the kernel's
// version fail.
#ifndef JANKBOX_TESTS_PERFETTO_FTRACE_CONTENT_H_
#define JANKBOX_TESTS_PERFETTO_FTRACE_CONTENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/perfetto/trace.pb.h"
#include "tests/perfetto/trace_content.h"

namespace jankbox::testing {

class FtraceContent {
 public:
  explicit FtraceContent(Switches switches) : switches_(switches) {}

  bool Add(const testproto::FtraceEventBundle& bundle, std::string* error);
  bool Finish(TraceContent* content, std::string* error);

 private:
  bool AddSwitch(uint32_t cpu, const testproto::FtraceEvent& event, TraceContent* content,
                 std::string* error);
  void AddBlock(const testproto::FtraceEvent& event, TraceContent* content);

  const Switches switches_;
  std::map<uint32_t, std::vector<testproto::FtraceEvent>> by_cpu_;
  std::set<uint32_t> lossy_cpus_;
  std::map<std::pair<uint64_t, uint64_t>, size_t> requests_;  // device, sector: index in `block`
};

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_PERFETTO_FTRACE_CONTENT_H_
