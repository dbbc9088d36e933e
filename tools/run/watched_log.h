// Which loops the agents of one run watched, for the last line of `jankbox run`. Pure; allocates.
// Threads: one.
#ifndef JANKBOX_TOOLS_RUN_WATCHED_LOG_H_
#define JANKBOX_TOOLS_RUN_WATCHED_LOG_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace jankbox::tools {

class WatchedLog {
 public:
  // The text of a "watched:" message (sdk/runtime/run_channel) that came at `now_ns`,
  // CLOCK_MONOTONIC. What is none is ignored.
  void Add(std::string_view text, uint64_t now_ns);

  // The text of a "possible:" message, which one process sends at most once.
  void AddPossibleStalls(std::string_view text);

  // The text of a "java:" message (sdk/linux/java_ui.h).
  void AddJava(std::string_view text);
  // A Java VM showed windows, and its event thread was not watched.
  bool missed_java_ui() const { return missed_java_ui_; }
  // A Java VM that was to be watched had no event thread.
  bool java_without_ui() const { return java_without_ui_; }
  // The text of a "recognised:" message, which says why a thread other than main is watched.
  void AddRecognised(std::string_view text);

  // "watched: main (glib), 1204 messages in 14 s"; "" if nothing was. At most three loops by name.
  // Then how many waits may have been stalls and were not reported, and how long a start-up was
  // that was not.
  std::string Summary(uint64_t now_ns) const;

  // No loop was: at most threads that started up.
  bool empty() const;

 private:
  struct Loop {
    uint64_t order = 0;
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;  // 0: it did not say that it ended
    uint64_t messages = 0;
    std::string loop;
    std::string thread;
    std::string process;
  };

  std::string NameOf(int pid, const Loop& loop) const;

  bool missed_java_ui_ = false;
  bool java_without_ui_ = false;
  uint64_t possible_stalls_ = 0;
  uint64_t longest_possible_ms_ = 0;
  uint64_t unrecorded_start_up_ms_ = 0;
  std::map<std::pair<int, size_t>, Loop> loops_;              // by process and place in its ring
  std::map<std::pair<int, std::string>, std::string> signs_;  // by process and thread
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_WATCHED_LOG_H_
