#include "monitors/anr/quit_signal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "tracer/event/watcher_wake.h"

namespace jankbox {
namespace {

// In processes of their own, whose handler they change.
void DieOfTheOneBeforeTheStop() {
  if (!QuitSignal::Install().empty()) _exit(1);
  raise(SIGQUIT);
  QuitSignal::Remove();
  if (QuitSignal::Take() != 1) _exit(2);
  QuitSignal::PassOn();
  _exit(3);
}

void ExitIfNothingIsLeft() {
  signal(SIGQUIT, [](int) {});
  if (!QuitSignal::Install().empty()) _exit(1);
  raise(SIGQUIT);
  QuitSignal::Remove();
  if (!QuitSignal::Install().empty()) _exit(2);
  if (QuitSignal::Take() != 0) _exit(3);
  raise(SIGQUIT);
  const uint64_t begin_ns = MonotonicNs();
  WatcherWake::word().Wait(60 * kNsPerSecond);
  if (MonotonicNs() - begin_ns > 30 * kNsPerSecond) _exit(4);
  _exit(QuitSignal::Take() == 1 && QuitSignal::PassOn() ? 0 : 5);
}

struct sigaction g_ours;
int g_calls = 0;

void CallOurs(int signal, siginfo_t* info, void* context) {
  if (++g_calls > 1) _exit(6);
  g_ours.sa_sigaction(signal, info, context);
}

// Another library's handler that came after ours, and calls it.
void ExitIfTheHandlersEnd() {
  if (!QuitSignal::Install().empty()) _exit(1);
  struct sigaction theirs {};
  theirs.sa_sigaction = CallOurs;
  theirs.sa_flags = SA_SIGINFO;
  sigaction(SIGQUIT, &theirs, &g_ours);
  QuitSignal::Remove();
  if (!QuitSignal::Install().empty()) _exit(2);
  raise(SIGQUIT);
  _exit(g_calls == 1 && QuitSignal::Take() == 1 ? 0 : 3);
}

TEST(QuitSignalDeathTest, OneThatCameJustBeforeTheStopIsPassedOn) {
  EXPECT_EXIT(DieOfTheOneBeforeTheStop(), testing::KilledBySignal(SIGQUIT), "");
}

TEST(QuitSignalDeathTest, OneOfTheLastRecordingIsNotOfTheNext) {
  EXPECT_EXIT(ExitIfNothingIsLeft(), testing::ExitedWithCode(0), "");
}

TEST(QuitSignalDeathTest, HandlerThatCallsOursIsNotCalledByItAfterTheNextStart) {
  EXPECT_EXIT(ExitIfTheHandlersEnd(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace jankbox
