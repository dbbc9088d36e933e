#include "sdk/runtime/sealer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

namespace jankbox {
namespace {

// H16. The time is real: the thread must wake by itself though there is nothing to seal.
TEST(Sealer, H16StartThatLivesLongerThanTenSecondsIsForgiven) {
  std::string path = (std::filesystem::temp_directory_path() / "jankbox-lives-XXXXXX").string();
  Options options;
  options.dir = mkdtemp(path.data());
  CrashLoop loop(options.dir, "program");
  KernelRecorder kernel({.mode = FtraceMode::kOff}, TickSource::kClockGettime);
  Refusals refusals;
  Sealer sealer(
      options, &loop, &kernel, &refusals, [](const SealRequest&) { return ReportSource(); },
      [](const SealRequest&, bool) {});
  const uint64_t begin_ns = MonotonicNs();
  sealer.Start();
  EXPECT_TRUE(loop.HooksAllowed(60 * kNsPerSecond));
  const std::string file = options.dir + "/.starts-program";
  EXPECT_TRUE(std::filesystem::exists(file));
  while (std::filesystem::exists(file) && MonotonicNs() - begin_ns < 2 * kCriticalNs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_GE(MonotonicNs() - begin_ns, kCriticalNs);
  sealer.Stop(MonotonicNs() + kNsPerSecond);
  std::filesystem::remove_all(options.dir);
}

TEST(Sealer, H16OrderlyStopIsNoFailedStart) {
  std::string path = (std::filesystem::temp_directory_path() / "jankbox-stops-XXXXXX").string();
  Options options;
  options.dir = mkdtemp(path.data());
  CrashLoop loop(options.dir, "program");
  KernelRecorder kernel({.mode = FtraceMode::kOff}, TickSource::kClockGettime);
  Refusals refusals;
  Sealer sealer(
      options, &loop, &kernel, &refusals, [](const SealRequest&) { return ReportSource(); },
      [](const SealRequest&, bool) {});
  sealer.Start();
  EXPECT_TRUE(loop.HooksAllowed(60 * kNsPerSecond));
  sealer.Stop(MonotonicNs() + kNsPerSecond);
  EXPECT_FALSE(std::filesystem::exists(options.dir + "/.starts-program"));
  std::filesystem::remove_all(options.dir);
}

}  // namespace
}  // namespace jankbox
