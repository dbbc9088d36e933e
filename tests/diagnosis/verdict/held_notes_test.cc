#include "diagnosis/verdict/held_notes.h"

#include <gmock/gmock.h>

#include "base/clock.h"

namespace jankbox {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(HeldNotes, NothingHeldIsNoNote) { EXPECT_THAT(HeldNotes({}), IsEmpty()); }

TEST(HeldNotes, EachReasonHasASentenceOfItsOwn) {
  HeldTime held;
  held.stopped_ns = 10 * kNsPerMs;
  held.suspended_ns = 20 * kNsPerMs;
  held.traced_ns = 30 * kNsPerMs;
  held.beyond_ns = 40 * kNsPerMs;
  held.late_ns = 50 * kNsPerMs;
  EXPECT_THAT(HeldNotes(held),
              ElementsAre(AllOf(HasSubstr("SIGSTOP"), HasSubstr(" 10 ms")),
                          AllOf(HasSubstr("sleep of the machine"), HasSubstr(" 20 ms")),
                          AllOf(HasSubstr("debugger"), HasSubstr(" 30 ms")),
                          AllOf(HasSubstr("machine slept"), HasSubstr(" 40 ms")),
                          AllOf(HasSubstr("got no CPU"), HasSubstr(" 50 ms"))));
}

TEST(HeldNotes, LessThanAMillisecondIsNotWorthASentence) {
  HeldTime held;
  held.stopped_ns = kNsPerMs - 1;
  held.traced_ns = kNsPerMs;
  EXPECT_THAT(HeldNotes(held), ElementsAre(HasSubstr(" 1 ms")));
}

TEST(HeldNotes, MillisecondsAreCutNotRounded) {
  HeldTime held;
  held.stopped_ns = 2 * kNsPerMs + 999'999;
  EXPECT_THAT(HeldNotes(held), ElementsAre(AllOf(HasSubstr(" 2 ms"), Not(HasSubstr("3")))));
}

// A starved watcher says nothing of the thread: its time stays in the duration, and so the sentence
// must not say that it is taken off.
TEST(HeldNotes, StarvedWatcherTakesNothingOffTheDuration) {
  HeldTime held;
  held.late_ns = kNsPerSecond;
  EXPECT_THAT(HeldNotes(held), ElementsAre(Not(HasSubstr("not part of the duration"))));
  held = {};
  held.suspended_ns = kNsPerSecond;
  EXPECT_THAT(HeldNotes(held), ElementsAre(HasSubstr("not part of the duration")));
}

}  // namespace
}  // namespace jankbox
