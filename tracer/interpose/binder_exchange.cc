#include "tracer/interpose/binder_exchange.h"

#include <linux/android/binder.h>
#include <linux/ioctl.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace jankbox {
namespace {

// Offsets for words of `word` bytes, checked against the header below for those that it is made
// for.
constexpr uint32_t CodeAt(uint32_t word) { return 2 * word; }
constexpr uint32_t FlagsAt(uint32_t word) { return 2 * word + 4; }
constexpr uint32_t DataBytesAt(uint32_t word) { return 2 * word + 16; }
constexpr uint32_t DataAt(uint32_t word) { return 4 * word + 16; }
constexpr uint32_t TransactionBytes(uint32_t word) { return 6 * word + 16; }

constexpr uint32_t kWord = sizeof(binder_size_t);
using Transaction = binder_transaction_data;
static_assert(offsetof(Transaction, target.handle) == 0);
static_assert(offsetof(Transaction, code) == CodeAt(kWord));
static_assert(offsetof(Transaction, flags) == FlagsAt(kWord));
static_assert(offsetof(Transaction, data_size) == DataBytesAt(kWord));
static_assert(offsetof(Transaction, data.ptr.buffer) == DataAt(kWord));
static_assert(sizeof(Transaction) == TransactionBytes(kWord));
static_assert(offsetof(binder_write_read, write_consumed) == kWord);
static_assert(offsetof(binder_write_read, write_buffer) == 2 * kWord);
static_assert(offsetof(binder_write_read, read_size) == 3 * kWord);
static_assert(offsetof(binder_write_read, read_consumed) == 4 * kWord);
static_assert(offsetof(binder_write_read, read_buffer) == 5 * kWord);
static_assert(BinderWordBytes(BINDER_WRITE_READ) == kWord);

constexpr uint32_t kTransactionNumber = _IOC_NR(BC_TRANSACTION);
constexpr uint32_t kTransactionSgNumber = _IOC_NR(BC_TRANSACTION_SG);
constexpr uint32_t kReplyNumber = _IOC_NR(BC_REPLY);
constexpr uint32_t kReplySgNumber = _IOC_NR(BC_REPLY_SG);

// Of returns, which have no names in older headers.
constexpr uint32_t kErrorReturn = _IOC_NR(BR_ERROR);
constexpr uint32_t kTransactionReturn = _IOC_NR(BR_TRANSACTION);
constexpr uint32_t kReplyReturn = _IOC_NR(BR_REPLY);
constexpr uint32_t kDeadReturn = _IOC_NR(BR_DEAD_REPLY);
constexpr uint32_t kFailedReturn = _IOC_NR(BR_FAILED_REPLY);
constexpr uint32_t kFrozenReturn = 18;  // BR_FROZEN_REPLY

uint32_t NumberAt(const uint8_t* bytes) {
  uint32_t number;
  memcpy(&number, bytes, sizeof(number));
  return number;
}

uint64_t WordAt(const uint8_t* bytes, uint32_t word_bytes) {
  if (word_bytes == 4) return NumberAt(bytes);
  uint64_t word;
  memcpy(&word, bytes, sizeof(word));
  return word;
}

// Null if this process has no such address.
const uint8_t* AddressOf(uint64_t word) {
  const auto address = static_cast<uintptr_t>(word);
  return address == word ? reinterpret_cast<const uint8_t*>(address) : nullptr;
}

// Calls `visit(number, payload, end)` for each command of that type, as their headers lay them out,
// until one is not whole.
template <typename Visit>
void EachCommand(BinderBytes commands, uint32_t type, Visit visit) {
  size_t at = 0;
  while (commands.size() - at >= sizeof(uint32_t)) {
    const uint32_t command = NumberAt(commands.data() + at);
    const size_t bytes = _IOC_SIZE(command);
    at += sizeof(uint32_t);
    if (_IOC_TYPE(command) != type || commands.size() - at < bytes) return;
    visit(_IOC_NR(command), commands.subspan(at, bytes), at + bytes);
    at += bytes;
  }
}

void ReadTransaction(BinderBytes transaction, uint32_t word, BinderCall* call) {
  const uint8_t* bytes = transaction.data();
  call->handle = NumberAt(bytes);
  call->code = NumberAt(bytes + CodeAt(word));
  const uint64_t data_bytes = WordAt(bytes + DataBytesAt(word), word);
  const uint8_t* data = AddressOf(WordAt(bytes + DataAt(word), word));
  call->interface_bytes = 0;
  // What is written in front is short; of a length that is made up no more is believed.
  constexpr uint64_t kEnough = 1024;
  if (data != nullptr) ReadInterface(BinderBytes(data, std::min(data_bytes, kEnough)), call);
}

bool IsNameUnit(uint32_t unit, bool first) { return unit < 0x7f && unit > (first ? 0x40u : 0x20u); }

void Append(uint32_t unit, BinderCall* call) {
  if (call->interface_bytes < kMaxInterfaceBytes) {
    call->interface[call->interface_bytes++] = static_cast<char>(unit);
  }
}

// A String16 at `at`: its length, that many units, a zero.
bool ReadString16(BinderBytes data, size_t at, BinderCall* call) {
  constexpr uint32_t kMaxUnits = 255;
  if (data.size() < at + 2 * sizeof(uint32_t)) return false;
  const uint32_t units = NumberAt(data.data() + at);
  at += sizeof(uint32_t);
  if (units == 0 || units > kMaxUnits || data.size() - at < 2 * (units + 1)) return false;
  const uint8_t* text = data.data() + at;
  call->interface_bytes = 0;
  for (uint32_t i = 0; i < units; ++i) {
    const uint32_t unit = text[2 * i] | static_cast<uint32_t>(text[2 * i + 1]) << 8;
    if (!IsNameUnit(unit, i == 0)) return false;
    Append(unit, call);
  }
  return text[2 * units] == 0 && text[2 * units + 1] == 0;
}

// "android.hardware.graphics.mapper@2.1::IMapper": a package, and an interface in it.
bool ReadCString(BinderBytes data, BinderCall* call) {
  bool qualified = false;
  call->interface_bytes = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i] == 0) return qualified;
    if (!IsNameUnit(data[i], i == 0)) return false;
    qualified = qualified || (data[i] == ':' && i > 0 && data[i - 1] == ':');
    Append(data[i], call);
  }
  return false;
}

}  // namespace

