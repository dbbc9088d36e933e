#include "sdk/android/jni/running_message.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

TEST(RunningMessage, NameIsThatOfTheMessageThatRuns) {
  RunningMessage message;
  message.Begin("com.example.AVeryLongNameOfAHandler$WithAnInnerClass: 17");
  const uint32_t first = message.Sequence();
  EXPECT_EQ(first % 2, 1u);
  EXPECT_EQ(message.NameOf(first), "com.example.AVeryLongNameOfAHandler$WithAnInnerClass: 17");
  message.End();
  EXPECT_EQ(message.Sequence() % 2, 0u);
  EXPECT_EQ(message.NameOf(first), "");
  for (const char* name : {"Handler: 1", "12345678", ""}) {
    message.Begin(name);
    EXPECT_EQ(message.NameOf(message.Sequence()), name);
    message.End();
  }
}

TEST(RunningMessage, OneWithinAnotherIsAnotherOne) {
  RunningMessage message;
  message.Begin("outer");
  const uint32_t outer = message.Sequence();
  message.Begin("inner");
  EXPECT_EQ(message.NameOf(message.Sequence()), "inner");
  EXPECT_EQ(message.NameOf(outer), "");
  message.End();
  message.End();
  EXPECT_EQ(message.Sequence() % 2, 0u);
}

}  // namespace
}  // namespace jankbox
