#include "tracer/interpose/bus_calls.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

using Hook = HookedBy<HookFeature::kIo>;

// The D-Bus specification, "Message Format".
constexpr char kMethodCall = 1;
constexpr char kNoReplyExpected = 1;
constexpr char kVersion = 1;
constexpr char kDestination = 6;
constexpr size_t kFixedBytes = 16;  // up to the first header field

constexpr size_t kNameWords = sizeof(BusName) / sizeof(uint64_t);

constinit std::atomic<bool> g_storing{false};
constinit std::atomic<uint32_t> g_version{0};  // odd while the two below change
constinit std::atomic<uint64_t> g_ticks{0};
constinit std::atomic<uint64_t> g_destination[kNameWords] = {};

// One at a time: a second call meanwhile is not kept.
void KeepDestination(std::string_view destination) {
  if (g_storing.exchange(true, std::memory_order_acquire)) return;
  const uint32_t version = g_version.load(std::memory_order_relaxed);
  g_version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with ReadLastBusDestination()
  StoreWordText(&g_destination, destination);
  g_ticks.store(NowTicks(), std::memory_order_relaxed);
  g_version.store(version + 2, std::memory_order_release);
  g_storing.store(false, std::memory_order_release);
}

// The kernel took `sent` bytes of what begins with the `size` bytes at `start`: they can be read.
void TakeSent(const void* start, size_t size, ssize_t sent) {
  if (sent < static_cast<ssize_t>(kFixedBytes) || !RecordingOn()) return;
  const std::string_view message(static_cast<const char*>(start),
                                 std::min(size, static_cast<size_t>(sent)));
  const std::string_view destination = DestinationOfCall(message);
  if (!destination.empty()) KeepDestination(destination);
}

ssize_t SendProxy(int fd, const void* bytes, size_t size, int flags) {
  auto* real = Hook::Original<HookId::kSend, ssize_t(int, const void*, size_t, int)>();
  const ssize_t sent = real(fd, bytes, size, flags);
  TakeSent(bytes, size, sent);
  return sent;
}

ssize_t SendmsgProxy(int fd, const msghdr* message, int flags) {
  auto* real = Hook::Original<HookId::kSendmsg, ssize_t(int, const msghdr*, int)>();
  const ssize_t sent = real(fd, message, flags);
  if (sent > 0 && message->msg_iovlen > 0) {
    TakeSent(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len, sent);
  }
  return sent;
}

bool SpeaksToTheBus(std::string_view path) {
  const std::string_view name = BaseName(path);
  for (const char* library : {"libdbus-1.so", "libgio-2.0.so", "libsystemd.so"}) {
    if (name.starts_with(library)) return true;
  }
  return false;
}

}  // namespace

std::string_view DestinationOfCall(std::string_view message) {
  if (message.size() < kFixedBytes || (message[0] != 'l' && message[0] != 'B')) return {};
  const bool waits = message[1] == kMethodCall && (message[2] & kNoReplyExpected) == 0;
  if (!waits || message[3] != kVersion) return {};
  const bool swapped = (message[0] == 'B') != (std::endian::native == std::endian::big);
  const auto number = [&](size_t at) -> size_t {
    uint32_t value;
    memcpy(&value, message.data() + at, sizeof(value));
    return swapped ? __builtin_bswap32(value) : value;
  };
  const size_t end = std::min(message.size(), kFixedBytes + number(12));
  // A field: its code, the signature "\1s\0", and a value, aligned like the field to 4 bytes.
  for (size_t at = kFixedBytes; at + 8 <= end; at = (at + 7) / 8 * 8) {
    const char code = message[at], type = message[at + 2];
    if (message[at + 1] != 1) return {};
    const size_t size = type == 'g' ? static_cast<uint8_t>(message[at + 4]) : number(at + 4);
    if (size >= end) return {};
    if (type == 's' || type == 'o') {
      if (at + 8 + size >= end) return {};
      if (code == kDestination) return message.substr(at + 8, size);
      at += 8 + size + 1;
    } else if (type == 'g') {
      at += 5 + size + 1;
    } else if (type == 'u') {
      at += 8;
    } else {
      return {};
    }
  }
  return {};
}

void ReadLastBusDestination(uint64_t ticks, BusName* name) {
  const uint32_t version = g_version.load(std::memory_order_acquire);
  const uint64_t sent_ticks = g_ticks.load(std::memory_order_relaxed);
  for (size_t i = 0; i < kNameWords; ++i) {
    const uint64_t word = g_destination[i].load(std::memory_order_relaxed);
    memcpy(*name + i * sizeof(word), &word, sizeof(word));
  }
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with KeepDestination()
  const bool whole = version % 2 == 0 && g_version.load(std::memory_order_relaxed) == version;
  if (!whole || sent_ticks < ticks) *name[0] = '\0';
}

std::span<const HookUse> BusHooks() {
  static const HookUse hooks[] = {
      Hook::Use<HookId::kSend>(SendProxy, SpeaksToTheBus),
      Hook::Use<HookId::kSendmsg>(SendmsgProxy, SpeaksToTheBus),
  };
  return hooks;
}

}  // namespace jankbox
