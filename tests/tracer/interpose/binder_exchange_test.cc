// Buffers as libbinder and libhwbinder write them, of all versions, and what is not one.
#include "tracer/interpose/binder_exchange.h"

#include <gtest/gtest.h>
#include <linux/android/binder.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace jankbox {
namespace {

using Bytes = std::vector<uint8_t>;

template <typename Value>
void Put(const Value& value, Bytes* bytes) {
  const auto* first = reinterpret_cast<const uint8_t*>(&value);
  bytes->insert(bytes->end(), first, first + sizeof(value));
}

// Parcel::writeString16().
void PutString16(const std::string& text, Bytes* bytes) {
  Put(static_cast<int32_t>(text.size()), bytes);
  for (const char c : text + '\0') Put(static_cast<uint16_t>(c), bytes);
  bytes->resize((bytes->size() + 3) & ~size_t{3});
}

constexpr char kName[] = "android.app.IActivityTaskManager";
constexpr int32_t kUnsetWorkSource = -1;
constexpr int32_t kSystemHeader = 'S' << 24 | 'Y' << 16 | 'S' << 8 | 'T';
constexpr int32_t kVendorHeader = 'V' << 24 | 'N' << 16 | 'D' << 8 | 'R';

// Data that begins with `numbers` and the name, and has arguments after it.
Bytes DataOf(const std::vector<int32_t>& numbers, const std::string& name) {
  Bytes data;
  for (const int32_t number : numbers) Put(number, &data);
  PutString16(name, &data);
  PutString16("an argument", &data);
  return data;
}

// After exactly `data`, so that AddressSanitizer sees a byte too many.
std::string InterfaceOf(const Bytes& data) {
  const auto exact = std::make_unique<uint8_t[]>(data.size());
  std::copy(data.begin(), data.end(), exact.get());
  BinderCall call;
  ReadInterface({exact.get(), data.size()}, &call);
  return std::string(call.name());
}

TEST(BinderInterface, EveryVersionOfTheTokenIsRead) {
  EXPECT_EQ(InterfaceOf(DataOf({0x100}, kName)), kName);                        // Android 5
  EXPECT_EQ(InterfaceOf(DataOf({0x40 << 16}, kName)), kName);                   // … to 9
  EXPECT_EQ(InterfaceOf(DataOf({INT32_MIN, kUnsetWorkSource}, kName)), kName);  // 10
  EXPECT_EQ(InterfaceOf(DataOf({INT32_MIN, 10123}, kName)), kName);
  for (const int32_t header : {kSystemHeader, kVendorHeader}) {  // from 11 on
    EXPECT_EQ(InterfaceOf(DataOf({INT32_MIN, kUnsetWorkSource, header}, kName)), kName);
    EXPECT_EQ(InterfaceOf(DataOf({INT32_MIN | 3, 1000, header}, kName)), kName);
  }
  EXPECT_EQ(InterfaceOf(DataOf({INT32_MIN, -1, kSystemHeader}, "I")), "I");
}

TEST(BinderInterface, HardwareTokenIsACString) {
  const std::string name = "android.hardware.graphics.mapper@2.1::IMapper";
  Bytes data(name.begin(), name.end());
  data.resize((data.size() + 4) & ~size_t{3});
  Put(int32_t{7}, &data);
  EXPECT_EQ(InterfaceOf(data), name);
}

TEST(BinderInterface, OtherDataHasNone) {
  EXPECT_EQ(InterfaceOf({}), "");
  EXPECT_EQ(InterfaceOf(Bytes(3, 0)), "");
  EXPECT_EQ(InterfaceOf(Bytes(64, 0)), "");
  EXPECT_EQ(InterfaceOf(Bytes(64, 0xff)), "");
  EXPECT_EQ(InterfaceOf(DataOf({INT32_MIN, -1, kSystemHeader}, "")), "");
  EXPECT_EQ(InterfaceOf(DataOf({INT32_MIN}, "no\nname")), "");
  const std::string text = "plain text, no interface";
  EXPECT_EQ(InterfaceOf(Bytes(text.begin(), text.end())), "");
  // A length that is a lie, at every place where one may stand.
  for (const uint32_t units : {1u, 30u, 33u, 255u, 256u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    Bytes data = DataOf({INT32_MIN, -1, kSystemHeader}, kName);
    memcpy(data.data() + 12, &units, sizeof(units));
    EXPECT_EQ(InterfaceOf(data), "") << units;
  }
}

TEST(BinderInterface, LongNameIsCut) {
  const std::string longest(255, 'x'), longer(256, 'x');
  EXPECT_EQ(InterfaceOf(DataOf({1, 2, 3}, longest)), std::string(kMaxInterfaceBytes, 'x'));
  EXPECT_EQ(InterfaceOf(DataOf({1, 2, 3}, longer)), "");
}

TEST(BinderInterface, NothingAfterTheDataIsRead) {
  const Bytes whole = DataOf({INT32_MIN, -1, kSystemHeader}, kName);
  const size_t token = 16 + 2 * sizeof(kName);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(InterfaceOf(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))),
              size < token ? "" : kName);
  }
}

