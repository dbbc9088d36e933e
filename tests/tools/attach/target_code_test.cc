// What is read of another process's code, tried on this one, about which its own loader knows all.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>
#include <array>

#include "monitors/looper/function_start.h"
#include "tools/attach/target_memory.h"
#include "tools/attach/target_modules.h"
#include "tools/attach/wait_call.h"

namespace jankbox::tools {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

TEST(TargetModules, MappingsOfAFileAreOneAndOthersAreNone) {
  EXPECT_THAT(
      ParseMappings("55d0c0000000-55d0c0002000 r--p 00000000 fe:01 1 /usr/bin/a b\n"
                    "55d0c0002000-55d0c0004000 r-xp 00002000 fe:01 1 /usr/bin/a b\n"
                    "55d0c1000000-55d0c1004000 rw-p 00000000 00:00 0 [heap]\n"
                    "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
                    "7f0000001000-7f0000002000 r--p 00000000 fe:01 2 /usr/lib/old.so (deleted)\n"
                    "7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0 [vdso]\n"
                    "nonsense\n7f"),
      ElementsAre(FieldsAre(0x55d0c0000000, 0x55d0c0004000, true, "/usr/bin/a b"),
                  FieldsAre(0x7f0000001000, 0x7f0000002000, false, "/usr/lib/old.so"),
                  FieldsAre(0x7ffd00000000, 0x7ffd00001000, true, "[vdso]")));
  EXPECT_THAT(ParseMappings(""), IsEmpty());
}

TEST(TargetModules, ModulesAreThoseOfTheLoader) {
  TargetModules modules;
  const ModuleMap found = modules.Load();
  const ModuleMap known = ModuleMap::Load();
  ASSERT_GT(known.modules().size(), 2u);
  for (const Module& module : known.modules()) {
    const Module* same = found.Find(module.start);
    ASSERT_NE(same, nullptr) << module.path;
    EXPECT_EQ(same->load_bias, module.load_bias) << module.path;
    EXPECT_EQ(same->end, module.end) << module.path;
    EXPECT_EQ(same->build_id, module.build_id) << module.path;
    EXPECT_EQ(same->eh_frame_hdr, module.eh_frame_hdr) << module.path;
    EXPECT_EQ(same->eh_frame_hdr_size, module.eh_frame_hdr_size) << module.path;
  }
  EXPECT_FALSE(modules.Stale(found));
  EXPECT_TRUE(modules.Stale(ModuleMap()));
}

TEST(WaitFunctions, AreWhereTheCLibraryHasThem) {
  const std::vector<WaitFunction> found = FindWaitFunctions(ModuleMap::Load());
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);  // a sanitizer has its own, in front
  ASSERT_NE(libc, nullptr);
  for (const char* name : {"poll", "ppoll", "epoll_wait", "epoll_pwait", "select", "pselect"}) {
    const auto function =
        std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.name == name; });
    ASSERT_NE(function, found.end()) << name;
    EXPECT_EQ(function->address, reinterpret_cast<uintptr_t>(dlsym(libc, name))) << name;
  }
  EXPECT_EQ(found.front().name, "poll");
  EXPECT_EQ(found.back().name, "exit");
}

class TargetWaitTest : public testing::Test {
 protected:
  TargetWaitTest() { memory_.SetModules(&modules_); }

  const WaitCall& Read(WaitForm form, const std::array<uint64_t, 6>& arguments) {
    wait_.Read(form, arguments, 0x1234, 0x5678, memory_);
    return wait_.call();
  }
  template <typename T>
  static uint64_t At(const T* object) {
    return reinterpret_cast<uintptr_t>(object);
  }

  const ModuleMap modules_ = ModuleMap::Load();
  TargetMemory memory_;
  TargetWait wait_;
};

