// A ring in a temporary folder with the recorder open on it, for the tests of this folder.
#ifndef JANKBOX_TESTS_TRACER_RING_TEST_RING_H_
#define JANKBOX_TESTS_TRACER_RING_TEST_RING_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/own_thread.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_file.h"
#include "tracer/ring/ring_reader.h"
#include "tracer/ring/thread_cursor.h"

namespace jankbox {

class RingTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/dev/shm/jankbox-ring-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    Recorder::Close();
    // A closed ring stays mapped for threads that are on their way out.
    static auto* closed = new std::vector<std::unique_ptr<RingFile>>();
    closed->push_back(std::move(ring_));
    std::string command = "rm -rf " + folder_;
    ASSERT_EQ(system(command.c_str()), 0);
  }
  void OpenRing(uint32_t bytes) {
    RingOptions options;
    options.folder = folder_;
    options.bytes = bytes;
    options.tick_source = ChooseTickSource();
    Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
    ASSERT_TRUE(ring.ok()) << ring.status().message();
    ring_ = std::move(ring.value());
    ASSERT_TRUE(ring_->Grow().ok());
    ASSERT_TRUE(Recorder::Open(ring_.get()).ok());
  }
  RingWindow Window() {
    return RingReader(ring_->base(), ring_->bytes()).CopyWindow(0, UINT64_MAX);
  }
  // All events of thread `tid`, decoded.
  std::vector<EventRecord> Events(const RingWindow& window, int tid) {
    std::vector<EventRecord> events;
    for (const WindowThread& thread : window.threads) {
      if (thread.tid != tid) continue;
      for (const WindowChunk& chunk : thread.chunks) {
        EventCursor cursor(chunk);
        EventRecord record;
        while (cursor.Next(&record)) events.push_back(record);
        EXPECT_FALSE(cursor.torn());
      }
    }
    return events;
  }

  // Cursors that other threads than this one hold.
  static size_t CursorsTaken() {
    const int self = CurrentTid();
    size_t count = 0;
    ThreadCursorPool::ForEach([&count, self](const ThreadCursor* cursor) {
      count += cursor->tid.load(std::memory_order_relaxed) != self ? 1 : 0;
    });
    return count;
  }

  std::string folder_;
  std::unique_ptr<RingFile> ring_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_RING_TEST_RING_H_