// One exchange with the driver, in memory of exactly its size.
class Exchange {
 public:
  template <typename Payload>
  void Command(uint32_t command, const Payload& payload) {
    Put(command, &commands_);
    Put(payload, &commands_);
  }
  void Call(uint32_t command, uint32_t code, uint32_t flags, const Bytes& data) {
    binder_transaction_data_sg call{};
    call.transaction_data.target.handle = 5;
    call.transaction_data.code = code;
    call.transaction_data.flags = flags;
    call.transaction_data.data_size = data.size();
    call.transaction_data.data.ptr.buffer = reinterpret_cast<binder_uintptr_t>(data.data());
    if (command == BC_TRANSACTION_SG) return Command(command, call);
    Command(command, call.transaction_data);
  }
  Bytes* commands() { return &commands_; }

  BinderCommands Read(uint64_t consumed = 0) {
    exact_ = std::make_unique<uint8_t[]>(commands_.size());
    std::copy(commands_.begin(), commands_.end(), exact_.get());
    const binder_write_read exchange = {
        .write_size = commands_.size(),
        .write_consumed = consumed,
        .write_buffer = reinterpret_cast<binder_uintptr_t>(exact_.get())};
    return ReadBinderCommands(ReadBinderExchange(BinderWordBytes(BINDER_WRITE_READ), &exchange));
  }

 private:
  Bytes commands_;
  std::unique_ptr<uint8_t[]> exact_;
};

TEST(BinderCommands, TransactionAfterOtherCommandsIsFound) {
  const Bytes data = DataOf({INT32_MIN, -1, kSystemHeader}, kName);
  for (const uint32_t command : {uint32_t{BC_TRANSACTION}, uint32_t{BC_TRANSACTION_SG}}) {
    Exchange exchange;
    exchange.Command(BC_FREE_BUFFER, uint64_t{0x1234});
    exchange.Command(BC_INCREFS, uint32_t{5});
    Put(uint32_t{BC_ENTER_LOOPER}, exchange.commands());
    exchange.Call(command, 21, TF_ACCEPT_FDS, data);
    const size_t end = exchange.commands()->size();
    exchange.Command(BC_RELEASE, uint32_t{5});
    const BinderCommands found = exchange.Read();
    EXPECT_TRUE(found.calls);
    EXPECT_FALSE(found.replies);
    EXPECT_EQ(found.call_end, end);
    EXPECT_EQ(found.call.code, 21u);
    EXPECT_EQ(found.call.handle, 5u);
    EXPECT_EQ(found.call.name(), kName);
    EXPECT_FALSE(exchange.Read(end).calls);  // the driver has it already
  }
}