BinderExchange ReadBinderExchange(uint32_t word_bytes, const void* argument) {
  BinderExchange exchange;
  if (argument == nullptr) return exchange;
  const auto* bytes = static_cast<const uint8_t*>(argument);
  const auto word = [&](uint32_t index) { return WordAt(bytes + index * word_bytes, word_bytes); };
  exchange.word_bytes = word_bytes;
  exchange.commands = AddressOf(word(2));
  exchange.command_bytes = exchange.commands == nullptr ? 0 : word(0);
  exchange.commands_consumed = word(1);
  exchange.returns = AddressOf(word(5));
  exchange.return_bytes = exchange.returns == nullptr ? 0 : word(3);
  exchange.returns_filled = word(4);
  return exchange;
}

BinderCommands ReadBinderCommands(const BinderExchange& exchange) {
  BinderCommands found;
  const uint64_t from = exchange.commands_consumed;
  if (from >= exchange.command_bytes) return found;
  const BinderBytes commands(exchange.commands + from, exchange.command_bytes - from);
  const uint32_t word = exchange.word_bytes;
  EachCommand(commands, 'c', [&](uint32_t number, BinderBytes payload, size_t end) {
    found.replies = found.replies || number == kReplyNumber || number == kReplySgNumber;
    if (number != kTransactionNumber && number != kTransactionSgNumber) return;
    if (payload.size() < TransactionBytes(word)) return;
    if ((NumberAt(payload.data() + FlagsAt(word)) & TF_ONE_WAY) != 0) return;
    found.calls = true;
    found.call_end = from + end;
    ReadTransaction(payload, word, &found.call);
  });
  return found;
}

BinderReturns ReadBinderReturns(const BinderExchange& exchange, uint64_t from) {
  BinderReturns found;
  const uint64_t to = std::min(exchange.returns_filled, exchange.return_bytes);
  if (from >= to) return found;
  EachCommand(BinderBytes(exchange.returns + from, to - from), 'r',
              [&](uint32_t number, BinderBytes /*payload*/, size_t /*end*/) {
                found.serves = found.serves || number == kTransactionReturn;
                const bool ends = number == kReplyReturn || number == kDeadReturn ||
                                  number == kFailedReturn || number == kFrozenReturn ||
                                  number == kErrorReturn;
                found.replies += ends ? 1 : 0;
              });
  return found;
}

void ReadInterface(BinderBytes data, BinderCall* call) {
  constexpr size_t kMostNumbers = 3;
  for (size_t numbers = kMostNumbers; numbers > 0; --numbers) {
    if (ReadString16(data, numbers * sizeof(uint32_t), call)) return;
  }
  if (!ReadCString(data, call)) call->interface_bytes = 0;
}

}  // namespace jankbox
