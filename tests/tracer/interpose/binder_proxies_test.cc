// What the ring says of binder calls of the watched thread. The driver is a script: this machine's
// kernel has none (and if one has, no test may count on what answers). What libbinder itself
// writes is in binder_library_test.cc.
#include "tracer/interpose/binder_proxies.h"

#include <linux/android/binder.h>

#include <functional>
#include <string>
#include <thread>

#include "tests/tracer/interpose/interpose_test.h"
#include "tracer/interpose/binder_interfaces.h"

namespace jankbox {
namespace {

using Bytes = std::vector<uint8_t>;
using IoctlFn = int(int, unsigned long, void*);

template <typename Value>
void Put(const Value& value, Bytes* bytes) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  bytes->insert(bytes->end(), first, first + sizeof(value));
}

// What the driver does with the next ioctl; it consumes all commands if it succeeds.
struct Step {
  Bytes returns;
  int error = 0;
  bool consumes = true;
};
std::vector<Step> g_script;
size_t g_step = 0;

int Driver(int /*fd*/, unsigned long request, void* argument) {
  if (static_cast<uint32_t>(request) != BINDER_WRITE_READ) return 0;
  auto* exchange = static_cast<binder_write_read*>(argument);
  const Step step = g_step < g_script.size() ? g_script[g_step] : Step();
  ++g_step;
  if (step.consumes) exchange->write_consumed = exchange->write_size;
  auto* room = reinterpret_cast<uint8_t*>(exchange->read_buffer);
  std::copy(step.returns.begin(), step.returns.end(), room + exchange->read_consumed);
  exchange->read_consumed += step.returns.size();
  if (step.error == 0) return 0;
  errno = step.error;
  return -1;
}

Bytes Returns(std::initializer_list<uint32_t> commands) {
  Bytes bytes;
  for (const uint32_t command : commands) {
    Put(command, &bytes);
    bytes.resize(bytes.size() + _IOC_SIZE(command));
  }
  return bytes;
}
const Bytes kReply = Returns({BR_NOOP, BR_TRANSACTION_COMPLETE, BR_REPLY});
const Bytes kSent = Returns({BR_NOOP, BR_TRANSACTION_COMPLETE});
const Bytes kServe = Returns({BR_NOOP, BR_TRANSACTION});

class BinderProxiesTest : public SourceTest {
 protected:
  void SetUp() override {
    SourceTest::SetUp();
    BinderHooks()[0].original->Set(reinterpret_cast<void*>(Driver));
    ioctl_ = reinterpret_cast<IoctlFn*>(BinderHooks()[0].proxy);
    g_step = 0;
  }

  // libbinder's talkWithDriver() with `commands`.
  Outcome Talk(const Bytes& commands, size_t room = 256) {
    alignas(8) uint8_t returns[256];
    binder_write_read exchange = {
        .write_size = commands.size(),
        .write_buffer = reinterpret_cast<binder_uintptr_t>(commands.data()),
        .read_size = room,
        .read_buffer = reinterpret_cast<binder_uintptr_t>(returns)};
    return RunCall([&] { return ioctl_(3, BINDER_WRITE_READ, &exchange); });
  }
  Bytes Call(uint32_t code, const std::string& name, uint32_t flags = TF_ACCEPT_FDS) {
    Bytes& data = data_.emplace_back(std::make_unique<Bytes>()).operator*();
    for (const int32_t number : {INT32_MIN, -1, 0x53595354}) Put(number, &data);
    Put(static_cast<int32_t>(name.size()), &data);
    for (const char c : name + '\0') Put(static_cast<uint16_t>(c), &data);
    binder_transaction_data call{};
    call.target.handle = 4;
    call.code = code;
    call.flags = flags;
    call.data_size = data.size();
    call.data.ptr.buffer = reinterpret_cast<binder_uintptr_t>(data.data());
    Bytes commands;
    Put(uint32_t{BC_TRANSACTION}, &commands);
    Put(call, &commands);
    return commands;
  }
  static Bytes Reply() {
    Bytes commands;
    Put(uint32_t{BC_REPLY}, &commands);
    Put(binder_transaction_data{}, &commands);
    return commands;
  }

  // "name:code error" of each wait, in order of their begins.
  std::vector<std::string> Calls() {
    std::vector<std::string> calls;
    const RingWindow window = Window();
    for (const RecordedWait& wait : Waits(window, CurrentTid())) {
      EXPECT_EQ(wait.end.what, WaitClass::kBinder);
      calls.push_back(" " + std::to_string(wait.end.result));
    }
    size_t at = 0;
    EachMarker(window, CurrentTid(), [&](const EventRecord& record) {
      if (record.kind != EventKind::kWait || !BeginsBinderCall(record.id)) return;
      BinderCall call;
      ASSERT_TRUE(DecodeBinderCall(record.id, Words(record), &call));
      calls[at] = std::string(call.name()) + ":" + std::to_string(call.code) + calls[at];
      ++at;
    });
    return calls;
  }

