#include "tracer/hook/loaded_module.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tracer/hook/fixture.h"
#include "tracer/hook/permanent_modules.h"

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

std::vector<LoadedModule> Modules() {
  LoaderCounts counts;
  std::vector<LoadedModule> modules = ListLoadedModules(&counts);
  MarkPermanent(&modules);
  return modules;
}

bool IsPermanent(const std::vector<LoadedModule>& modules, std::string_view end_of_path) {
  for (const LoadedModule& module : modules) {
    if (module.path.ends_with(end_of_path)) return module.is_permanent;
  }
  ADD_FAILURE() << end_of_path;
  return false;
}

TEST(PermanentModules, AreTheProgramAndWhatItNeeds) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "plugin"));
  ASSERT_TRUE(fixture.loaded());
  const std::vector<LoadedModule> modules = Modules();
  EXPECT_TRUE(modules.front().is_permanent);
  EXPECT_TRUE(IsPermanent(modules, "/libc.so.6"));
  EXPECT_FALSE(IsPermanent(modules, fixture.path()));
}

// The file name does not tell which one the program needs.
TEST(PermanentModules, AreNotThoseWhoseFileNameAnotherOneHas) {
  ASSERT_TRUE(IsPermanent(Modules(), "/libstdc++.so.6"));
  FixtureFolder folder;
  const std::string copy = folder.Copy(FixturePaths()[0], "twin");
  const std::string twin = copy.substr(0, copy.rfind('/')) + "/libstdc++.so.6";
  ASSERT_EQ(rename(copy.c_str(), twin.c_str()), 0);
  Fixture fixture(twin);
  ASSERT_TRUE(fixture.loaded());
  EXPECT_FALSE(IsPermanent(Modules(), "/libstdc++.so.6"));
  EXPECT_TRUE(IsPermanent(Modules(), "/libc.so.6"));
}

}  // namespace
}  // namespace jankbox
