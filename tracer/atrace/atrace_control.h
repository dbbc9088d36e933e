// Turns tags of the atrace library on and gives them back. The variable has other owners: the
// library itself, which computes it again when properties change, and other tools. So bits are only
// ever set or cleared one by one and atomically, and what is given back are the bits that were set
// here and are set still; what another owner has set or cleared stays. Jankbox's own threads, one
// at a time; no locks, no allocation; may open a file.
#ifndef JANKBOX_TRACER_ATRACE_ATRACE_CONTROL_H_
#define JANKBOX_TRACER_ATRACE_ATRACE_CONTROL_H_

#include <cstdint>

#include "tracer/atrace/atrace_symbols.h"

namespace jankbox {

class AtraceControl {
 public:
  // REQUIRES both variables of `symbols`.
  explicit AtraceControl(const AtraceSymbols& symbols) : symbols_(symbols) {}
  ~AtraceControl() { Stop(); }
  AtraceControl(const AtraceControl&) = delete;
  AtraceControl& operator=(const AtraceControl&) = delete;

  // Adds `wanted`. `library_tags`: what the library itself turns on by the properties that it
  // reads; these are never taken out. Returns what it cost in ns; 0, and nothing is done, when
  // started already.
  uint64_t Start(uint64_t wanted, uint64_t library_tags);

  // The properties changed: `wanted` replaces what was wanted.
  void Update(uint64_t wanted, uint64_t library_tags, uint64_t now_ns);

  // To be called every now and then. Adds again what the library overwrote, within 5 s of an
  // Update(): it computes its tags again at some time after the change. Missing bits,
  // another owner took out.
  void Look(uint64_t now_ns);

  // Takes out what was added. Nothing if all 64 bits are set: then another tool records
  // everything. Nothing when not started.
  void Stop();

  bool started() const { return started_; }
  // The library is not to trace in this process (or not yet): its tags are left alone.
  bool not_ready() const { return started_ && (tags() & kNotReadyBit) != 0 && !IsTaken(tags()); }
  uint64_t tags() const { return __atomic_load_n(symbols_.enabled_tags, __ATOMIC_RELAXED); }
  uint64_t added() const { return added_; }
  bool has_marker() const { return __atomic_load_n(symbols_.marker_fd, __ATOMIC_RELAXED) != -1; }
  const AtraceSymbols& symbols() const { return symbols_; }

 private:
  static constexpr uint64_t kNotReadyBit = 1ull << 63;
  static bool IsTaken(uint64_t tags) { return tags == UINT64_MAX; }

  void Apply();

  const AtraceSymbols symbols_;
  bool started_ = false;
  uint64_t wanted_ = 0;
  uint64_t library_tags_ = 0;
  uint64_t added_ = 0;
  uint64_t settled_at_ns_ = 0;
  bool pending_ =
      false;  // not added yet: the library was not ready, or another tool has all tags on
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_ATRACE_ATRACE_CONTROL_H_
