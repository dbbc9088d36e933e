// Arrows from the threads that ended a wait, read back by the strict reader.
#include "tracer/snapshot/wake_up_flows.h"

#include <gmock/gmock.h>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kUi = 11;
constexpr int32_t kWorker = 12;

std::vector<ReadInstant> Instants(const std::vector<SnapshotWakeUp>& wake_ups) {
  const RingWindow window =
      MakeWindow(1000, 2000, {MakeThread(kUi, {MakeChunk({Begin(1, 1100)})})});
  const MethodNames names = TestNames();
  SnapshotInput input = MakeInput(window, names);
  input.incident.kind = "slow_message";
  input.incident.tid = kUi;
  input.incident.from_ns = kBoottimeOffsetNs + 1200;
  input.incident.to_ns = kBoottimeOffsetNs + 1900;
  input.incident.wake_ups = wake_ups;
  return Snapshot(input).trace.instants;
}

SnapshotWakeUp WakeUpAt(uint64_t by, uint64_t woken) {
  return {kWorker,
          kUi,
          kBoottimeOffsetNs + by,
          kBoottimeOffsetNs + woken,
          "wakes main [11]",
          "woken by worker [12], in Finish"};
}

TEST(WakeUpFlows, JoinAnInstantOfTheWakerWithOneAtTheEndOfTheWait) {
  const std::vector<ReadInstant> instants = Instants({WakeUpAt(1300, 1310), WakeUpAt(1305, 1306)});
  ASSERT_THAT(instants, SizeIs(4));
  EXPECT_EQ(instants[0].name, "wakes main [11]");
  EXPECT_EQ(instants[0].tid, kWorker) << "a thread that recorded nothing";
  EXPECT_EQ(instants[0].ts, kBoottimeOffsetNs + 1300);
  ASSERT_THAT(instants[0].flows, SizeIs(1));
  EXPECT_THAT(instants[0].ended_flows, IsEmpty());
  EXPECT_EQ(instants[3].name, "woken by worker [12], in Finish");
  EXPECT_EQ(instants[3].tid, kUi);
  EXPECT_EQ(instants[3].ts, kBoottimeOffsetNs + 1310);
  EXPECT_EQ(instants[3].ended_flows, instants[0].flows);
  EXPECT_EQ(instants[2].ended_flows, instants[1].flows);
  EXPECT_NE(instants[0].flows, instants[1].flows);
}

TEST(WakeUpFlows, OfOneMomentBeginBeforeTheyEnd) {
  const std::vector<ReadInstant> instants = Instants({WakeUpAt(1300, 1300), WakeUpAt(1300, 1200)});
  ASSERT_THAT(instants, SizeIs(4));
  EXPECT_EQ(instants[1].ended_flows, instants[0].flows);
  EXPECT_EQ(instants[3].ended_flows, instants[2].flows);
  EXPECT_EQ(instants[3].ts, kBoottimeOffsetNs + 1300) << "no wait ends before it is ended";
}

TEST(WakeUpFlows, WithoutWakeUpsThereIsNothing) { EXPECT_THAT(Instants({}), IsEmpty()); }

}  // namespace
}  // namespace jankbox::testing
