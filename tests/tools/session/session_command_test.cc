#include "tools/session/session_command.h"

#include <gtest/gtest.h>

#include "tools/doctor/agent_library.h"

namespace jankbox::tools {
namespace {

constexpr char kAgent[] = "/usr/lib/x/libjankbox_agent.so";

TEST(SessionCommand, AgentComesLastAndOnce) {
  EXPECT_EQ(WithAgent("", kAgent), kAgent);
  EXPECT_EQ(WithAgent("libown.so", kAgent), std::string("libown.so:") + kAgent);
  EXPECT_EQ(WithAgent("/old/libjankbox_agent.so:a.so b.so", kAgent),
            std::string("a.so:b.so:") + kAgent);
}

TEST(SessionCommand, AgentOfAnyVersionIsTakenOut) {
  EXPECT_EQ(WithoutAgent(""), "");
  EXPECT_EQ(WithoutAgent(kAgent), "");
  EXPECT_EQ(WithoutAgent("a.so:/old/libjankbox_agent.so:b.so"), "a.so:b.so");
  EXPECT_EQ(WithoutAgent("/own/libjankbox_agent.so.mine"), "/own/libjankbox_agent.so.mine");
}

}  // namespace
}  // namespace jankbox::tools
