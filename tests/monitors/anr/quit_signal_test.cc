#include "monitors/anr/quit_signal.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

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
  pollfd readable = {QuitSignal::fd(), POLLIN, 0};
  _exit(poll(&readable, 1, 0) == 1 && QuitSignal::Take() == 1 && QuitSignal::PassOn() ? 0 : 4);
}

TEST(QuitSignalDeathTest, OneThatCameJustBeforeTheStopIsPassedOn) {
  EXPECT_EXIT(DieOfTheOneBeforeTheStop(), testing::KilledBySignal(SIGQUIT), "");
}

TEST(QuitSignalDeathTest, OneOfTheLastRecordingIsNotOfTheNext) {
  EXPECT_EXIT(ExitIfNothingIsLeft(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace jankbox
