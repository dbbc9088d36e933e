// One line on a terminal's stderr for what takes longer than two seconds; nothing else anywhere.
// One thread.
#ifndef JANKBOX_TOOLS_TERMINAL_PROGRESS_LINE_H_
#define JANKBOX_TOOLS_TERMINAL_PROGRESS_LINE_H_

#include <cstdint>
#include <string>

namespace jankbox::tools {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `done`: 0..1. Cheap: checks the clock.
  void Show(const std::string& what, double done);

 private:
  const bool terminal_;
  const uint64_t begin_ns_;
  uint64_t shown_ns_ = 0;  // 0: not yet
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_PROGRESS_LINE_H_
