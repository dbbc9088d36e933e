// Real transactions: AOSP's libbinder (Android 10), hooked as on a device, over a driver that this
// test plays behind ioctl(), as no kernel here has one. What it writes is libbinder's own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/android/binder.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/debian_source.h"
#include "tests/tracer/ring/test_ring.h"
#include "tracer/event/binder_call.h"
#include "tracer/interpose/binder_hooks.h"
#include "tracer/interpose/binder_interfaces.h"
#include "tracer/interpose/binder_proxies.h"

namespace jankbox {
namespace {

// What older kernels do: the call is on its way, then, with the next ioctl, its reply.
bool g_reply_apart = false;
bool g_reply_due = false;
bool g_one_way = false;
constexpr char kNoData[8] = {};

template <typename Value>
void Put(const Value& value, binder_write_read* exchange) {
  auto* room = reinterpret_cast<uint8_t*>(exchange->read_buffer) + exchange->read_consumed;
  memcpy(room, &value, sizeof(value));
  exchange->read_consumed += sizeof(value);
}

void Reply(binder_write_read* exchange) {
  binder_transaction_data reply{};
  reply.data.ptr.buffer = reinterpret_cast<binder_uintptr_t>(kNoData);
  Put(uint32_t{BR_REPLY}, exchange);
  Put(reply, exchange);
  g_reply_due = false;
}

void TakeCommands(const binder_write_read& exchange) {
  const auto* at = reinterpret_cast<const uint8_t*>(exchange.write_buffer);
  const auto* const end = at + exchange.write_size;
  while (at < end) {
    uint32_t command;
    memcpy(&command, at, sizeof(command));
    at += sizeof(command);
    if (command == BC_TRANSACTION) {
      binder_transaction_data call;
      memcpy(&call, at, sizeof(call));
      g_one_way = (call.flags & TF_ONE_WAY) != 0;
      g_reply_due = !g_one_way;
    }
    at += _IOC_SIZE(command);
  }
}

int Driver(int /*fd*/, unsigned long request, void* argument) {
  if (static_cast<uint32_t>(request) == BINDER_VERSION) {
    static_cast<binder_version*>(argument)->protocol_version = 8;
    return 0;
  }
  if (static_cast<uint32_t>(request) != BINDER_WRITE_READ) return 0;
  auto* exchange = static_cast<binder_write_read*>(argument);
  const bool due = g_reply_due;
  if (exchange->write_size > 0) {
    TakeCommands(*exchange);
    exchange->write_consumed = exchange->write_size;
  }
  if (exchange->read_size == 0) return 0;
  Put(uint32_t{BR_NOOP}, exchange);
  if (!due && (g_reply_due || g_one_way)) Put(uint32_t{BR_TRANSACTION_COMPLETE}, exchange);
  g_one_way = false;
  if (g_reply_due && (due || !g_reply_apart)) Reply(exchange);
  return 0;
}

// The library, its driver opened; null (and a skip) if its source is not to be had.
void* BinderLibrary(std::string* why_not) {
  static std::string why =
      BuildFromDebianSource(JANKBOX_TEST_BUILD_BINDER, "android-platform-frameworks-native");
  *why_not = why;
  if (!why.empty()) return nullptr;
  static void* library = dlopen(JANKBOX_TEST_BINDER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) ADD_FAILURE() << dlerror();
  return library;
}

class BinderLibraryTest : public RingTest {
 protected:
  void SetUp() override {
    RingTest::SetUp();
    if (getenv("JANKBOX_SOAK") == nullptr) GTEST_SKIP() << "compiles libbinder: set JANKBOX_SOAK";
    std::string why_not;
    void* library = BinderLibrary(&why_not);
    if (library == nullptr) GTEST_SKIP() << why_not;
    AddBinderHooks(&HookSet::Get());
    const Result<HookReport> hooked = HookSet::Get().Refresh();
    ASSERT_TRUE(hooked.ok());
    BinderHooks()[0].original->Set(reinterpret_cast<void*>(Driver));
    call_ = reinterpret_cast<CallFn*>(dlsym(library, "CallObject"));
    auto* open = reinterpret_cast<int (*)(const char*)>(dlsym(library, "OpenDriver"));
    ASSERT_NE(call_, nullptr);
    static const bool opened = OpenOnce(open);
    ASSERT_TRUE(opened);
    OpenRing(4 << 20);
    WatchThisThread();
  }
  void TearDown() override {
    HookSet::Get().Stop();
    if (ring_ != nullptr) RingTest::TearDown();
  }

  // The driver is a file that is long enough to be mapped; its calls never get there.
  bool OpenOnce(int (*open)(const char*)) {
    const std::string path = folder_ + "/driver";
    FILE* file = fopen(path.c_str(), "w");
    const bool made = file != nullptr && ftruncate(fileno(file), 2 << 20) == 0;
    if (file != nullptr) fclose(file);
    return made && open(path.c_str()) != 0;
  }

  // "interface:code" of each wait.
  std::vector<std::string> Calls() {
    std::vector<std::string> calls;
    const RingWindow window = Window();
    for (const WindowThread& thread : window.threads) {
      for (const WindowChunk& chunk : thread.markers) {
        EventCursor cursor(chunk);
        EventRecord record;
        while (cursor.Next(&record)) {
          if (record.kind != EventKind::kWait || !BeginsBinderCall(record.id)) continue;
          uint64_t words[kMaxBinderCallWords];
          std::transform(record.payload.begin(), record.payload.end(), words, PayloadOf);
          BinderCall call;
          EXPECT_TRUE(DecodeBinderCall(record.id, {words, record.payload.size()}, &call));
          EXPECT_EQ(call.handle, 0u);
          calls.push_back(std::string(call.name()) + ":" + std::to_string(call.code));
        }
      }
    }
    return calls;
  }

  using CallFn = int(const char*, uint32_t, uint32_t, uint32_t);
  CallFn* call_ = nullptr;
};

using Lines = std::vector<std::string>;

TEST_F(BinderLibraryTest, TransactionsOfTheRealLibraryAreNamed) {
  g_reply_apart = false;
  EXPECT_EQ(call_("android.os.IServiceManager", 0, 1, 0), 0);
  EXPECT_EQ(call_("android.app.IActivityTaskManager", 0, 21, 0), 0);
  EXPECT_EQ(call_(nullptr, 0, 0x5f504e47, 0), 0);
  EXPECT_EQ(call_("a.IOneWay", 0, 3, TF_ONE_WAY), 0);
  EXPECT_EQ(Calls(), (Lines{"android.os.IServiceManager:1", "android.app.IActivityTaskManager:21",
                            ":1599098439"}));
}

TEST_F(BinderLibraryTest, ReplyApartIsTheSameCall) {
  g_reply_apart = true;
  EXPECT_EQ(call_("android.view.IWindowSession", 0, 4, 0), 0);
  EXPECT_EQ(Calls(), (Lines{"android.view.IWindowSession:4", "android.view.IWindowSession:4"}));
}

}  // namespace
}  // namespace jankbox
