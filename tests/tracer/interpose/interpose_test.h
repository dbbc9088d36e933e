// A ring, the calling thread watched, and the proxies of tracer/interpose as functions to call,
// with the C library's own after them.
#ifndef JANKBOX_TESTS_TRACER_INTERPOSE_INTERPOSE_TEST_H_
#define JANKBOX_TESTS_TRACER_INTERPOSE_INTERPOSE_TEST_H_

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <ostream>
#include <vector>

#include "base/own_thread.h"
#include "tests/tracer/ring/test_ring.h"
#include "tracer/event/binder_call.h"
#include "tracer/event/thread_event.h"
#include "tracer/event/wait_event.h"
#include "tracer/interpose/bus_calls.h"
#include "tracer/interpose/io_proxies.h"
#include "tracer/interpose/lock_proxies.h"
#include "tracer/interpose/thread_proxies.h"

namespace jankbox {

// One wait as the ring says it.
struct RecordedWait {
  WaitEvent begin;
  WaitEvent end;  // what is kNone: still open
  uint64_t begin_ticks = 0;
  uint64_t end_ticks = 0;
};

// What a call gave back, and what it left in errno.
struct Outcome {
  long result = 0;
  int error = 0;
  bool operator==(const Outcome&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.result << " errno " << outcome.error;
}
inline constexpr int kUntouchedErrno = 7777;

template <typename Call>
Outcome RunCall(Call call) {
  errno = kUntouchedErrno;
  const long result = call();
  return {result, errno};
}

class SourceTest : public RingTest {
 protected:
  void SetUp() override {
    RingTest::SetUp();
    for (const auto& hooks : {IoHooks(), BusHooks(), LockHooks(), ThreadHooks()}) {
      for (const HookUse& hook : hooks) {
        // Null where only bionic has it.
        hook.original->Set(dlsym(RTLD_DEFAULT, SymbolOf(hook.id)));
      }
    }
    OpenRing(4 << 20);
    WatchThisThread();
  }

  template <typename Function>
  static Function* Proxy(HookId id) {
    for (const auto& hooks : {IoHooks(), BusHooks(), LockHooks(), ThreadHooks()}) {
      for (const HookUse& hook : hooks) {
        if (hook.id == id) return reinterpret_cast<Function*>(hook.proxy);
      }
    }
    ADD_FAILURE() << "no proxy of " << SymbolOf(id);
    return nullptr;
  }
  template <typename Function>
  static Function* Real(HookId id) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, SymbolOf(id)));
  }

  // The markers' lane of thread `tid`; 0: of all.
  static void EachMarker(const RingWindow& window, int tid, auto visit) {
    for (const WindowThread& thread : window.threads) {
      if (tid != 0 && thread.tid != tid) continue;
      for (const WindowChunk& chunk : thread.markers) {
        EventCursor cursor(chunk);
        EventRecord record;
        while (cursor.Next(&record)) visit(record);
        EXPECT_FALSE(cursor.torn());
      }
    }
  }
  static std::vector<uint64_t> Words(const EventRecord& record) {
    std::vector<uint64_t> words(record.payload.size());
    std::transform(record.payload.begin(), record.payload.end(), words.begin(), PayloadOf);
    return words;
  }

  // Waits of thread `tid` in order of their begins. Ends match the innermost open begin, and must.
  static std::vector<RecordedWait> Waits(const RingWindow& window, int tid) {
    std::vector<RecordedWait> waits;
    std::vector<size_t> open;
    EachMarker(window, tid, [&](const EventRecord& record) {
      if (record.kind != EventKind::kWait) return;
      WaitEvent event;
      if (BeginsBinderCall(record.id)) {
        event = {.what = WaitClass::kBinder};
      } else {
        ASSERT_TRUE(DecodeWait(record.id, Words(record), &event));
      }
      if (!event.end) {
        open.push_back(waits.size());
        waits.push_back({.begin = event, .end = {}, .begin_ticks = record.ticks});
        return;
      }
      ASSERT_FALSE(open.empty());
      RecordedWait& wait = waits[open.back()];
      open.pop_back();
      EXPECT_EQ(event.what, wait.begin.what);
      wait.end = event;
      wait.end_ticks = record.ticks;
    });
    return waits;
  }
  static std::vector<ThreadEvent> ThreadEvents(const RingWindow& window) {
    std::vector<ThreadEvent> events;
    EachMarker(window, 0, [&](const EventRecord& record) {
      if (record.kind != EventKind::kThread) return;
      ThreadEvent event;
      ASSERT_TRUE(DecodeThreadEvent(record.id, Words(record), &event));
      events.push_back(event);
    });
    return events;
  }
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_INTERPOSE_INTERPOSE_TEST_H_
