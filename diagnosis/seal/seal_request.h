// One revision of an incident, as the watcher (or recovery) hands it to the sealer. Plain data.
#ifndef JANKBOX_DIAGNOSIS_SEAL_SEAL_REQUEST_H_
#define JANKBOX_DIAGNOSIS_SEAL_SEAL_REQUEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/seal/anr_threads.h"
#include "diagnosis/seal/process_end.h"
#include "monitors/incident/cpu_shortage.h"
#include "monitors/incident/startup_times.h"
#include "monitors/incident/verdict_timeline.h"
#include "report/report.h"

namespace jankbox {

struct SealRequest {
  std::string id;
  uint32_t revision = 1;
  ReportKind kind = ReportKind::kManual;
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC; equal to end_ns for a manual snapshot
  uint64_t end_ns = 0;
  bool ongoing = false;
  std::string what;
  int32_t tid = 0;           // 0: no thread in particular
  size_t watched_index = 0;  // of the thread's slot in the ring; kMaxWatchedThreads: none
  VerdictTimeline readings;  // of the thread, while it lasted
  uint64_t dropped_frames = 0;
  uint64_t frame_interval_ns = 0;
  uint64_t input_wait_ns = 0;
  std::string sampler;
  uint64_t lost_samples = 0;
  std::string loop;
  std::vector<std::string> notes;
  uint64_t held_ns = 0;  // of the time between begin and end: stopped, asleep, traced
  struct Stretch {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
  };
  std::vector<Stretch> free;  // what is left without that; empty: all of it
  bool background = false;
  std::shared_ptr<const AnrThreads> threads;  // kAnr; null if it was over when it was seen
  CpuShortage cpu;                            // in the incident
  uint64_t anr_limit_ns = 0;                  // kAnr: the limit that it was judged by
  std::optional<StartupTimes> startup;        // kStartup
  struct Method {
    uint32_t id = 0;  // of the ring; its name becomes `what`
    uint64_t begin_ticks = 0;
    uint64_t end_ticks = 0;
  };
  std::optional<Method> method;      // kSlowMethod
  ProcessEnd end;                    // of a dead process; else empty
  std::vector<ReportEndCount> ends;  // kExit: of the report folder
};

// For an incident that no watcher found: of the calling thread, with an id of its own.
SealRequest RequestByHand(ReportKind kind, const std::string& what, uint64_t begin_ns,
                          uint64_t end_ns);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_SEAL_REQUEST_H_