  IoctlFn* ioctl_ = nullptr;
  std::vector<std::unique_ptr<Bytes>> data_;
};

using Lines = std::vector<std::string>;

TEST_F(BinderProxiesTest, CallIsOneWait) {
  g_script = {{kReply}, {kReply}};
  EXPECT_EQ(Talk(Call(1, "android.os.IServiceManager")), (Outcome{0, kUntouchedErrno}));
  EXPECT_EQ(Talk(Call(21, "")), (Outcome{0, kUntouchedErrno}));
  EXPECT_EQ(Calls(), (Lines{"android.os.IServiceManager:1 0", ":21 0"}));
  EXPECT_EQ(g_step, 2u);
}

// Kernels before 4.14 say that the call was sent, and bring the reply with the next ioctl.
TEST_F(BinderProxiesTest, ReplyOfALaterIoctlIsOfTheSameCall) {
  g_script = {{kSent}, {kReply}, {}};
  Talk(Call(7, "a.b.IName"));
  Talk({});
  Talk({});  // waits for work
  EXPECT_EQ(Calls(), (Lines{"a.b.IName:7 0", "a.b.IName:7 0"}));
}

TEST_F(BinderProxiesTest, OneWayAndWorkAreNoWaits) {
  g_script = {{kSent}, {kServe}, {}, {}};
  Talk(Call(1, "a.IOneWay", TF_ONE_WAY));
  Talk({});
  Talk(Reply());
  Talk(Call(2, "a.IFlushed"), 0);  // flushCommands(): nothing is waited for
  EXPECT_EQ(Calls(), Lines{});
}

TEST_F(BinderProxiesTest, CallServedWhileWaitingIsWaitedFromWithin) {
  g_script = {{kSent}, {kServe}, {kReply}, {kSent}, {kReply}, {kReply}, {}};
  Talk(Call(1, "a.IOuter"));
  Talk({});
  Talk(Call(2, "a.IInner"));  // from the call that is served
  Talk(Call(3, "a.IInner"));
  Talk({});
  Talk(Reply());
  Talk({});
  EXPECT_EQ(Calls(), (Lines{"a.IOuter:1 0", "a.IOuter:1 0", "a.IInner:2 0", "a.IInner:3 0",
                            "a.IInner:3 0", "a.IOuter:1 0"}));
}

TEST_F(BinderProxiesTest, InterruptedCallGoesOn) {
  g_script = {{{}, EINTR, false}, {{}, EINTR, true}, {kReply}, {}};
  const Bytes call = Call(1, "a.IName");
  EXPECT_EQ(Talk(call), (Outcome{-1, EINTR}));
  EXPECT_EQ(Talk(call), (Outcome{-1, EINTR}));
  Talk({});
  Talk({});
  const std::string failed = "a.IName:1 " + std::to_string(-EINTR);
  EXPECT_EQ(Calls(), (Lines{failed, failed, "a.IName:1 0"}));
}

// The reply came while nothing was recorded: the next call begins again.
TEST_F(BinderProxiesTest, CallThatEndedUnseenIsForgotten) {
  g_script = {{kSent}, {kReply}, {}};
  Talk(Call(1, "a.ILost"));
  Talk(Call(2, "a.INext"));
  Talk({});
  EXPECT_EQ(Calls(), (Lines{"a.ILost:1 0", "a.INext:2 0"}));
}

TEST_F(BinderProxiesTest, OtherThreadsAndOtherRequestsPassThrough) {
  g_script.clear();
  int number = 5;
  EXPECT_EQ(ioctl_(3, BINDER_SET_MAX_THREADS, &number), 0);
  EXPECT_EQ(ioctl_(3, 0, nullptr), 0);
  std::thread([this] { Talk(Call(1, "a.IUnwatched")); }).join();
  EXPECT_EQ(g_step, 1u);
  EXPECT_EQ(Calls(), Lines{});
  Recorder::Close();
  Talk(Call(1, "a.IName"));
  EXPECT_EQ(g_step, 2u);
}

TEST_F(BinderProxiesTest, InterfacesAreReportedOnce) {
  while (!BinderInterfaces::Take().empty()) {
  }
  for (int i = 0; i < 3; ++i) {
    g_script = {{kReply}, {kReply}};
    g_step = 0;
    Talk(Call(1, "told.once.IFirst"));
    Talk(Call(2, "told.once.ISecond"));
  }
  Lines told;
  for (std::string_view name; !(name = BinderInterfaces::Take()).empty();) told.emplace_back(name);
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, (Lines{"told.once.IFirst", "told.once.ISecond"}));
}

// Last: the table stays full.
TEST_F(BinderProxiesTest, TableOfInterfacesIsBounded) {
  const uint64_t before = BinderInterfaces::dropped();
  for (size_t i = 0; i < 2 * BinderInterfaces::kSlots; ++i) {
    BinderInterfaces::Note("a.IName" + std::to_string(i));
  }
  EXPECT_GE(BinderInterfaces::dropped() - before, BinderInterfaces::kSlots);
  size_t told = 0;
  while (!BinderInterfaces::Take().empty()) ++told;
  EXPECT_LE(told, BinderInterfaces::kSlots);
  EXPECT_GT(told, BinderInterfaces::kSlots / 2);
}

}  // namespace
}  // namespace jankbox