TEST(BinderCommands, OneWayIsNoCall) {
  const Bytes data = DataOf({1, 2, 3}, kName);
  Exchange exchange;
  exchange.Call(BC_TRANSACTION, 3, TF_ONE_WAY | TF_ACCEPT_FDS, data);
  EXPECT_FALSE(exchange.Read().calls);
  exchange.Call(BC_REPLY, 0, 0, data);
  EXPECT_TRUE(exchange.Read().replies);
  EXPECT_FALSE(exchange.Read().calls);
}

TEST(BinderCommands, TransactionWithoutANameHasItsCode) {
  Exchange exchange;
  exchange.Call(BC_TRANSACTION, 0x5f504e47, 0, {});  // IBinder.PING_TRANSACTION
  EXPECT_TRUE(exchange.Read().calls);
  EXPECT_EQ(exchange.Read().call.code, 0x5f504e47u);
  EXPECT_EQ(exchange.Read().call.name(), "");
}

TEST(BinderCommands, CutAnywhereNothingAfterIsRead) {
  const Bytes data = DataOf({INT32_MIN, -1, kSystemHeader}, kName);
  Exchange whole;
  whole.Command(BC_ACQUIRE, uint32_t{1});
  whole.Call(BC_TRANSACTION_SG, 1, 0, data);
  const Bytes commands = *whole.commands();
  for (size_t size = 0; size < commands.size(); ++size) {
    Exchange cut;
    cut.commands()->assign(commands.begin(), commands.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(cut.Read().calls) << size;
    EXPECT_FALSE(whole.Read(commands.size() + size).calls);
    EXPECT_FALSE(whole.Read(UINT64_MAX - size).calls);
  }
}

// Commands of random bytes, and of commands with a byte changed: whatever they say, nothing but the
// buffer is read. Data pointers stay whole: an address that is none the driver refuses.
TEST(BinderCommands, RandomCommandsStayInTheBuffer) {
  std::mt19937 random(7);
  const Bytes data = DataOf({INT32_MIN, -1, kSystemHeader}, kName);
  for (int round = 0; round < 20'000; ++round) {
    Exchange exchange;
    exchange.Command(BC_ACQUIRE, static_cast<uint32_t>(random()));
    exchange.Call(BC_TRANSACTION, 1, 0, data);
    Bytes& commands = *exchange.commands();
    const size_t pointer = 8 + 4 + 48, data_bytes = 8 + 4 + 32;
    const size_t at = random() % commands.size();
    const bool in_pointer = at >= pointer && at < pointer + 8;
    const bool in_length = at >= data_bytes && at < data_bytes + 8;
    if (!in_pointer && !in_length) commands[at] = static_cast<uint8_t>(random());
    if (round % 2 == 0) commands.resize(random() % commands.size());
    if (round % 3 == 0) commands.insert(commands.begin(), 1 + random() % 3, 0);  // odd places
    exchange.Read();
  }
}

TEST(BinderReturns, RepliesOfEveryKindAreCounted) {
  Bytes returns;
  const auto read = [&returns](uint64_t from = 0) {
    const binder_write_read exchange = {
        .read_size = returns.size() + 100,
        .read_consumed = returns.size(),
        .read_buffer = reinterpret_cast<binder_uintptr_t>(returns.data())};
    return ReadBinderReturns(ReadBinderExchange(8, &exchange), from);
  };
  EXPECT_EQ(read().replies, 0u);
  Put(uint32_t{BR_NOOP}, &returns);
  Put(uint32_t{BR_TRANSACTION_COMPLETE}, &returns);
  EXPECT_EQ(read().replies, 0u);
  Put(uint32_t{BR_TRANSACTION}, &returns);
  Put(binder_transaction_data{}, &returns);
  EXPECT_TRUE(read().serves);
  EXPECT_EQ(read().replies, 0u);
  const size_t before = returns.size();
  Put(uint32_t{BR_REPLY}, &returns);
  Put(binder_transaction_data{}, &returns);
  EXPECT_EQ(read().replies, 1u);
  EXPECT_FALSE(read(before).serves);
  for (const uint32_t ends : {BR_DEAD_REPLY, BR_FAILED_REPLY, BR_FROZEN_REPLY}) {
    returns.clear();
    Put(ends, &returns);
    EXPECT_EQ(read().replies, 1u) << ends;
  }
}

TEST(BinderExchange, RequestIsIdentifiedByItsNumber) {
  EXPECT_EQ(BinderWordBytes(BINDER_WRITE_READ), 8u);
  EXPECT_EQ(BinderWordBytes(static_cast<unsigned long>(static_cast<int>(BINDER_WRITE_READ))), 8u);
  EXPECT_EQ(BinderWordBytes(0xc0186201), 4u);
  EXPECT_EQ(BinderWordBytes(BINDER_VERSION), 0u);
  EXPECT_EQ(BinderWordBytes(0), 0u);
  EXPECT_FALSE(ReadBinderCommands(ReadBinderExchange(8, nullptr)).calls);
}

// A device of 32 bits with binder's old interface: the same by hand, as no header has it any more.
TEST(BinderExchange, WordsOf32BitsAreRead) {
  Bytes commands;
  Put(uint32_t{0x40046300 | 4}, &commands);  // BC_INCREFS
  Put(uint32_t{1}, &commands);
  Put(uint32_t{0x40286300}, &commands);  // BC_TRANSACTION of 40 bytes
  for (const uint32_t word : {9u, 0u, 4u, 0x10u, 0u, 0u, 0u, 0u, 0u, 0u}) Put(word, &commands);
  BinderExchange exchange{
      .word_bytes = 4, .commands = commands.data(), .command_bytes = commands.size()};
  const BinderCommands found = ReadBinderCommands(exchange);
  EXPECT_TRUE(found.calls);
  EXPECT_EQ(found.call.handle, 9u);
  EXPECT_EQ(found.call.code, 4u);
  EXPECT_EQ(found.call_end, commands.size());
  const uint32_t words[6] = {56, 8, 0, 256, 16, 0};
  exchange = ReadBinderExchange(4, words);
  EXPECT_EQ(exchange.commands, nullptr);
  EXPECT_EQ(exchange.command_bytes, 0u);  // no buffer
  EXPECT_EQ(exchange.commands_consumed, 8u);
}

TEST(BinderCall, PayloadHasTheCall) {
  for (const std::string& name : {std::string(), std::string("I"), std::string("exactly"),
                                  std::string(kName), std::string(kMaxInterfaceBytes, 'n')}) {
    BinderCall call{.code = 0xffffffff, .handle = 77};
    call.interface_bytes = static_cast<uint32_t>(name.copy(call.interface, kMaxInterfaceBytes));
    const EncodedBinderCall encoded = EncodeBinderCall(call);
    EXPECT_TRUE(BeginsBinderCall(encoded.id));
    EXPECT_EQ(encoded.id & kAsidePayloadMask, encoded.words);
    BinderCall read;
    ASSERT_TRUE(DecodeBinderCall(encoded.id, {encoded.payload, encoded.words}, &read));
    EXPECT_EQ(read.name(), name);
    EXPECT_EQ(read.code, call.code);
    EXPECT_EQ(read.handle, 77u);
    EXPECT_FALSE(DecodeBinderCall(encoded.id, {encoded.payload, encoded.words - 1}, &read));
    EXPECT_FALSE(DecodeBinderCall(encoded.id | 1u << 12, {encoded.payload, encoded.words}, &read));
  }
  EXPECT_FALSE(BeginsBinderCall(EncodeWait({.what = WaitClass::kBinder, .end = true}).id));
  EXPECT_FALSE(BeginsBinderCall(EncodeWait({.what = WaitClass::kMutex}).id));
}

}  // namespace
}  // namespace jankbox