TEST_F(TargetWaitTest, PollHasAllItsDescriptors) {
  const pollfd list[] = {{7, POLLIN, 0}, {9, POLLIN, 0}};
  const WaitCall& call = Read(WaitForm::kPoll, {At(list), 2, 50, 0, 0, 0});
  EXPECT_EQ(call.call_site, reinterpret_cast<const void*>(0x1234));
  EXPECT_EQ(call.stack, reinterpret_cast<const void*>(0x5678));
  EXPECT_EQ(call.fd, 7);
  EXPECT_TRUE(call.WaitsFor(9));
  EXPECT_FALSE(call.WaitsFor(8));
  EXPECT_FALSE(call.returns_at_once);
  EXPECT_TRUE(Read(WaitForm::kPoll, {At(list), 2, 0, 0, 0, 0}).returns_at_once);
}

TEST_F(TargetWaitTest, ListThatCannotBeReadIsNone) {
  const WaitCall& call = Read(WaitForm::kPoll, {8, 2, uint64_t{UINT32_MAX}, 0, 0, 0});
  EXPECT_EQ(call.fd, -1);
  EXPECT_EQ(call.fd_count, 0u);
}

TEST_F(TargetWaitTest, TimeoutsBehindPointersAreRead) {
  const timespec none = {}, some = {0, 1};
  EXPECT_TRUE(Read(WaitForm::kPpoll, {0, 0, At(&none), 0, 0, 0}).returns_at_once);
  EXPECT_FALSE(Read(WaitForm::kPpoll, {0, 0, At(&some), 0, 0, 0}).returns_at_once);
  EXPECT_FALSE(Read(WaitForm::kPpoll, {0, 0, 0, 0, 0, 0}).returns_at_once);  // for ever
}

TEST_F(TargetWaitTest, SelectHasItsSets) {
  fd_set read;
  FD_ZERO(&read);
  FD_SET(70, &read);
  const WaitCall& call = Read(WaitForm::kPselect, {71, At(&read), 0, 0, 0, 0});
  EXPECT_EQ(call.family, WaitFamily::kSelect);
  EXPECT_TRUE(call.WaitsFor(70));
  EXPECT_FALSE(call.WaitsFor(69));
}

TEST_F(TargetWaitTest, EpollWaitsForItsOwnDescriptor) {
  const WaitCall& call = Read(WaitForm::kEpoll, {5, 0, 16, uint64_t{UINT32_MAX}, 0, 0});
  EXPECT_EQ(call.family, WaitFamily::kEpoll);
  EXPECT_EQ(call.fd, 5);
  EXPECT_FALSE(call.returns_at_once);
}

TEST_F(TargetWaitTest, StartOfAFunctionIsThatOfTheUnwindTables) {
  for (const char* name : {"poll", "qsort", "printf", "getaddrinfo"}) {
    const char* inside = static_cast<const char*>(dlsym(RTLD_DEFAULT, name)) + 9;
    const void* expected = FunctionStart(inside);
    if (expected == nullptr) GTEST_SKIP() << "this C library does not say where functions begin";
    EXPECT_EQ(memory_.StartOfFunction(inside), expected) << name;
  }
  EXPECT_EQ(memory_.StartOfFunction(reinterpret_cast<const void*>(16)), nullptr);
}

TEST_F(TargetWaitTest, StackIsReadFromTheCopyFirst) {
  std::array<uintptr_t, 4> stack = {1, 2, 3, 4};
  const std::array<uintptr_t, 2> copy = {10, 20};
  memory_.SetStack({At(stack.data()), std::as_bytes(std::span(copy))});
  std::array<uintptr_t, 2> words{};
  ASSERT_TRUE(memory_.ReadStack(stack.data(), words));
  EXPECT_THAT(words, ElementsAre(10, 20));
  ASSERT_TRUE(memory_.ReadStack(&stack[1], words));  // beyond the copy
  EXPECT_THAT(words, ElementsAre(2, 3));
  EXPECT_FALSE(memory_.ReadStack(reinterpret_cast<const void*>(16), words));
}

}  // namespace
}  // namespace jankbox::tools
