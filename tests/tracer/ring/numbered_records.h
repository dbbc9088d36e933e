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
  // The number whose record stands behind `words` words; false in `exact` where none does.
  static uint64_t NumberAt(uint64_t words, bool* exact) {
    uint64_t n = words / kWordsOfFour * 4;
    while (WordsBefore(n) < words) ++n;
    *exact = WordsBefore(n) == words;
    return n;
  }
  static uint32_t IdOf(uint32_t writer, uint64_t n) {
    return static_cast<uint32_t>(n & 0xfffff) | writer << 20;
  }
  static uint64_t ValueOf(uint32_t writer, uint64_t n) {
    return (n + 1) * 0x9e3779b97f4a7c15u ^ writer;
  }
  static uint64_t FrameWord(uint32_t writer, uint64_t n, uint64_t i) {
    return ValueOf(writer, n * 5 + i) & kPayloadMask;
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
  uint32_t writer = 0;
  uint64_t decoded = 0;
  uint64_t overwritten = 0;  // by the numbers that are missing
  uint64_t next = 0;         // the number behind the last one
};

// Checks every record of `thread` and that what is missing is what the reader counted.
inline void CheckNumbers(const WindowThread& thread, NumbersFound* found) {
  uint64_t missing_words = 0;
  for (const WindowChunk& chunk : thread.chunks) {
    EventCursor cursor(chunk);
    EventRecord record;
    bool first = true;
    while (cursor.Next(&record)) {
      if (found->decoded == 0) {
        bool exact = false;
        found->writer = record.id >> 20;
        found->next = found->overwritten = NumberedRecords::NumberAt(thread.words_before, &exact);
        ASSERT_TRUE(exact) << thread.words_before << " words are no whole records";
      }
      if (first) {
        const uint64_t skipped = (record.id - found->next) & 0xfffff;
        ASSERT_TRUE(skipped == 0 || (chunk.gap_before && found->decoded != 0));
        missing_words += NumberedRecords::WordsBefore(found->next + skipped) -
                         NumberedRecords::WordsBefore(found->next);
        found->overwritten += skipped;
        found->next += skipped;
        first = false;
      }
      ASSERT_TRUE(NumberedRecords::Is(record, found->writer, found->next));
      ++found->decoded;
      ++found->next;
    }
    ASSERT_FALSE(cursor.torn());
  }
  ASSERT_EQ(missing_words, thread.words_missing);
  ASSERT_EQ(found->decoded + found->overwritten, found->next);
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_RING_NUMBERED_RECORDS_H_
