// The life of plugins: what is called, in which order, under which conditions.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "jankbox/jankbox.h"
#include "sdk/api/plugins.h"
#include "tests/fakes/latch.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string>& Calls() {
  static auto* calls = new std::vector<std::string>();
  return *calls;
}

void Say(void* context, const char* what) {
  Calls().push_back(std::string(static_cast<const char*>(context)) + " " + what);
}
void Init(void* context) { Say(context, "init"); }
void Start(void* context) { Say(context, "start"); }
void Stop(void* context) { Say(context, "stop"); }
void Foreground(void* context, int in_front) { Say(context, in_front ? "front" : "back"); }

jankbox_plugin Plugin(const char* name) {
  jankbox_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = name;
  plugin.context = const_cast<char*>(name);
  plugin.init = Init;
  plugin.start = Start;
  plugin.stop = Stop;
  plugin.foreground = Foreground;
  return plugin;
}

// The registry lives as long as the process; each test has one of its own.
class PluginLifecycleTest : public testing::Test {
 protected:
  PluginLifecycleTest() { Calls().clear(); }
  StatusCode Add(const jankbox_plugin& plugin) { return plugins_.Add(&plugin).code(); }
  Plugins plugins_;
};

TEST_F(PluginLifecycleTest, IsInitialisedAsItIsAddedAndStartedWithTheRecording) {
  EXPECT_EQ(Add(Plugin("a")), StatusCode::kOk);
  EXPECT_THAT(Calls(), ElementsAre("a init"));
  plugins_.Start();
  EXPECT_THAT(Calls(), ElementsAre("a init", "a start"));
}

TEST_F(PluginLifecycleTest, OneThatComesLateIsStartedAtOnce) {
  plugins_.Start();
  Add(Plugin("late"));
  EXPECT_THAT(Calls(), ElementsAre("late init", "late start"));
}

TEST_F(PluginLifecycleTest, OneThatComesAfterTheStopWaitsForTheNextStart) {
  plugins_.Start();
  plugins_.Stop();
  Add(Plugin("later"));
  EXPECT_THAT(Calls(), ElementsAre("later init"));
  plugins_.Start();
  EXPECT_THAT(Calls(), ElementsAre("later init", "later start"));
}

TEST_F(PluginLifecycleTest, AreStartedInOrderAndStoppedInReverse) {
  for (const char* name : {"a", "b", "c"}) Add(Plugin(name));
  Calls().clear();
  plugins_.Start();
  plugins_.Stop();
  EXPECT_THAT(Calls(), ElementsAre("a start", "b start", "c start", "c stop", "b stop", "a stop"));
}

TEST_F(PluginLifecycleTest, AreStartedAgainWithTheNextRecordingButNotInitialised) {
  Add(Plugin("a"));
  Calls().clear();
  plugins_.Start();
  plugins_.Stop();
  plugins_.Start();
  EXPECT_THAT(Calls(), ElementsAre("a start", "a stop", "a start"));
}

TEST_F(PluginLifecycleTest, HearWhenTheAppComesToTheFrontAlsoWhileNothingIsRecorded) {
  Add(Plugin("a"));
  Calls().clear();
  plugins_.SetForeground(true);
  plugins_.SetForeground(false);
  EXPECT_THAT(Calls(), ElementsAre("a front", "a back"));
}

TEST_F(PluginLifecycleTest, FunctionsThatAreNotGivenAreNotCalled) {
  jankbox_plugin empty = {};
  empty.size = sizeof(empty);
  empty.name = "empty";
  EXPECT_EQ(Add(empty), StatusCode::kOk);
  plugins_.Start();
  plugins_.SetForeground(true);
  plugins_.Stop();
  EXPECT_THAT(Calls(), IsEmpty());
}

