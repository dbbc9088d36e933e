#include "tracer/ftrace/categories.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "tests/tracer/ftrace/tracefs_fixture.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(KernelCategories, TableHasAtracesKernelHalf) {
  std::set<std::string> names;
  for (const KernelCategory& category : KernelCategories()) {
    EXPECT_FALSE(category.events.empty()) << category.name;
    EXPECT_TRUE(names.insert(category.name).second) << category.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{
                       "sched",         "irq",         "irqoff",    "preemptoff", "i2c",
                       "freq",          "membus",      "idle",      "disk",       "mmc",
                       "load",          "sync",        "workq",     "memreclaim", "regulators",
                       "binder_driver", "binder_lock", "pagecache", "memory",     "thermal"}));
}

class CategoriesTest : public testing::TracefsTest {
 protected:
  void SetUp() override {
    TracefsTest::SetUp();
    if (IsSkipped()) return;
    Result<std::unique_ptr<PrivateInstance>> made =
        PrivateInstance::Create(tracefs_, "", {.buffer_kib = 64});
    ASSERT_TRUE(made.ok()) << made.status().message();
    instance_ = std::move(made).value();
  }

  // Every event of the instance that is on, "system/event".
  std::set<std::string> EventsThatAreOn() const {
    std::set<std::string> on;
    for (const auto& system : std::filesystem::directory_iterator(instance_->path() + "/events")) {
      if (!system.is_directory()) continue;
      for (const auto& event : std::filesystem::directory_iterator(system)) {
        if (!event.is_directory()) continue;
        if (ReadProcFile(event.path().string() + "/enable")[0] != '1') continue;
        on.insert(system.path().filename().string() + "/" + event.path().filename().string());
      }
    }
    return on;
  }

  // Those of the category that this kernel has.
  void AddExpected(const std::string& name, std::set<std::string>* expected) const {
    for (const CategoryEvent& event : FindKernelCategory(name)->events) {
      const std::filesystem::path folder = instance_->path() + "/events/" + event.name;
      if (!std::filesystem::exists(folder)) continue;
      if (std::string(event.name).find('/') != std::string::npos) {
        expected->insert(event.name);
        continue;
      }
      for (const auto& inner : std::filesystem::directory_iterator(folder)) {
        if (inner.is_directory()) {
          expected->insert(std::string(event.name) + "/" + inner.path().filename().string());
        }
      }
    }
  }

  std::unique_ptr<PrivateInstance> instance_;
};

TEST_F(CategoriesTest, SchedAndDiskEnableExactlyTheirEvents) {
  ASSERT_TRUE(EventsThatAreOn().empty());
  const std::string global = ReadProcFile(tracefs_ + "/set_event");
  Result<EnabledCategories> enabled = EnableCategories(instance_->path(), "sched disk");
  ASSERT_TRUE(enabled.ok()) << enabled.status().message();
  std::set<std::string> expected;
  AddExpected("sched", &expected);
  AddExpected("disk", &expected);
  ASSERT_GE(expected.size(), 4u);
  EXPECT_EQ(EventsThatAreOn(), expected);
  DisableEvents(instance_->path(), enabled->events);
  EXPECT_TRUE(EventsThatAreOn().empty());
  EXPECT_EQ(ReadProcFile(tracefs_ + "/set_event"), global);
}

TEST_F(CategoriesTest, MissingOptionalEventIsReported) {
  if (std::filesystem::exists(tracefs_ + "/events/sched/sched_blocked_reason")) {
    GTEST_SKIP() << "this kernel has sched_blocked_reason";
  }
  Result<EnabledCategories> enabled = EnableCategories(instance_->path(), "sched");
  ASSERT_TRUE(enabled.ok());
  EXPECT_THAT(enabled->missing, Contains(StartsWith("sched/sched_blocked_reason: ")));
}

TEST_F(CategoriesTest, MissingRequiredEventFailsAndUndoesWhatWasOn) {
  if (std::filesystem::exists(tracefs_ + "/events/binder"))
    GTEST_SKIP() << "this kernel has binder";
  Result<EnabledCategories> enabled = EnableCategories(instance_->path(), "sched binder_driver");
  ASSERT_FALSE(enabled.ok());
  EXPECT_THAT(enabled.status().message(), HasSubstr("binder/binder_transaction"));
  EXPECT_TRUE(EventsThatAreOn().empty());
}

TEST_F(CategoriesTest, FencesAreFoundUnderTheirNameOfThisKernel) {
  Result<EnabledCategories> enabled = EnableCategories(instance_->path(), "sync");
  ASSERT_TRUE(enabled.ok());
  std::vector<std::string> expected;
  for (const char* name : {"sync", "fence", "dma_fence"}) {
    const bool there = std::filesystem::exists(tracefs_ + "/events/" + name);
    if (there && expected.empty()) expected.push_back(name);
  }
  EXPECT_EQ(enabled->events, expected);
  EXPECT_EQ(enabled->missing.empty(), !expected.empty());
}

TEST_F(CategoriesTest, UnknownCategoryIsAnError) {
  Result<EnabledCategories> enabled = EnableCategories(instance_->path(), "sched nonsense");
  ASSERT_FALSE(enabled.ok());
  EXPECT_EQ(enabled.status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(EventsThatAreOn().empty());
}

}  // namespace
}  // namespace jankbox
