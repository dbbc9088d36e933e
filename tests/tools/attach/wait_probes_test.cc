#include "tools/attach/wait_probes.h"

#include <gmock/gmock.h>
#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/own_thread.h"
#include "tools/attach/wait_call.h"

namespace jankbox::tools {
namespace {

// A thread that polls when it is told to.
class PollingThread {
 public:
  PollingThread() : thread_([this] { Run(); }) {
    while (tid_.load() == 0) std::this_thread::yield();
  }
  ~PollingThread() {
    wanted_.store(-1);
    thread_.join();
  }
  int32_t tid() const { return tid_.load(); }
  void Poll(int times) {
    wanted_.store(times);
    while (wanted_.load() != 0) std::this_thread::yield();
  }

 private:
  void Run() {
    tid_.store(CurrentTid());
    for (;;) {
      const int times = wanted_.load();
      if (times < 0) return;
      for (int i = 0; i < times; ++i) poll(nullptr, 0, 1);
      if (times > 0) wanted_.store(0);
      std::this_thread::yield();
    }
  }
  std::atomic<int32_t> tid_{0};
  std::atomic<int> wanted_{0};
  std::thread thread_;
};

std::vector<ProbeEvent> Reached(WaitProbes* probes, bool* switched) {
  std::vector<ProbeEvent> reached;
  ProbeEvent event;
  while (probes->Next(&event)) {
    if (event.kind == ProbeEvent::Kind::kReached) reached.push_back(event);
    *switched |= event.kind == ProbeEvent::Kind::kSwitchedIn;
  }
  return reached;
}

class WaitProbesTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<WaitProbes>> probes = WaitProbes::Open(thread_.tid());
    if (!probes.ok()) GTEST_SKIP() << probes.status().message();
    probes_ = std::move(probes.value());
  }

  PollingThread thread_;
  std::unique_ptr<WaitProbes> probes_;
};

TEST_F(WaitProbesTest, EachCallIsSeenWithItsArgumentsAndTheBlocksBetween) {
  const auto address = reinterpret_cast<uint64_t>(&poll);
  const uint64_t addresses[] = {address};
  if (probes_->Probe(addresses) == 0) GTEST_SKIP() << "there is no free hardware breakpoint";
  EXPECT_TRUE(probes_->Probes(address));
  const uint64_t from_ns = MonotonicNs();
  thread_.Poll(5);
  const uint64_t to_ns = MonotonicNs();
  bool switched = false;
  const std::vector<ProbeEvent> reached = Reached(probes_.get(), &switched);
  ASSERT_EQ(reached.size(), 5u);
  uint64_t last_ns = from_ns;
  for (const ProbeEvent& event : reached) {
    EXPECT_EQ(event.address, address);
    EXPECT_GE(event.time_ns, last_ns);
    EXPECT_LE(event.time_ns, to_ns);
    EXPECT_EQ(static_cast<int>(event.sample.registers.Get(machine::kArgumentRegisters[2])), 1);
    last_ns = event.time_ns;
  }
  EXPECT_TRUE(switched);
}

TEST_F(WaitProbesTest, NothingIsSeenOnceItIsNotWanted) {
  const uint64_t addresses[] = {reinterpret_cast<uint64_t>(&poll)};
  if (probes_->Probe(addresses) == 0) GTEST_SKIP() << "there is no free hardware breakpoint";
  EXPECT_EQ(probes_->Probe({}), 0u);
  thread_.Poll(3);
  bool switched = false;
  EXPECT_TRUE(Reached(probes_.get(), &switched).empty());
}

TEST_F(WaitProbesTest, FirstAddressesGetTheBreakpointsThatThereAre) {
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < 40; ++i) addresses.push_back(reinterpret_cast<uint64_t>(&poll) + 4 * i);
  const size_t room = probes_->Probe(addresses);
  if (room == 0) GTEST_SKIP() << "there is no free hardware breakpoint";
  ASSERT_LT(room, addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    EXPECT_EQ(probes_->Probes(addresses[i]), i < room) << i;
  }
  std::reverse(addresses.begin(), addresses.end());
  EXPECT_EQ(probes_->Probe(addresses), room);
  EXPECT_TRUE(probes_->Probes(addresses[0]));
  EXPECT_FALSE(probes_->Probes(addresses.back()));
}

}  // namespace
}  // namespace jankbox::tools
