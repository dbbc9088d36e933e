#include "sdk/api/plugins.h"

#include <gtest/gtest.h>

#include <string>

#include "jankbox/plugin.h"

namespace jankbox {
namespace {

// Plugins stay for the rest of the process: one test for all.
std::string g_calls;

jankbox_plugin Plugin(const char* name) {
  jankbox_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = name;
  plugin.context = const_cast<char*>(name);
  plugin.init = [](void* self) {
    g_calls += std::string("init ") + static_cast<char*>(self) + ";";
  };
  plugin.start = [](void* self) {
    g_calls += std::string("start ") + static_cast<char*>(self) + ";";
  };
  plugin.stop = [](void* self) {
    g_calls += std::string("stop ") + static_cast<char*>(self) + ";";
  };
  plugin.foreground = [](void* self, int in_front) {
    g_calls += std::string(in_front != 0 ? "front " : "back ") + static_cast<char*>(self) + ";";
  };
  return plugin;
}

TEST(Plugins, PluginThatAnotherAddsAsItStartsIsStartedOnce) {
  Plugins plugins;
  jankbox_plugin first = Plugin("a");
  static Plugins* registry = &plugins;
  first.start = [](void*) {
    g_calls += "start a;";
    const jankbox_plugin second = Plugin("b");
    EXPECT_TRUE(registry->Add(&second).ok());
  };
  EXPECT_TRUE(plugins.Add(&first).ok());
  plugins.Start();
  EXPECT_EQ(g_calls, "init a;start a;init b;start b;");
  g_calls.clear();
  plugins.SetForeground(true);
  plugins.Stop();
  plugins.Stop();
  EXPECT_EQ(g_calls, "front a;front b;stop b;stop a;");
  EXPECT_EQ(plugins.Note(), "Plugins: a, b.");
}

}  // namespace
}  // namespace jankbox
