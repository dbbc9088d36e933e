// Both kinds of thread values: what this machine uses, and the pthread key of bionic.
#include "base/thread_value.h"

#include <gtest/gtest.h>

#include <thread>

namespace jankbox {
namespace {

struct Cursor {
  int next;
};

constinit Cursor g_none{1};
JANKBOX_THREAD_VALUE(Cursor*, t_native, &g_none);
ThreadKeyValue<Cursor*> t_keyed(&g_none);
ThreadKeyValue<bool> t_flag(false);
ThreadKeyValue<uint32_t> t_number(0);

// `value` gives the calling thread's.
template <typename Value>
void ExpectOneEach(Value value) {
  Cursor mine{2}, other{3};
  EXPECT_EQ(value(), &g_none);
  value() = &mine;
  const void* my_place = PlaceInThread(value());
  std::thread([&] {
    EXPECT_EQ(value(), &g_none);
    EXPECT_NE(PlaceInThread(value()), my_place);
    value() = &other;
    EXPECT_EQ(value(), &other);
  }).join();
  EXPECT_EQ(value(), &mine);
  EXPECT_EQ(PlaceInThread(value()), my_place);
  value() = &g_none;
}

TEST(ThreadValue, EachThreadHasItsOwn) {
  ExpectOneEach([]() -> auto& { return t_native; });
  ExpectOneEach([]() -> auto& { return t_keyed; });
}

TEST(ThreadValue, KeyedValueReadsLikeAVariable) {
  EXPECT_EQ(t_keyed->next, 1);
  EXPECT_FALSE(t_flag);
  t_flag = true;
  EXPECT_TRUE(t_flag);
  t_flag = false;
  EXPECT_FALSE(t_flag);
  t_number = 0xffffffffu;
  EXPECT_EQ(t_number, 0xffffffffu);
  EXPECT_TRUE(ThreadValuesWork());
  EXPECT_FALSE(ThreadKey::AllTaken());
}

TEST(ThreadValue, WithoutAKeyItStaysAsItBegan) {
  pthread_key_t keys[PTHREAD_KEYS_MAX];
  size_t taken = 0;
  while (taken < PTHREAD_KEYS_MAX && pthread_key_create(&keys[taken], nullptr) == 0) ++taken;
  ThreadKeyValue<Cursor*> late(&g_none);
  Cursor mine{2};
  late = &mine;
  EXPECT_EQ(late, &g_none);
  EXPECT_TRUE(ThreadKey::AllTaken());
  while (taken > 0) pthread_key_delete(keys[--taken]);
}

}  // namespace
}  // namespace jankbox
