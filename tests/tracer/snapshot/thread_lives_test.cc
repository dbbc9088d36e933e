// Threads over time, from their events: names, lives of one tid, and how a trace draws them.
#include "tracer/snapshot/thread_lives.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/tracer/snapshot/test_window.h"
#include "tracer/event/wait_event.h"
#include "tracer/snapshot/wait_slices.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TestEvent Thread(ThreadEvent event, const std::string& name = "") {
  memcpy(event.name, name.data(), name.size());
  const EncodedThreadEvent encoded = EncodeThreadEvent(event);
  return {EventKind::kThread, encoded.id, event.ticks,
          std::vector<uint64_t>(encoded.payload, encoded.payload + encoded.words)};
}
TestEvent Created(int32_t tid, int32_t parent, uint64_t ticks) {
  return Thread({.step = ThreadStep::kCreated,
                 .tid = tid,
                 .ticks = ticks,
                 .parent_tid = parent,
                 .started_ticks = ticks + 10});
}
TestEvent Named(int32_t tid, uint64_t ticks, const std::string& name) {
  return Thread({.step = ThreadStep::kNamed, .tid = tid, .ticks = ticks}, name);
}
TestEvent Ended(int32_t tid, uint64_t ticks) {
  return Thread({.step = ThreadStep::kEnded, .tid = tid, .ticks = ticks});
}
TestEvent Wait(const WaitEvent& wait, uint64_t ticks) {
  const EncodedWait encoded = EncodeWait(wait);
  return {EventKind::kWait, encoded.id, ticks,
          std::vector<uint64_t>(&encoded.payload, &encoded.payload + encoded.words)};
}

