// Recorded waits of real programs, as the replay test reads them from recorded/*/NAME.waits.zst
// (docs/formats/waits.md).
#ifndef JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_RECORDED_RUN_H_
#define JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_RECORDED_RUN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "monitors/looper/loop_waits.h"
#include "tests/monitors/looper/sequences/wait_format.h"

namespace jankbox {

struct RecordedSite {
  std::string module;  // its file name; empty: unknown
  uint64_t offset;     // of the return address in the module
  uint64_t function;   // its function's offset + 1; 0: unknown
};

// A call's family and descriptors.
struct RecordedCall {
  WaitFamily family;
  bool returns_at_once = false;
  int fd = -1;           // as in WaitCall
  std::vector<int> fds;  // poll's
  int set_bits = 0;      // select's
  fd_set sets[3];
  bool has_set[3] = {};
  std::string pump;
};

// One that a word on the stack is an address in.
struct RecordedFunction {
  std::string module;
  uint64_t start;  // its offset + 1
};

struct ChangedWord {
  size_t depth;  // in words below the end of the stack
  uint64_t value;
  size_t function;  // that it is an address in, from 1; 0: none
};

struct RecordedEvent {
  WaitRecord kind = WaitRecord::kEnd;  // kTerminals, kWait, kReturn, a stall's ends, kEnd
  uint64_t at_us = 0;
  uint64_t work_us = 0;  // run or waited for a processor, since the start
  uint64_t terminals = 0;
  size_t site = 0;
  size_t call = 0;
  size_t depth = 0;     // of the stack pointer
  size_t qt_frame = 0;  // a word above it that is in Qt's code, from 1; 0: none
  std::vector<ChangedWord> words;
};

struct RecordedRun {
  std::string program;  // as in sequences.toml
  std::string name;     // "idle", "used", or the stall's
  std::vector<RecordedSite> sites;
  std::vector<RecordedCall> calls;
  std::vector<RecordedFunction> functions;
  std::vector<RecordedEvent> events;
};

// Every run of a compressed file.
Result<std::vector<RecordedRun>> ReadRecordedRuns(const std::string& path);

// The same of its content; `program` is the runs' program.
Result<std::vector<RecordedRun>> ParseRecordedRuns(std::string_view content,
                                                   const std::string& program);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_RECORDED_RUN_H_
