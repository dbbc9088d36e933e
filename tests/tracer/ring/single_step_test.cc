// A signal handler that records, or stops and starts the recorder, run after every single
// instruction of a thread that records, too.
#include <gtest/gtest.h>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

#include <sys/ucontext.h>

#include <csignal>
#include <random>

#include "tests/tracer/ring/inline_events.h"
#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

constexpr uint32_t kByHandler = 77;
constexpr greg_t kTrapFlag = 0x100;

struct Stepping {
  void (*after_instruction)() = nullptr;
  std::minstd_rand random{1};
  RingFile* ring = nullptr;
  uint64_t recorded = 0;  // by the handler
  uint64_t starts = 0;
  uint64_t shut = 0;  // times that a started recorder was found off
  bool stopped = false;
  bool ended = false;
};
Stepping g_stepping;

void OnTrap(int /*signal*/, siginfo_t* /*info*/, void* context) {
  if (g_stepping.ended) {
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    return;
  }
  g_stepping.after_instruction();
}

// Mostly no event; sometimes as many as lead a little beyond the end of a chunk.
void RecordAfterInstruction() {
  const uint64_t dice = g_stepping.random() % 64;
  const uint64_t events = dice < 48 ? 0 : dice - 47;
  for (uint64_t i = 0; i < events; ++i) RecordEvent(EventKind::kInstant, kByHandler);
  g_stepping.recorded += events;
}

// As another thread might do at this moment.
void StopOrStartAfterInstruction() {
  if (!g_stepping.stopped) g_stepping.shut += RecordingOn() ? 0 : 1;
  if (g_stepping.random() % 8 != 0) return;
  if (g_stepping.stopped) {
    g_stepping.starts += Recorder::Open(g_stepping.ring).ok() ? 1 : 0;
  } else {
    Recorder::Close();
  }
  g_stepping.stopped = !g_stepping.stopped;
}

class SingleStepTest : public RingTest {
 protected:
  void SetUp() override {
    RingTest::SetUp();
    OpenRing(64 << 20);
    struct sigaction action {};
    action.sa_sigaction = OnTrap;
    action.sa_flags = SA_SIGINFO;
    ASSERT_EQ(sigaction(SIGTRAP, &action, &old_), 0);
  }
  void TearDown() override {
    sigaction(SIGTRAP, &old_, nullptr);
    RingTest::TearDown();
  }

  template <typename Record>
  void Step(void (*after_instruction)(), Record record) {
    g_stepping = {};
    g_stepping.after_instruction = after_instruction;
    g_stepping.ring = ring_.get();
    asm volatile(
        "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), "
        "%%rsp" ::
            : "memory", "cc");
    for (uint64_t i = 0; i < kRounds; ++i) record();
    g_stepping.ended = true;
    asm volatile("nop" ::: "memory");
  }

  // The chunks of the share of watched threads, of which there are none, lie between this thread's.
  void ExpectNoForeignChunkWasTouched() const {
    for (uint32_t i = 0; i < ring_->header()->chunks_ready.load(); i += 2) {
      ASSERT_EQ(ring_->chunk(i)->sequence.load(), 0u) << i;
    }
  }

  static constexpr uint64_t kRounds = 3000;
  struct sigaction old_ {};
};

TEST_F(SingleStepTest, EventsAreInTheRingOnceAndWhole) {
  const uint64_t payload[3] = {1, 2, 3};
  Step(RecordAfterInstruction, [&payload] {
    RecordEvent(EventKind::kInstant, 5);
    RecordEventAt(EventKind::kStackSample, 3, UINT64_MAX, payload);
  });
  ExpectNoForeignChunkWasTouched();
  const RingWindow window = Window();
  ASSERT_EQ(window.threads.size(), 1u);
  const uint64_t recorded = g_stepping.recorded + 2 * kRounds;
  const uint64_t kept = Events(window, CurrentTid()).size() + window.dropped_events;
  printf("%zu chunks; of %lu events %ld were lost\n", window.threads[0].chunks.size(), recorded,
         static_cast<long>(recorded - kept));
  EXPECT_LE(kept, recorded);
  EXPECT_LE(recorded - kept, window.threads[0].chunks.size());  // one at the end of each, at most
}

TEST_F(SingleStepTest, InlineEventsAreInTheRingOnce) {
  Step(RecordAfterInstruction, [] {
    BeginInline(5);
    EndInline(5);
  });
  ExpectNoForeignChunkWasTouched();
  const RingWindow window = Window();
  ASSERT_EQ(window.threads.size(), 1u);
  const uint64_t recorded = g_stepping.recorded + 2 * kRounds;
  const uint64_t kept = Events(window, CurrentTid()).size() + window.dropped_events;
  EXPECT_LE(kept, recorded);
  EXPECT_LE(recorded - kept, window.threads[0].chunks.size());
}

TEST_F(SingleStepTest, StartIsNotUndoneByAnEventThatMetTheStop) {
  const uint64_t payload[3] = {1, 2, 3};
  Step(StopOrStartAfterInstruction, [&payload] {
    RecordEvent(EventKind::kInstant, 5);
    RecordEventAt(EventKind::kStackSample, 3, UINT64_MAX, payload);
  });
  EXPECT_GT(g_stepping.starts, kRounds);
  EXPECT_EQ(g_stepping.shut, 0u);
}

}  // namespace
}  // namespace jankbox

#endif
