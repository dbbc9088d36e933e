#include "monitors/looper/loop_modules.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace jankbox {
namespace {

TEST(ClassifyModule, KnowsLoopsRepliesAndTheRest) {
  EXPECT_EQ(ClassifyModule("/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0.7400.6").kind,
            LoopModuleKind::kLoop);
  EXPECT_STREQ(ClassifyModule("/usr/lib/x86_64-linux-gnu/android/libutils.so.0").loop_name,
               "android::Looper");
  EXPECT_EQ(ClassifyModule("libxcb.so.1").kind, LoopModuleKind::kDisplay);
  EXPECT_TRUE(ClassifyModule("libQt5WaylandClient.so.5").IsOfDisplay());
  EXPECT_TRUE(ClassifyModule("libwayland-client.so.0").IsOfDisplay());
  EXPECT_FALSE(ClassifyModule("libQt5Core.so.5").IsOfDisplay());
  EXPECT_EQ(ClassifyModule("/usr/lib/libcurl-gnutls.so.4").kind, LoopModuleKind::kReplyOnly);
  EXPECT_EQ(ClassifyModule("/usr/bin/node").kind, LoopModuleKind::kOther);
  EXPECT_STREQ(ClassifyModule("/usr/bin/node").loop_name, "libuv");
  EXPECT_STREQ(ClassifyModule("/usr/bin/nodejs-tool").loop_name, "");
  EXPECT_EQ(ClassifyModule("/opt/app/bin/app").kind, LoopModuleKind::kOther);
  EXPECT_EQ(ClassifyModule("").kind, LoopModuleKind::kOther);
}

TEST(LoopModules, FindsTheModuleOfAnAddress) {
  LoopModules::Refresh();
  // libc is known (its waits are for replies); this test is not.
  EXPECT_EQ(LoopModules::Find(reinterpret_cast<const void*>(&::getppid)).kind,
            LoopModuleKind::kReplyOnly);
  EXPECT_EQ(LoopModules::Find(reinterpret_cast<const void*>(&ClassifyModule)).kind,
            LoopModuleKind::kOther);
  EXPECT_EQ(LoopModules::Find(nullptr).kind, LoopModuleKind::kOther);
}

TEST(LoopModules, LibrariesThatRunNoLoopDoNotUseUpTheTables) {
  LoopModules::Refresh();
  for (int i = 0; i < 2 * LoopModules::kMaxTables; ++i) {
    void* plugin = dlopen("libthread_db.so.1", RTLD_LAZY);  // loaded by no other thread
    ASSERT_NE(plugin, nullptr);
    LoopModules::Refresh();
    dlclose(plugin);
    LoopModules::Refresh();
  }
  void* loop = dlopen("libglib-2.0.so.0", RTLD_NOW);
  ASSERT_NE(loop, nullptr);
  LoopModules::Refresh();
  EXPECT_STREQ(LoopModules::Find(dlsym(loop, "g_main_loop_run")).loop_name, "glib");
}

}  // namespace
}  // namespace jankbox
