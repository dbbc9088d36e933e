#include "tracer/hook/loaded_module.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "tests/tracer/hook/fixture.h"

namespace jankbox {
namespace {

TEST(LoadedModule, LibraryOfAnAddressIsKnownByItsPath) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "holder"));
  ASSERT_TRUE(fixture.loaded());
  EXPECT_EQ(LibraryPathOf(reinterpret_cast<const void*>(fixture.load_bias())), fixture.path());
  EXPECT_EQ(LibraryPathOf(reinterpret_cast<const void*>(&FixturePaths)), "");  // the program
  EXPECT_EQ(LibraryPathOf(nullptr), "");
}

}  // namespace
}  // namespace jankbox
