// Records whose kind and content follow from their number, so that a reader can tell each one that
// is missing, doubled, moved or damaged. For the tests that kill, fork and flood.
#ifndef JANKBOX_TESTS_TRACER_RING_NUMBERED_RECORDS_H_
#define JANKBOX_TESTS_TRACER_RING_NUMBERED_RECORDS_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/tracer/ring/inline_events.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

// Number `n` of `writer` (0-15) in turn: begin, counter, frame, end.
class NumberedRecords {
 public:
  static constexpr uint64_t kWordsOfFour = 1 + 3 + 6 + 1;

  // Words that the records before number `n` take.
  static uint64_t WordsBefore(uint64_t n) {
    constexpr uint64_t kWithin[4] = {0, 1, 4, 10};
    return n / 4 * kWordsOfFour + kWithin[n % 4];
  }
  // The number whose record is after `words` words; false in `exact` if none does.
  static uint64_t NumberAt(uint64_t words, bool* exact) {
    uint64_t n = words / kWordsOfFour * 4;
    while (WordsBefore(n) < words) ++n;
    *exact = WordsBefore(n) == words;
    return n;
  }
  // An end carries the id of its start, three records before it; a frame says its words.
  static uint32_t IdOf(uint32_t writer, uint64_t n) {
    if (n % 4 == 2) return 5 | writer << 20;
    return static_cast<uint32_t>((n % 4 == 3 ? n - 3 : n) & 0xfffff) | writer << 20;
  }
  // The low 20 bits of the number that a record says to have.
  static uint64_t LowNumber(const EventRecord& record) {
    if (record.kind == EventKind::kFrame) return PayloadOf(record.payload[0]) & 0xfffff;
    return (record.id + (record.kind == EventKind::kEnd ? 3 : 0)) & 0xfffff;
  }
  static uint64_t ValueOf(uint32_t writer, uint64_t n) {
    return (n + 1) * 0x9e3779b97f4a7c15u ^ writer;
  }
  static uint64_t FrameWord(uint32_t writer, uint64_t n, uint64_t i) {
    return (i == 0 ? n : ValueOf(writer, n * 5 + i)) & kPayloadMask;
  }

  static void Write(uint32_t writer, uint64_t n) {
    const uint32_t id = IdOf(writer, n);
    // Odd writers as a program does that was compiled with the inline header.
    const bool in_place = writer % 2 != 0;
    switch (n % 4) {
      case 0:
        return in_place ? BeginInline(id) : RecordEvent(EventKind::kBegin, id);
      case 1:
        return RecordValue(EventKind::kCounter, id, ValueOf(writer, n));
      case 2: {
        uint64_t words[5];
        for (uint64_t i = 0; i < 5; ++i) words[i] = FrameWord(writer, n, i);
        return RecordEventAt(EventKind::kFrame, id, UINT64_MAX, words);
      }
      default:
        return in_place ? EndInline(id) : RecordEvent(EventKind::kEnd, id);
    }
  }

  static testing::AssertionResult Is(const EventRecord& record, uint32_t writer, uint64_t n) {
    constexpr EventKind kKinds[4] = {EventKind::kBegin, EventKind::kCounter, EventKind::kFrame,
                                     EventKind::kEnd};
    bool same = record.kind == kKinds[n % 4] && record.id == IdOf(writer, n);
    if (same && n % 4 == 1) {
      same = JoinPayload(record.payload[0], record.payload[1]) == ValueOf(writer, n);
    }
    for (uint64_t i = 0; same && n % 4 == 2 && i < 5; ++i) {
      same = PayloadOf(record.payload[i]) == FrameWord(writer, n, i);
    }
    if (same) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "kind " << static_cast<uint32_t>(record.kind) << " id "
                                       << record.id << " is not number " << n << " of " << writer;
  }
};

// What one thread of a window holds of its records.
struct NumbersFound {
  uint32_t writer = 0;  // 0 if nothing was decoded
  uint64_t decoded = 0;
  uint64_t overwritten = 0;  // by the words that are missing
  uint64_t next = 0;         // the number after the last one
};

// Passes over the records of `words` words.
inline void SkipWords(uint64_t words, NumbersFound* found) {
  bool exact = false;
  const uint64_t at = NumberedRecords::WordsBefore(found->next) + words;
  const uint64_t next = NumberedRecords::NumberAt(at, &exact);
  ASSERT_TRUE(exact) << at << " words are no whole records";
  found->overwritten += next - found->next;
  found->next = next;
}

// Checks every record of `thread` and that what is missing is what the reader counted.
inline void CheckNumbers(const WindowThread& thread, NumbersFound* found) {
  ASSERT_NO_FATAL_FAILURE(SkipWords(thread.words_before, found));
  uint64_t missing = thread.words_missing;
  for (const WindowChunk& chunk : thread.chunks) {
    EventCursor cursor(chunk);
    EventRecord record;
    bool first = true;
    while (cursor.Next(&record)) {
      if (found->decoded == 0) found->writer = record.id >> 20;
      if (first && chunk.gap_before && missing != 0 && found->decoded != 0) {
        const uint64_t skipped = (NumberedRecords::LowNumber(record) - found->next) & 0xfffff;
        const uint64_t words = NumberedRecords::WordsBefore(found->next + skipped) -
                               NumberedRecords::WordsBefore(found->next);
        ASSERT_LE(words, missing);
        ASSERT_NO_FATAL_FAILURE(SkipWords(words, found));
        missing -= words;
      }
      first = false;
      ASSERT_TRUE(NumberedRecords::Is(record, found->writer, found->next));
      ++found->decoded;
      ++found->next;
    }
    ASSERT_FALSE(cursor.torn());
  }
  // Before chunks that hold nothing yet.
  ASSERT_NO_FATAL_FAILURE(SkipWords(missing, found));
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_RING_NUMBERED_RECORDS_H_
