// Blocked threads, of whose registers pc and sp alone are known, as /proc says them: here a signal
// takes them, which an emulator can do too, if /proc shows the emulator's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/scoped_fd.h"
#include "diagnosis/symbols/symbolizer.h"
#include "tests/tracer/sampling/call_chains.h"
#include "tests/tracer/sampling/sampled_thread.h"
#include "tracer/sampling/signal_source.h"
#include "tracer/unwind/unwinder.h"

namespace jankbox {
namespace {

using Names = std::vector<std::string>;

class BlockedRegisters : public testing::Test {
 protected:
  BlockedRegisters() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    read_end_.Reset(ends[0]);
    write_end_.Reset(ends[1]);
  }
  int fd() const { return read_end_.get(); }

  // The stack of a thread that `block` blocks, unwound from its pc and sp; `wake` ends the wait.
  void Unwind(const std::function<void()>& block, const std::function<void()>& wake) {
    SampledThread thread([&](const std::atomic<bool>&) { block(); });
    if (WaitForState(thread.tid(), 'S')) {
      auto source = SignalSource::Create(thread.tid());
      SignalSample taken;
      if (source.ok() && source.value()->Capture(5000, &taken)) UnwindFrom(taken);
    }
    wake();
  }
  void UnwindUntilWritten(const std::function<void()>& block) {
    Unwind(block, [this] { EXPECT_EQ(write(write_end_.get(), "xx", 2), 2); });
  }

  void ExpectChain(const Names& chain) {
    EXPECT_TRUE(IsOrderedSubsequence(chain, names_)) << Join(names_);
    EXPECT_FALSE(sample_.truncated) << Join(names_);
  }

  StackSample sample_;
  Names names_;

 private:
  void UnwindFrom(const SignalSample& taken) {
    Registers known;
    for (const uint32_t number : {machine::kProgramCounter, machine::kStackPointer}) {
      known.Set(number, taken.registers.Get(number));
    }
    const ModuleMap modules = ModuleMap::Load();
    Unwinder unwinder;
    ASSERT_EQ(unwinder.note(), "");
    unwinder.SetModules(&modules);
    unwinder.Unwind(known, taken.stack, &sample_);
    names_ = NamesOf(modules, sample_);
  }

  ScopedFd read_end_, write_end_;
};

class BlockedRegistersIn : public BlockedRegisters, public testing::WithParamInterface<size_t> {};

TEST_P(BlockedRegistersIn, Read) {
  UnwindUntilWritten([this] { ReadOuter(GetParam(), fd()); });
  ExpectChain({"ReadInner", "ReadOuter"});
}

TEST_P(BlockedRegistersIn, Poll) {
  UnwindUntilWritten([this] { PollOuter(GetParam(), fd(), 60'000); });
  ExpectChain({"PollInner", "PollOuter"});
}

TEST_P(BlockedRegistersIn, Sleep) {
  Unwind([] { SleepOuter(GetParam(), 300); }, [] {});
  ExpectChain({"SleepInner", "SleepOuter"});
}

TEST_P(BlockedRegistersIn, Mutex) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  Unwind([&mutex] { LockOuter(GetParam(), &mutex); }, [&mutex] { pthread_mutex_unlock(&mutex); });
  ExpectChain({"LockInner", "LockOuter"});
}

INSTANTIATE_TEST_SUITE_P(FrameBytes, BlockedRegistersIn, testing::Values(16, 1000, 20'000));

// libc's syscall() has no frame: if calls do not push, its return address is in a register,
// which /proc does not say.
TEST_F(BlockedRegisters, FixedFrames) {
  UnwindUntilWritten([this] { FixedOuter(3, fd()); });
  if (!machine::kCallsPush) {
    EXPECT_THAT(names_, testing::ElementsAre("syscall"));
    EXPECT_TRUE(sample_.truncated);
    return;
  }
  ExpectChain({"FixedInner", "FixedInner", "FixedInner", "FixedInner", "FixedOuter"});
}

TEST_F(BlockedRegisters, DeepRecursionIsCut) {
  UnwindUntilWritten([this] { RecurseThenRead(300, fd()); });
  EXPECT_TRUE(sample_.truncated);
  EXPECT_EQ(sample_.depth, StackSample::kMaxDepth);
  for (size_t i = 1; i < names_.size(); ++i) EXPECT_EQ(names_[i], "RecurseThenRead");
}

}  // namespace
}  // namespace jankbox
