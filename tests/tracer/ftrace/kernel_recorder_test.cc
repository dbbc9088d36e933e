#include "tracer/ftrace/kernel_recorder.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/own_thread.h"
#include "tracer/ftrace/private_instance.h"
#include "tracer/ftrace/tracefs_file.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;

class KernelRecorderTest : public ::testing::Test {
 protected:
  KernelWindow Read(KernelRecorder* recorder) {
    const ClockReading now = ReadClocks(source_);
    return recorder->Read(begin_.ticks, now.ticks, TickConverter(begin_, now, 1.0));
  }

  const TickSource source_ = ChooseTickSource();
  const ClockReading begin_ = ReadClocks(source_);
};

// As the watcher and the sealer use it.
TEST_F(KernelRecorderTest, MarksAndWatchesWhileAnotherThreadReads) {
  KernelRecorder recorder({.buffer_kib = 64}, source_);
  std::atomic<bool> stop{false};
  std::thread watcher([&] {
    while (!stop.load()) {
      recorder.Mark();
      recorder.WatchThread(CurrentTid());
      usleep(500);
    }
  });
  const std::string refused = recorder.Start();
  for (int i = 0; i < 20; ++i) {
    const KernelWindow window = Read(&recorder);
    if (refused.empty()) {
      EXPECT_EQ(window.source, KernelWindow::Source::kFtrace) << window.reason;
    } else {
      EXPECT_EQ(window.reason.substr(0, refused.size()), refused);
    }
    usleep(5'000);
  }
  stop.store(true);
  watcher.join();
  recorder.Stop();
  EXPECT_NE(Read(&recorder).source, KernelWindow::Source::kFtrace);
}

TEST_F(KernelRecorderTest, CostOfAPageFaultIsMeasuredAtTheFirstReading) {
  for (const FtraceMode mode : {FtraceMode::kAuto, FtraceMode::kOff}) {
    KernelRecorder recorder({.mode = mode, .buffer_kib = 64}, source_);
    recorder.Start();
    const uint64_t cost_ns = Read(&recorder).page_fault_cost_ns;
    EXPECT_GT(cost_ns, 50u);
    EXPECT_LT(cost_ns, 100'000u);
    EXPECT_EQ(Read(&recorder).page_fault_cost_ns, cost_ns) << "once";
    recorder.Stop();
  }
}

TEST_F(KernelRecorderTest, SwitchedOffNothingIsRecorded) {
  KernelRecorder recorder({.mode = FtraceMode::kOff}, source_);
  EXPECT_EQ(recorder.Start(), "switched off");
  recorder.WatchThread(CurrentTid());
  recorder.Mark();
  const KernelWindow window = Read(&recorder);
  EXPECT_EQ(window.source, KernelWindow::Source::kNone);
  EXPECT_THAT(window.Note(), HasSubstr("switched off"));
}

TEST_F(KernelRecorderTest, ForkedChildLeavesTheInstanceAlone) {
  Result<std::string> tracefs = FindTracefs();
  if (!tracefs.ok()) GTEST_SKIP() << tracefs.status().message();
  Result<std::unique_ptr<PrivateInstance>> made =
      PrivateInstance::Create(tracefs.value(), "", {.buffer_kib = 64});
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EXIT(
      {
        made.value().reset();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(made.value()->Write("tracing_on", "1").ok());
}

}  // namespace
}  // namespace jankbox
