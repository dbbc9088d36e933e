#include "sdk/runtime/parts_gate.h"

#include <gtest/gtest.h>

#include <thread>

namespace jankbox {
namespace {

TEST(PartsGateTest, WhoeverComesEarlierWaits) {
  PartsGate gate;
  EXPECT_FALSE(gate.is_open());
  bool passed = false;
  std::thread early([&] { passed = gate.Await(UINT64_MAX); });
  EXPECT_TRUE(gate.Open());
  early.join();
  EXPECT_TRUE(passed);
  EXPECT_TRUE(gate.is_open());
  EXPECT_TRUE(gate.AwaitOrGiveUp(0));
}

TEST(PartsGateTest, WhatWasGivenUpDoesNotBegin) {
  PartsGate gate;
  EXPECT_FALSE(gate.Await(MonotonicNs() + kNsPerMs)) << "for who can do without, it goes on";
  EXPECT_FALSE(gate.AwaitOrGiveUp(MonotonicNs()));
  EXPECT_FALSE(gate.Open());
  EXPECT_FALSE(gate.is_open());
  EXPECT_FALSE(gate.Await(UINT64_MAX)) << "nobody waits for what never comes";
}

}  // namespace
}  // namespace jankbox
