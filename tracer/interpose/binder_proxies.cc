#include "tracer/interpose/binder_proxies.h"

#include <atomic>
#include <cerrno>

#include "base/thread_value.h"
#include "tracer/event/binder_call.h"
#include "tracer/hook/reentry_guard.h"
#include "tracer/interpose/binder_exchange.h"
#include "tracer/interpose/binder_interfaces.h"
#include "tracer/interpose/wait_scope.h"

namespace jankbox {
namespace {

using Hook = HookedBy<HookFeature::kBinder>;

// The calls of one thread that wait for their replies, the innermost last: while a thread waits it
// may have to serve one, and call others from there.
class OpenCalls {
 public:
  // Null if nothing is open: the innermost call.
  const EncodedBinderCall* Innermost() const {
    return depth_ == 0 || depth_ > kDepth ? nullptr : &calls_[depth_ - 1].call;
  }

  void Begin(const EncodedBinderCall& call) {
    // A thread that serves nothing has no call open: what is there ended while nothing was
    // recorded.
    while (depth_ > 0 && depth_ <= kDepth && !calls_[depth_ - 1].serves) --depth_;
    if (depth_ < kDepth) calls_[depth_] = {call, false};
    if (depth_ < kTooDeep) ++depth_;
  }

  void Take(const BinderReturns& returns) {
    depth_ -= depth_ < returns.replies ? depth_ : returns.replies;
    SetServes(returns.serves, true);
  }

  // Its reply is on its way: the thread waits for its own call again.
  void Served(bool replies) { SetServes(replies, false); }

 private:
  static constexpr uint32_t kDepth = 4;
  static constexpr uint32_t kTooDeep = 64;  // deeper ones are not counted

  struct Call {
    EncodedBinderCall call;
    bool serves = false;
  };

  void SetServes(bool when, bool serves) {
    if (when && depth_ > 0 && depth_ <= kDepth) calls_[depth_ - 1].serves = serves;
  }

  uint32_t depth_ = 0;
  Call calls_[kDepth];
};

// A thread's, from its first call to the end of the process; if none is left, a wait that takes
// several ioctls is its first one only.
constexpr uint32_t kThreads = 16;  // twice those that are watched at a time
constinit OpenCalls g_open_calls[kThreads];
constinit std::atomic<uint32_t> g_threads{0};
JANKBOX_THREAD_VALUE(OpenCalls*, t_open_calls, nullptr);

OpenCalls* OpenCallsOfThisThread() {
  OpenCalls* known = t_open_calls;
  if (known != nullptr || g_threads.load(std::memory_order_relaxed) >= kThreads) return known;
  const uint32_t index = g_threads.fetch_add(1, std::memory_order_relaxed);
  if (index >= kThreads) return nullptr;
  known = &g_open_calls[index];
  t_open_calls = known;
  return known;
}

// One ioctl of a watched thread.
class ExchangeScope {
 public:
  ExchangeScope(uint32_t word_bytes, const void* argument)
      : word_bytes_(word_bytes), argument_(argument) {
    const ReentryGuard guard(HookFeature::kBinder);
    if (!guard.entered() || argument == nullptr) return;
    const BinderExchange exchange = ReadBinderExchange(word_bytes, argument);
    const BinderCommands commands = ReadBinderCommands(exchange);
    open_ = OpenCallsOfThisThread();
    if (open_ != nullptr) open_->Served(commands.replies);
    returned_ = exchange.returns_filled;
    if (commands.calls) {
      BinderInterfaces::Note(commands.call.name());
      call_ = EncodeBinderCall(commands.call);
      call_end_ = commands.call_end;
    }
    if (exchange.return_bytes > returned_) Begin();
  }

  void End(int result) {
    const ReentryGuard guard(HookFeature::kBinder);
    if (!guard.entered() || argument_ == nullptr) return;
    const int64_t error = result < 0 ? -errno : 0;
    const BinderExchange exchange = ReadBinderExchange(word_bytes_, argument_);
    if (open_ != nullptr) {
      const bool sent = call_.words != 0 && exchange.commands_consumed >= call_end_;
      if (sent) open_->Begin(call_);
      open_->Take(ReadBinderReturns(exchange, returned_));
    }
    if (!begun_) return;
    const EncodedWait end = EncodeWait({.what = WaitClass::kBinder, .end = true, .result = error});
    RecordAside(EventKind::kWait, end.id, {&end.payload, end.words});
  }

 private:
  void Begin() {
    const EncodedBinderCall* open = open_ != nullptr ? open_->Innermost() : nullptr;
    const EncodedBinderCall* call = call_.words != 0 ? &call_ : open;
    if (call == nullptr) return;  // it waits for work
    begun_ = true;
    RecordAside(EventKind::kWait, call->id, {call->payload, call->words});
  }

  const uint32_t word_bytes_;
  const void* const argument_;
  OpenCalls* open_ = nullptr;
  EncodedBinderCall call_;  // that this ioctl is to send; no words: none
  uint64_t call_end_ = 0;
  uint64_t returned_ = 0;
  bool begun_ = false;
};

// ioctl() is variadic; see OpenProxy of io_proxies.cc. bionic's request is an int, whose register's
// upper half says nothing.
int IoctlProxy(int fd, unsigned long request, void* argument) {
  auto* real = Hook::Original<HookId::kIoctl, int(int, unsigned long, ...)>();
  const uint32_t word_bytes = BinderWordBytes(request);
  if (__builtin_expect(word_bytes == 0 || !RecordsWaits(), 1)) return real(fd, request, argument);
  ExchangeScope exchange(word_bytes, argument);
  const int result = real(fd, request, argument);
  exchange.End(result);
  return result;
}

// libbinder.so, libhwbinder.so and what may come of them, in whatever folder: those that talk to
// the driver import ioctl, the others have nothing to hook. Drivers of the GPU call it, too, and
// often: they are left alone.
bool IsBinderLibrary(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find("binder") != std::string_view::npos;
}

}  // namespace

std::span<const HookUse> BinderHooks() {
  static const HookUse hooks[] = {Hook::Use<HookId::kIoctl>(IoctlProxy, IsBinderLibrary)};
  return hooks;
}

}  // namespace jankbox
