// A separate ftrace instance below instances/: its own buffers, clock, events and filters, so
// that nothing that another tracer set is touched. Removed on destruction, though not by a forked
// child; what a killed process left is removed by the next one. Blocking writes to tracefs: sealing
// thread or programs.
#ifndef JANKBOX_TRACER_FTRACE_PRIVATE_INSTANCE_H_
#define JANKBOX_TRACER_FTRACE_PRIVATE_INSTANCE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace jankbox {

class PrivateInstance {
 public:
  struct Settings {
    uint32_t buffer_kib = 1024;                   // a CPU
    std::string trace_clock;                      // empty: the best of boot, mono, local
    bool own_threads_only = false;                // set_event_pid, with event-fork
    std::vector<std::string> events;              // "system/event"
    std::vector<std::string> maybe_events;        // left out if the kernel has them not
    const std::atomic<bool>* given_up = nullptr;  // once true, Create() fails soon
  };

  // "jankbox-<pid>-<start time><suffix>" below `tracefs`, recording; with a number before the
  // suffix once an earlier one was left to another process to remove. A later one of the same
  // process and suffix fails with kBusy.
  static Result<std::unique_ptr<PrivateInstance>> Create(const std::string& tracefs,
                                                         std::string_view suffix,
                                                         const Settings& settings);
  // Removes the instance, which takes up to 100 ms, or leaves that to whom SetRemover() named.
  ~PrivateInstance();
  PrivateInstance(const PrivateInstance&) = delete;
  PrivateInstance& operator=(const PrivateInstance&) = delete;

  // Another process that removes the instances of this one: `remover` tells it a name, and returns
  // false if it cannot be told.
  using Remover = bool (*)(const std::string& name);
  static void SetRemover(Remover remover);

  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  const std::string& trace_clock() const { return trace_clock_; }

  // Writes `text` into the file at `relative_path`.
  Status Write(std::string_view relative_path, std::string_view text) const;

  // Events that the kernel overwrote or dropped on `cpu` since the instance began.
  uint64_t Overruns(uint32_t cpu) const;

 private:
  PrivateInstance(std::string tracefs, std::string name);
  Status SetUp(const Settings& settings);
  Status ChooseClock(const std::string& wanted);
  Status FollowOwnThreads();

  const int owner_pid_;
  std::string name_;
  std::string path_;
  std::string trace_clock_;
};

// Removes one that its process left to this one. Nothing is done for a name of another form.
void RemoveLeftInstance(const std::string& tracefs, std::string_view name);

// Removes the instances of Jankbox's naming whose process is dead. Never touches another.
// Returns how many.
int RemoveDeadInstances(const std::string& tracefs);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_PRIVATE_INSTANCE_H_
