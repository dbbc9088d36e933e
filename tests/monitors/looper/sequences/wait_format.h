// The records of a wait sequence: docs/formats/waits.md. The recorder writes them from inside a
// program, and the replay reads them.
#ifndef JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_WAIT_FORMAT_H_
#define JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_WAIT_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace jankbox {

// Numbers are unsigned LEB128, texts a number of bytes and the bytes.
enum class WaitRecord : char {
  kModule = 'm',      // text
  kSite = 's',        // module + 1 or 0, offset in it, offset of the function's start + 1 or 0
  kFunction = 'f',    // module, offset of its start + 1
  kCall = 'c',        // family, 1 if it returns at once, a list of descriptors
  kTerminals = 't',   // a bit for each descriptor
  kWait = 'w',        // Stamp, site, depth, call, Qt's frame + 1 or 0, words that have changed
  kReturn = 'r',      // Stamp
  kStallBegin = '[',  // Stamp
  kStallEnd = ']',    // Stamp
  kEnd = 'z',         // microseconds since the last record
};

// A file before it is compressed: this, then for each run the tag, its name and its bytes.
inline constexpr char kWaitFileMagic[] = "jankbox waits 1\n";
inline constexpr char kWaitRunTag = 'R';

// What DecideWait() may read of the stack above a frame, and above a wait of GLib.
inline constexpr size_t kRecordedFrameWords = 32;
inline constexpr size_t kRecordedCallerWords = 64;

// The deepest stack pointer that is recorded, in words below the end of the stack: 8 MiB.
inline constexpr size_t kMaxRecordedDepth = 1 << 20;

// What the recorder leaves in its file, before the records.
struct RawWaitHeader {
  uint64_t bytes;     // of records
  uint64_t start_ns;  // CLOCK_MONOTONIC
  uint64_t last_us;   // since then: the last record's
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_MONITORS_LOOPER_SEQUENCES_WAIT_FORMAT_H_