// A thread 1, "main", whose marker lane holds `markers`; it exists from 100 on.
WindowThread Main(const std::vector<TestEvent>& markers) {
  WindowThread thread = MakeThread(1, {MakeChunk({Begin(1, 100), End(1, 5'000)}, 100)});
  thread.name = "main";
  thread.markers.push_back(MakeChunk(markers, 100));
  return thread;
}

std::vector<std::string> NamesOf(const TraceContent& trace) {
  std::vector<std::string> names;
  for (const ReadSlice& slice : trace.slices) {
    if (slice.track != "thread name") continue;
    const uint64_t from = slice.ts - kBoottimeOffsetNs;
    names.push_back(std::to_string(from) + "-" + std::to_string(from + slice.dur) + " " +
                    slice.name);
  }
  return names;
}

TEST(ThreadLives, NameIsTheOneOfTheMoment) {
  const RingWindow window =
      MakeWindow(0, 10'000, {Main({Created(7, 1, 200), Named(7, 300, "a"), Named(7, 400, "b")})});
  const ThreadLives lives(window, {});
  EXPECT_EQ(lives.NameAt(7, 350), "a");
  EXPECT_EQ(lives.NameAt(7, 400), "b");
  EXPECT_EQ(lives.NameAt(7, 9'999), "b");
  EXPECT_EQ(lives.NameAt(7, 210), "a");  // what it is first called counts from its start
  EXPECT_EQ(lives.NameAt(1, 500), "main");
  EXPECT_EQ(lives.NameAt(8, 500), "");
}

TEST(ThreadLives, NamesOfNowAreThoseOfLivingThreadsOnly) {
  const RingWindow window =
      MakeWindow(0, 10'000, {Main({Created(7, 1, 200), Named(7, 300, "dead"), Ended(7, 400)})});
  const ThreadLives lives(window, {{7, "another"}, {1, "main now"}, {9, "silent"}});
  EXPECT_EQ(lives.NameAt(7, 350), "dead");
  EXPECT_EQ(lives.NameAt(1, 500), "main now");
  EXPECT_EQ(lives.NameAt(9, 500), "silent");
}

TEST(ThreadLives, RenamedThreadAndTidThatIsGivenAgainAreDrawnOverTime) {
  const RingWindow window =
      MakeWindow(0, 10'000,
                 {Main({Created(7, 1, 200), Named(7, 210, "first"), Named(7, 1'000, "second"),
                        Ended(7, 2'000), Created(7, 1, 3'000), Named(7, 3'010, "third")})});
  const TestSnapshot snapshot = Snapshot(window);
  EXPECT_THAT(NamesOf(snapshot.trace),
              ElementsAre("200-1000 first", "1000-2000 second", "3000-10000 third"));
  std::vector<std::string> instants;
  for (const ReadInstant& instant : snapshot.trace.instants) {
    instants.push_back(std::to_string(instant.ts - kBoottimeOffsetNs) + " " +
                       std::to_string(instant.tid) + " " + instant.name);
  }
  EXPECT_THAT(instants, ElementsAre("200 1 create thread first [7]", "210 7 created by main [1]",
                                    "2000 7 thread ended", "3000 1 create thread third [7]",
                                    "3010 7 created by main [1]"));
  EXPECT_EQ(snapshot.trace.threads.at(7), "third");
}

TEST(ThreadLives, ThreadOfOneNameHasNoTrackOfNames) {
  EXPECT_THAT(NamesOf(Snapshot(MakeWindow(0, 10'000,
                                          {Main({Created(7, 1, 200), Named(7, 300, "only"),
                                                 Named(7, 400, "only"), Ended(7, 500)})}))
                          .trace),
              IsEmpty());
}

TEST(ThreadLives, OldThreadThatIsRenamedHadTheNameOfItsFirstEvent) {
  const TestSnapshot snapshot =
      Snapshot(MakeWindow(0, 10'000, {Main({Named(1, 4'000, "main-busy")})}));
  EXPECT_THAT(NamesOf(snapshot.trace), ElementsAre("0-4000 main", "4000-10000 main-busy"));
  EXPECT_EQ(snapshot.trace.threads.at(1), "main-busy");
}

TEST(ThreadLives, WaitsNestInTheCallsAndNameTheOwnerOfTheirMoment) {
  const RingWindow window = MakeWindow(
      0, 10'000,
      {Main({Named(7, 150, "worker-7"), Wait({.what = WaitClass::kMutex, .owner_tid = 7}, 200),
             Wait({.what = WaitClass::kMutex, .end = true}, 900), Named(7, 950, "later"),
             Wait({.what = WaitClass::kRead, .fd_class = 1, .bytes = 65'536}, 1'000),
             Wait({.what = WaitClass::kRead, .end = true, .fd_class = 1, .result = -5}, 1'500),
             Wait({.what = WaitClass::kFsync, .fd_class = 1}, 2'000)})});
  const TestSnapshot snapshot = Snapshot(window);
  EXPECT_THAT(
      Describe(snapshot.trace.slices, 1),
      ElementsAre("100+4900 0 m1", "200+700 1 lock contention on a mutex (owner worker-7 [7])",
                  "1000+500 1 read (file, 65536 bytes)", "2000+3000 1 fsync (file) end_missing"));
  for (const ReadSlice& slice : snapshot.trace.slices) {
    if (slice.name.rfind("lock", 0) == 0) {
      EXPECT_EQ(slice.annotations.at("owner_tid"), "7");
    }
    if (slice.name.rfind("read", 0) == 0) {
      EXPECT_EQ(slice.annotations.at("errno"), "5");
    }
  }
}

TEST(WaitName, EveryClassHasAName) {
  for (uint32_t number = 0; number < 64; ++number) {
    if (!IsWaitClass(number)) continue;
    EXPECT_NE(WaitName({.what = static_cast<WaitClass>(number)}, ""), "wait") << number;
  }
  EXPECT_EQ(WaitName({.what = WaitClass::kMutex}, ""), "lock contention on a mutex");
  EXPECT_EQ(WaitName({.what = WaitClass::kWriteLock, .owner_tid = 5}, ""),
            "lock contention on a read-write lock, to write (owner [5])");
  EXPECT_EQ(WaitName({.what = WaitClass::kJoin, .owner_tid = 5}, "x"), "join a thread (x [5])");
  EXPECT_EQ(WaitName({.what = WaitClass::kWrite, .fd_class = 3, .bytes = 1}, ""),
            "write (socket, 1 byte)");
}

}  // namespace
}  // namespace jankbox::testing
