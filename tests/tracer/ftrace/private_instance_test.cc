#include "tracer/ftrace/private_instance.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/own_thread.h"
#include "tests/tracer/ftrace/tracefs_fixture.h"
#include "tracer/ring/process_identity.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;

class PrivateInstanceTest : public testing::TracefsTest {
 protected:
  std::unique_ptr<PrivateInstance> Make(const PrivateInstance::Settings& settings) {
    Result<std::unique_ptr<PrivateInstance>> made = PrivateInstance::Create(tracefs_, "", settings);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return made.ok() ? std::move(made).value() : nullptr;
  }
  bool Exists(const std::string& name) const {
    return std::filesystem::exists(tracefs_ + "/instances/" + name);
  }
};

TEST_F(PrivateInstanceTest, RecordsWithItsOwnSettingsAndIsRemoved) {
  std::string path;
  {
    auto instance = Make({.buffer_kib = 128, .events = {"sched/sched_switch"}});
    ASSERT_NE(instance, nullptr);
    path = instance->path();
    const ProcessIdentity self = CurrentProcess();
    EXPECT_EQ(instance->name(),
              "jankbox-" + std::to_string(self.pid) + "-" + std::to_string(self.start_ticks));
    EXPECT_EQ(Setting(*instance, "tracing_on"), "1");
    EXPECT_EQ(Setting(*instance, "options/overwrite"), "1");
    EXPECT_EQ(Setting(*instance, "events/sched/sched_switch/enable"), "1");
    EXPECT_NEAR(atoi(Setting(*instance, "buffer_size_kb").c_str()), 128, 8);
    EXPECT_EQ(instance->trace_clock(), "boot");
    EXPECT_THAT(Setting(*instance, "trace_clock"), HasSubstr("[boot]"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(PrivateInstanceTest, AnotherProcessMayRemoveIt) {
  static std::string told;
  PrivateInstance::SetRemover([](const std::string& name) {
    told = name;
    return true;
  });
  auto first = Make({.buffer_kib = 64, .events = {"sched/sched_switch"}});
  ASSERT_NE(first, nullptr);
  const std::string name = first->name();
  first.reset();
  EXPECT_EQ(told, name);
  EXPECT_TRUE(Exists(name));
  EXPECT_EQ(ReadProcFile(tracefs_ + "/instances/" + name + "/tracing_on", 16), "0\n");
  PrivateInstance::SetRemover([](const std::string&) { return false; });  // it cannot be told
  auto second = Make({.buffer_kib = 64, .events = {"sched/sched_switch"}});
  ASSERT_NE(second, nullptr);
  const std::string second_name = second->name();
  EXPECT_NE(second_name, name);
  RemoveDeadInstances(tracefs_);
  EXPECT_TRUE(Exists(second_name));
  second.reset();
  EXPECT_FALSE(Exists(second_name));
  PrivateInstance::SetRemover(nullptr);
  RemoveLeftInstance(tracefs_, "not-of-jankbox");
  RemoveLeftInstance(tracefs_, name + "/../other");
  EXPECT_TRUE(Exists(name));
  RemoveLeftInstance(tracefs_, name);
  EXPECT_FALSE(Exists(name));
}

TEST_F(PrivateInstanceTest, GivenUpNothingIsLeft) {
  const std::atomic<bool> given_up{true};
  Result<std::unique_ptr<PrivateInstance>> made =
      PrivateInstance::Create(tracefs_, "-io", {.given_up = &given_up});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), StatusCode::kUnavailable);
  const ProcessIdentity self = CurrentProcess();
  EXPECT_FALSE(Exists("jankbox-" + std::to_string(self.pid) + "-" +
                      std::to_string(self.start_ticks) + "-io"));
}

TEST_F(PrivateInstanceTest, FollowsThreadsThatComeAndGo) {
  auto instance =
      Make({.buffer_kib = 64, .own_threads_only = true, .events = {"sched/sched_switch"}});
  ASSERT_NE(instance, nullptr);
  const auto followed = [&] { return "\n" + Setting(*instance, "set_event_pid") + "\n"; };
  EXPECT_THAT(followed(), HasSubstr("\n" + std::to_string(getpid()) + "\n"));
  std::string tid;
  std::thread([&] {
    tid = "\n" + std::to_string(CurrentTid()) + "\n";
    EXPECT_THAT(followed(), HasSubstr(tid));
  }).join();
  for (int i = 0; i < 100 && followed().find(tid) != std::string::npos; ++i) usleep(10'000);
  EXPECT_THAT(followed(), ::testing::Not(HasSubstr(tid)));
}

TEST_F(PrivateInstanceTest, UnknownClockIsRefusedAndNothingIsLeft) {
  Result<std::unique_ptr<PrivateInstance>> made =
      PrivateInstance::Create(tracefs_, "", {.trace_clock = "counter"});
  ASSERT_FALSE(made.ok());
  const ProcessIdentity self = CurrentProcess();
  EXPECT_FALSE(
      Exists("jankbox-" + std::to_string(self.pid) + "-" + std::to_string(self.start_ticks)));
}

TEST_F(PrivateInstanceTest, MissingEventIsRefusedAndNothingIsLeft) {
  Result<std::unique_ptr<PrivateInstance>> made =
      PrivateInstance::Create(tracefs_, "", {.events = {"sched/no_such_event"}});
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.status().message(), HasSubstr("sched/no_such_event"));
}

// Of a pid that is not in use now; not removed: of living processes, of other namings.
TEST_F(PrivateInstanceTest, OnlyInstancesOfDeadProcessesAreRemoved) {
  int dead = 4'000'000;
  while (ProcessStartTicks(dead) != 0) --dead;
  const std::string start = std::to_string(ProcessStartTicks(getpid()));
  const std::string self = std::to_string(getpid());
  const std::vector<std::string> gone = {"jankbox-" + std::to_string(dead) + "-77",
                                         "jankbox-" + std::to_string(dead) + "-77-io",
                                         "jankbox-" + self + "-" + start + "9"};  // pid reused
  const std::vector<std::string> kept = {
      "jankbox-" + self + "-" + start + "-io", "jankbox-" + std::to_string(dead) + "-77-mine",
      "jankbox-" + std::to_string(dead), "perf-" + std::to_string(dead) + "-77"};
  for (const auto& names : {gone, kept}) {
    for (const std::string& name : names) {
      ASSERT_EQ(mkdir((tracefs_ + "/instances/" + name).c_str(), 0700), 0) << name;
    }
  }
  RemoveDeadInstances(tracefs_);  // or another process of ours, which may be quicker
  const auto exists = [this](const std::string& name) { return Exists(name); };
  for (int i = 0; i < 2000 && std::any_of(gone.begin(), gone.end(), exists); ++i) usleep(10'000);
  for (const std::string& name : gone) EXPECT_FALSE(Exists(name)) << name;
  for (const std::string& name : kept) {
    EXPECT_TRUE(Exists(name)) << name;
    rmdir((tracefs_ + "/instances/" + name).c_str());
  }
}

}  // namespace
}  // namespace jankbox
