// The atrace library of the host while Jankbox records: found as soon as a module of the process
// has one, its tags turned on, kept in step with the system properties, and given back at the end.
// Watcher thread, but for what says otherwise; docs/atrace.md.
#ifndef JANKBOX_SDK_RUNTIME_ATRACE_SESSION_H_
#define JANKBOX_SDK_RUNTIME_ATRACE_SESSION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "report/report.h"
#include "sdk/api/options.h"
#include "tracer/atrace/atrace_control.h"
#include "tracer/atrace/property_source.h"

namespace jankbox {

class AtraceSession {
 public:
  // On the thread that starts: reads the environment.
  explicit AtraceSession(const Options& options);

  // The host's modules may have changed: looks for the library until one is found.
  void FollowModules();

  // To be called once a second while polls().
  void Look(uint64_t now_ns);
  // There is a library, whose properties may change.
  bool polls() const { return found_; }

  // Gives the tags back. Any thread; what comes after it does nothing.
  void Stop();

  // For reports. Any thread.
  ReportAtrace state() const;

 private:
  struct Tags {
    uint64_t wanted;
    uint64_t library;  // the tags that the library turned on
  };

  Tags Compute() const;
  bool RefreshProperties();
  void NoteState() REQUIRES(mutex_);

  const std::optional<uint64_t> tags_;  // none: off
  const std::string load_library_;
  AtraceSearch search_;  // watcher thread
  PropertySource properties_;
  bool properties_failed_ = false;
  bool found_ = false;  // the library

  mutable Mutex mutex_;  // never held if the loader's locks are taken
  std::optional<AtraceControl> control_ GUARDED_BY(mutex_);
  ReportAtrace state_ GUARDED_BY(mutex_);
  bool stopped_ GUARDED_BY(mutex_) = false;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_ATRACE_SESSION_H_
