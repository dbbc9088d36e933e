// The result of the first pass over a capture: the events of the app's threads, and the offsets of
// the clocks. Memory grows only with the app's events. Not thread-safe; allocates.
#ifndef JANKBOX_TOOLS_MERGE_CAPTURE_FACTS_H_
#define JANKBOX_TOOLS_MERGE_CAPTURE_FACTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/merge/app_trace.h"
#include "tools/merge/captured_event.pb.h"

namespace jankbox::tools {

// A marker that one of the app's threads, or another in the app's name, wrote.
struct KernelMark {
  uint64_t stamp;
  uint64_t ordinal;  // which event of the capture it is
  int64_t value;     // of a counter
  uint32_t name;     // index into CaptureFacts.names
  uint32_t cpu;
  int32_t pid;  // that it says; 0: none
  int32_t tid;
  char kind;  // of MarkerText
};

// A thread of the app put on a CPU, or off it, or woken: it is on one no sooner than that, and some
// kernels leave switches from the idle task out.
struct SwitchPoint {
  enum Kind : uint8_t { kOff, kOn, kWoken };
  uint64_t stamp;
  int32_t tid;
  Kind kind;
};

// A reading of the program's clock and the capture's stamp of the same moment.
struct ClockPair {
  uint64_t stamp;
  uint64_t boottime_ns;  // as the app's trace counts
  bool of_app;           // written by one of its threads
};

struct TaskName {
  int32_t tgid = 0;  // 0: not known
  std::string comm;
};

struct CaptureFacts {
  uint64_t events = 0;
  uint64_t first_stamp = 0;
  uint64_t last_stamp = 0;
  std::map<std::string, uint64_t> kinds;  // events by name
  std::vector<std::string> names;
  std::vector<KernelMark> marks;      // by stamp, once sorted
  std::vector<SwitchPoint> switches;  // the same
  std::vector<ClockPair> clock_pairs;
  std::map<int32_t, TaskName> tasks;  // by tid
  bool has_app_threads = false;       // any event of any of them
};

class CaptureFactsReader {
 public:
  explicit CaptureFactsReader(const AppTrace& app) : app_(app) {}

  // Events in the order of the file; the first one has ordinal 0.
  void Take(const traceproto::CapturedEvent& event);
  CaptureFacts Finish();

 private:
  void TakePrint(const traceproto::CapturedEvent& event);
  void TakeSwitch(const traceproto::FtraceEvent& event);
  void TakeWaking(const traceproto::FtraceEvent& event);
  void TakeTask(int32_t tid, int32_t tgid, const std::string& comm);
  bool IsApp(int32_t tid) const { return app_.threads.contains(tid); }
  uint32_t Name(std::string_view text);

  const AppTrace& app_;
  CaptureFacts facts_;
  std::unordered_map<std::string, uint32_t> name_index_;
};

// The name of what the event says: "sched_switch"; "other" if the schema here has none.
const char* KindName(const traceproto::FtraceEvent& event);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_CAPTURE_FACTS_H_
