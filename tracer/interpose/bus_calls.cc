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
constexpr uint8_t kMethodCall = 1;
constexpr uint8_t kNoReplyExpected = 1;
constexpr uint8_t kVersion = 1;
constexpr uint8_t kDestination = 6;
constexpr size_t kFixedBytes = 16;  // up to the first header field

constinit std::atomic<bool> g_storing{false};
constinit std::atomic<uint32_t> g_version{0};  // odd while the two below change
constinit std::atomic<uint64_t> g_ticks{0};
constinit std::atomic<uint64_t> g_destination[8] = {};

// A message's bytes in the sender's byte order.
class MessageReader {
 public:
  explicit MessageReader(std::string_view message)
      : bytes_(message), swapped_((message[0] == 'B') != (std::endian::native == std::endian::big)) {}

  size_t at() const { return at_; }
  void Align(size_t bytes) { at_ = (at_ + bytes - 1) / bytes * bytes; }
  uint8_t Byte() { return at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_++]) : Fail(); }
  uint32_t Number() {
    Align(4);
    if (bytes_.size() < 4 || at_ > bytes_.size() - 4) return Fail();
    uint32_t value;
    memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += 4;
    return swapped_ ? __builtin_bswap32(value) : value;
  }
  // `size` bytes and the zero that follows them.
  std::string_view Text(uint32_t size) {
    if (at_ >= bytes_.size() || bytes_.size() - at_ <= size) {
      Fail();
      return {};
    }
    const std::string_view text = bytes_.substr(at_, size);
    at_ += size + 1;
    return text;
  }
  void Skip(size_t bytes) { at_ += bytes; }

 private:
  // Ends every loop over the message.
  uint8_t Fail() {
    at_ = bytes_.size();
    return 0;
  }

  const std::string_view bytes_;
  const bool swapped_;
  size_t at_ = 0;
};

// One at a time: a second call meanwhile is not kept.
void KeepDestination(std::string_view destination) {
  if (g_storing.exchange(true, std::memory_order_acquire)) return;
  const uint32_t version = g_version.load(std::memory_order_relaxed);
  g_version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with LastBusDestination()
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
  MessageReader reader(message);
  reader.Skip(12);  // the four bytes above, the body's length, the serial
  const uint32_t fields_bytes = reader.Number();
  const size_t end = std::min<size_t>(message.size(), kFixedBytes + size_t{fields_bytes});
  while (reader.at() < end) {
    reader.Align(8);
    const uint8_t field = reader.Byte();
    const std::string_view type = reader.Text(reader.Byte());
    if (type == "s" || type == "o") {
      const std::string_view text = reader.Text(reader.Number());
      if (field == kDestination) return text;
    } else if (type == "g") {
      reader.Text(reader.Byte());
    } else if (type == "u") {
      reader.Number();
    } else {
      return {};
    }
  }
  return {};
}

std::string LastBusDestination(uint64_t ticks) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const uint32_t version = g_version.load(std::memory_order_acquire);
    const uint64_t sent_ticks = g_ticks.load(std::memory_order_relaxed);
    std::string destination = ReadWordText(g_destination);
    std::atomic_thread_fence(std::memory_order_acquire);  // pairs with KeepDestination()
    if (version % 2 != 0 || g_version.load(std::memory_order_relaxed) != version) continue;
    return sent_ticks >= ticks ? destination : "";
  }
  return "";
}

std::span<const HookUse> BusHooks() {
  static const HookUse hooks[] = {
      Hook::Use<HookId::kSend>(SendProxy, SpeaksToTheBus),
      Hook::Use<HookId::kSendmsg>(SendmsgProxy, SpeaksToTheBus),
  };
  return hooks;
}

}  // namespace jankbox
