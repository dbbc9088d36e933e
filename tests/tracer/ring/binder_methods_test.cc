#include "tracer/ring/binder_methods.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr char kTasks[] = "android.app.IActivityTaskManager";
constexpr char kTasksStub[] = "android.app.IActivityTaskManager$Stub";

TEST(BinderMethods, CodeOfAnInterfaceHasItsMethod) {
  BinderMethods methods;
  EXPECT_TRUE(methods.Add(kTasksStub, "TRANSACTION_getTasks", 21));
  EXPECT_TRUE(methods.Add("android.view.IWindowSession$Stub", "TRANSACTION_relayout", 21));
  EXPECT_TRUE(methods.Add(kTasksStub, "TRANSACTION_startActivity", 1));
  methods.Finish();
  EXPECT_EQ(methods.Find(kTasks, 21), "IActivityTaskManager.getTasks");
  EXPECT_EQ(methods.Find(kTasks, 1), "IActivityTaskManager.startActivity");
  EXPECT_EQ(methods.Find("android.view.IWindowSession", 21), "IWindowSession.relayout");
}

TEST(BinderMethods, UnknownCodeStaysANumber) {
  BinderMethods methods;
  methods.Add(kTasksStub, "TRANSACTION_getTasks", 21);
  methods.Finish();
  EXPECT_EQ(methods.Find(kTasks, 22), "IActivityTaskManager:22");
  EXPECT_EQ(methods.Find("com.example.IOther", 21), "IOther:21");
  EXPECT_EQ(methods.Find("", 7), ":7");
  EXPECT_EQ(methods.Find(kTasks, 0x5f504e47), "IActivityTaskManager:_PNG");
  EXPECT_EQ(methods.Find(kTasks, 0xff000001), "IActivityTaskManager:4278190081");
}

TEST(BinderMethods, OtherConstantsAreRefused) {
  BinderMethods methods;
  EXPECT_FALSE(methods.Add(kTasksStub, "DESCRIPTOR", 1));
  EXPECT_FALSE(methods.Add(kTasksStub, "TRANSACTION_", 1));
  EXPECT_FALSE(methods.Add(kTasks, "TRANSACTION_getTasks", 1));  // no stub
  EXPECT_FALSE(methods.Add("$Stub", "TRANSACTION_getTasks", 1));
  EXPECT_FALSE(methods.Add(kTasksStub, "TRANSACTION_getTasks", 0));
  EXPECT_FALSE(methods.Add(kTasksStub, "TRANSACTION_getTasks", -1));
  EXPECT_FALSE(methods.Add(kTasksStub, "TRANSACTION_getTasks", 0x01000000));
  EXPECT_EQ(methods.size(), 0u);
}

TEST(BinderMethods, TableIsBounded) {
  BinderMethods methods;
  for (size_t i = 1; i <= BinderMethods::kMaxMethods; ++i) {
    ASSERT_TRUE(methods.Add(kTasksStub, "TRANSACTION_m", static_cast<int64_t>(i)));
  }
  EXPECT_FALSE(methods.Add(kTasksStub, "TRANSACTION_m", 1));
}

}  // namespace
}  // namespace jankbox
