#include "diagnosis/blame/render_work.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr uint32_t kMain = 1, kLayout = 2, kUpload = 3, kLike = 4, kUnnamed = 5;

MethodNames Names() {
  MethodNames names;
  names.Set(kMain, "main");
  names.Set(kLayout, "render/layout: list");
  names.Set(kUpload, "render/upload texture: atlas");
  names.Set(kLike, "renderer/layout");
  return names;
}

TEST(RenderWork, NameIsWhatFollowsThePrefix) {
  EXPECT_EQ(RenderWorkName("render/layout: list"), "layout: list");
  EXPECT_EQ(RenderWorkName("renderer/layout"), "");
  EXPECT_EQ(RenderWorkName("render/"), "");
  EXPECT_EQ(RenderWorkName(""), "");
}

TEST(RenderWork, OtherMethodsAreNone) {
  CallTree tree;
  tree.Enter(kMain, 0);
  tree.Enter(kLike, 10);
  tree.Leave(kLike, 20);
  tree.Enter(kUnnamed, 20);
  tree.LeaveAll(30);
  EXPECT_TRUE(RenderWork(tree.Items(), Names()).empty());
}

TEST(RenderWork, CallsOfOneNameAreAddedUpWhereverTheyAre) {
  CallTree tree;
  tree.Enter(kUpload, 0);
  tree.Leave(kUpload, 5);
  tree.Enter(kMain, 10);
  tree.Enter(kUpload, 20);
  tree.Leave(kUpload, 50);
  tree.Leave(kMain, 60);
  EXPECT_EQ(RenderWork(tree.Items(), Names()), (std::vector<CallItem>{{kUpload, 0, 2, 35, false}}));
}

TEST(RenderWork, WorkWithinItselfCountsItsTimeOnce) {
  CallTree tree;
  tree.Enter(kLayout, 0);
  tree.Enter(kMain, 10);
  tree.Enter(kLayout, 20);
  tree.Leave(kLayout, 60);
  tree.Leave(kMain, 70);
  tree.Enter(kUpload, 70);
  tree.LeaveAll(100);
  const std::vector<CallItem> expected = {{kLayout, 0, 2, 100, true}, {kUpload, 0, 1, 30, true}};
  EXPECT_EQ(RenderWork(tree.Items(), Names()), expected);
}

}  // namespace
}  // namespace jankbox