TEST_F(PluginLifecycleTest, OneWithoutANameOrOfAnotherSizeIsRefusedAndNeverCalled) {
  jankbox_plugin nameless = Plugin("a");
  nameless.name = nullptr;
  EXPECT_EQ(Add(nameless), StatusCode::kInvalidArgument);
  nameless.name = "";
  EXPECT_EQ(Add(nameless), StatusCode::kInvalidArgument);
  jankbox_plugin newer = Plugin("a");
  newer.size += 8;
  EXPECT_EQ(Add(newer), StatusCode::kInvalidArgument);
  plugins_.Start();
  EXPECT_THAT(Calls(), IsEmpty());
  EXPECT_EQ(plugins_.Note(), "");
}

TEST_F(PluginLifecycleTest, AtMostSixteen) {
  for (size_t i = 0; i < Plugins::kMaxPlugins; ++i) {
    EXPECT_EQ(Add(Plugin("a")), StatusCode::kOk) << i;
  }
  Calls().clear();
  EXPECT_EQ(Add(Plugin("one too many")), StatusCode::kNoSpace);
  EXPECT_THAT(Calls(), IsEmpty()) << "one that is not taken is not initialised";
}

TEST_F(PluginLifecycleTest, NoteNamesThemInOrder) {
  EXPECT_EQ(plugins_.Note(), "");
  Add(Plugin("battery"));
  EXPECT_EQ(plugins_.Note(), "Plugins: battery.");
  Add(Plugin("io"));
  EXPECT_EQ(plugins_.Note(), "Plugins: battery, io.");
}

TEST_F(PluginLifecycleTest, NameIsCopied) {
  char name[] = "first";
  jankbox_plugin plugin = Plugin("context");
  plugin.name = name;
  Add(plugin);
  name[0] = 'X';
  EXPECT_EQ(plugins_.Note(), "Plugins: first.");
}

// A plugin whose function adds another plugin to the registry.
struct Adder {
  Plugins* plugins;
  static void Add(void* context) {
    Calls().emplace_back("adder");
    const jankbox_plugin added = Plugin("added");
    EXPECT_TRUE(static_cast<Adder*>(context)->plugins->Add(&added).ok());
  }
};

TEST_F(PluginLifecycleTest, PluginMayAddAnotherOneInItsInit) {
  Adder adder{&plugins_};
  jankbox_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = "adder";
  plugin.context = &adder;
  plugin.init = Adder::Add;
  plugins_.Start();
  EXPECT_EQ(Add(plugin), StatusCode::kOk);
  EXPECT_THAT(Calls(), ElementsAre("adder", "added init", "added start"));
  EXPECT_EQ(plugins_.Note(), "Plugins: adder, added.");
}

TEST_F(PluginLifecycleTest, PluginThatIsAddedDuringTheStartIsStartedOnce) {
  Adder adder{&plugins_};
  jankbox_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = "adder";
  plugin.context = &adder;
  plugin.start = Adder::Add;
  Add(plugin);
  plugins_.Start();
  EXPECT_THAT(Calls(), ElementsAre("adder", "added init", "added start"));
}

// Calls of one plugin never overlap, whoever makes them.
struct Overlap {
  std::atomic<int> inside{0};
  std::atomic<int> calls{0};
  std::atomic<bool> overlapped{false};
  static void Call(void* context) {
    auto* overlap = static_cast<Overlap*>(context);
    if (overlap->inside.fetch_add(1) != 0) overlap->overlapped = true;
    sched_yield();
    overlap->inside.fetch_sub(1);
    overlap->calls.fetch_add(1);
  }
  static void Foreground(void* context, int) { Call(context); }
};

TEST_F(PluginLifecycleTest, CallsOfOnePluginNeverOverlap) {
  Overlap overlap;
  jankbox_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = "overlap";
  plugin.context = &overlap;
  plugin.start = Overlap::Call;
  plugin.stop = Overlap::Call;
  plugin.foreground = Overlap::Foreground;
  Add(plugin);
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) plugins_.SetForeground(i % 2 == 0);
  });
  for (int i = 0; i < 100; ++i) {
    plugins_.Start();
    plugins_.Stop();
  }
  other.join();
  EXPECT_FALSE(overlap.overlapped);
  EXPECT_EQ(overlap.calls, 400);
}

}  // namespace
}  // namespace jankbox
