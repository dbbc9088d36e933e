// An LTTng-UST session in snapshot mode (a ring in shared memory, overwritten) that records two
// tracepoints of this process. Uses the session daemon that runs, else starts one and ends it
// again; the session is destroyed with the object.
#ifndef JANKBOX_BENCH_RING_WRITE_LTTNG_SESSION_H_
#define JANKBOX_BENCH_RING_WRITE_LTTNG_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "bench/harness/background_program.h"

namespace jankbox::bench {

class LttngSession {
 public:
  // Keeps LTTng's own files below `folder`. Throws std::runtime_error, with the reason, if LTTng
  // is not there or does not record.
  explicit LttngSession(const std::string& folder);
  ~LttngSession();
  LttngSession(const LttngSession&) = delete;
  LttngSession& operator=(const LttngSession&) = delete;

  void Pairs(uint32_t passes) { pairs_(passes); }

 private:
  void StartDaemon();
  void CreateSession(const std::string& folder);
  void LoadProvider();

  std::string name_;
  std::unique_ptr<BackgroundProgram> daemon_;
  void (*pairs_)(uint32_t) = nullptr;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_RING_WRITE_LTTNG_SESSION_H_
