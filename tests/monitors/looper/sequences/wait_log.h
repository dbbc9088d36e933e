// Writes the waits of one thread as records (wait_format.h) into a mapped file, so that they
// survive however the program ends. Used by the recorder inside a program, by its main thread only;
// allocates when modules come and go.
#ifndef JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_WAIT_LOG_H_
#define JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_WAIT_LOG_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "monitors/looper/loop_waits.h"
#include "tests/monitors/looper/sequences/wait_format.h"

namespace jankbox {

class WaitLog {
 public:
  // False if `path` exists, or if this is no thread whose stack the kernel names.
  bool Open(const char* path);

  void Wait(const WaitCall& call);
  void Return() { Stamp(WaitRecord::kReturn); }
  void StallBegins() { Stamp(WaitRecord::kStallBegin); }
  void StallEnds() { Stamp(WaitRecord::kStallEnd); }

 private:
  static constexpr size_t kMaxBytes = 24 << 20;
  static constexpr size_t kMaxRecordBytes = 1 << 20;
  static constexpr size_t kMaxValues = 1 << 22;
  static constexpr size_t kMaxSites = 4096;
  static constexpr size_t kMaxModules = 512;
  static constexpr uint64_t kPollNs = 100'000'000;  // as the agent polls modules and terminals

  struct SiteSeen {
    const void* call_site;
    bool may_be_loop;
    bool is_glib;
  };
  struct CallSeen {
    size_t at;  // of its record
    size_t bytes;
  };
  struct ValueSeen {
    uintptr_t word;
    uint32_t depth;   // of the word that had it
    uint32_t number;  // from 1 on; 0: free
  };
  struct Change {
    uint32_t depth;
    uint32_t value;
    uint32_t function;  // 0: none
  };
  // Anonymous memory, which the program's allocator knows nothing of.
  struct Tables {
    uint64_t tracked[kMaxRecordedDepth / 64];  // a bit for each word of the stack
    uint32_t last[kMaxRecordedDepth];          // the value of each as of its last record
    uint32_t values_of[kMaxRecordedDepth];     // how many different ones each has had
    ValueSeen values[kMaxValues];              // open addressing
    size_t value_count;
    uintptr_t functions[kMaxSites];  // their starts
    size_t function_count;
    Change changes[kMaxRecordBytes / 16];
    SiteSeen sites[kMaxSites];
    size_t site_count;
    CallSeen calls[kMaxSites];
    size_t call_count;
    char modules[kMaxModules][64];
    size_t module_count;
  };

  bool HasRoom() const { return bytes_ != nullptr && used_ + kMaxRecordBytes < kMaxBytes; }
  void Put(WaitRecord tag) { bytes_[used_++] = static_cast<char>(tag); }
  void Put(uint64_t number);
  void Put(std::string_view text);
  void Stamp(WaitRecord tag);
  void PollProgram(uint64_t now_ns);
  size_t ModuleNumber(const char* path);
  size_t SiteNumber(const void* call_site);
  size_t CallNumber(const WaitCall& call);
  void PutDescriptors(const WaitCall& call);
  size_t DepthOf(const void* stack) const;
  uint32_t ValueNumber(size_t depth, uintptr_t word);
  uint32_t FunctionNumber(uintptr_t word);
  void FindChangedWords(size_t depth);
  void PutChangedWords();
  size_t QtFrame(const void* stack) const;

  char* bytes_ = nullptr;  // of the records
  RawWaitHeader* header_ = nullptr;
  Tables* tables_ = nullptr;
  size_t used_ = 0;
  uintptr_t stack_end_ = 0;
  size_t change_count_ = 0;
  uint64_t last_work_us_ = 0;
  uint64_t polled_ns_ = 0;
  uint64_t terminals_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_WAIT_LOG_H_
