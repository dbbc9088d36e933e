// What a file may do to its reader ends the reader only.
#include "symbolize/limited_worker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

namespace jankbox {
namespace {

using symbolproto::WorkerMessage;

Status RunWorker(const WorkerLimits& limits, const WorkerFunction& work) {
  return RunLimited(limits, work, [](const WorkerMessage&) {});
}

TEST(LimitedWorker, MessagesArriveInOrder) {
  std::vector<std::string> problems;
  const Status status = RunLimited(
      {},
      [](WorkerOutput* output) {
        for (int i = 0; i < 1000; ++i)
          output->SendProblem(std::string(1000, 'x') + std::to_string(i));
      },
      [&](const WorkerMessage& message) { problems.push_back(message.problem()); });
  EXPECT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(problems.size(), 1000u);
  EXPECT_EQ(problems[999], std::string(1000, 'x') + "999");
}

TEST(LimitedWorker, CrashIsItsEnd) {
  const Status status = RunWorker({}, [](WorkerOutput*) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  });
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("crashed"), std::string::npos) << status.message();
}

TEST(LimitedWorker, MemoryIsLimited) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer waits for ever where its own memory is limited";
#endif
  WorkerLimits limits;
  limits.memory_bytes = 64 << 20;
  const Status status = RunWorker(limits, [](WorkerOutput*) {
    std::vector<std::string> pieces;
    for (;;) pieces.emplace_back(1 << 20, 'x');
  });
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("memory"), std::string::npos) << status.message();
}

TEST(LimitedWorker, EndlessLoopIsEnded) {
  WorkerLimits limits;
  limits.cpu_seconds = 1;
  const Status status = RunWorker(limits, [](WorkerOutput*) {
    for (std::atomic<unsigned> i = 0;; ++i) {
    }
  });
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("processor time"), std::string::npos) << status.message();
}

TEST(LimitedWorker, SilentOneIsEnded) {
  WorkerLimits limits;
  limits.wall_seconds = 1;
  const Status status = RunWorker(limits, [](WorkerOutput*) {
    for (;;) pause();
  });
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("more than 1 s"), std::string::npos) << status.message();
}

TEST(LimitedWorker, NoFileCanBeWritten) {
  const std::string path = testing::TempDir() + "written_by_worker";
  unlink(path.c_str());
  std::string wrote;
  const Status status = RunLimited(
      {},
      [&path](WorkerOutput* output) {
        signal(SIGXFSZ, SIG_IGN);
        FILE* const file = fopen(path.c_str(), "w");
        const bool written = file != nullptr && fputs("x", file) >= 0 && fclose(file) == 0;
        output->SendProblem(written ? "written" : "not written");
      },
      [&wrote](const WorkerMessage& message) { wrote = message.problem(); });
  unlink(path.c_str());
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(wrote, "not written");
}

}  // namespace
}  // namespace jankbox
