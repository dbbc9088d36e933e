#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/kept_fd.h"
#include "base/mutex.h"
#include "tracer/sampling/signal_source.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {

namespace {

constexpr size_t kStackBytes = 64 * 1024;
constexpr uint32_t kSlots = 8;
constexpr int kFirstChoice = 10;     // applications take theirs from SIGRTMIN upward
constexpr uint64_t kMagic = 0x4a42;  // "JB", in the top 16 bits of si_value
constexpr uint32_t kFillingWaitMs =
    100;  // the handler copies 64 KiB: microseconds, unless preempted

// Data that sender and handler share. Static: a signal may arrive after its source is gone.
struct Slot {
  // The request that may be answered; the handler takes it by setting 0, and so does the sender
  // when it gives up. Release: pairs with the handler's acquire.
  std::atomic<uint32_t> wanted{0};
  // The last request whose signal was delivered: a futex. Release: pairs with the sender's acquire.
  std::atomic<uint32_t> delivered{0};
  uint32_t filled = 0;  // the last request that was answered; ordered by `delivered`
  uint64_t time_ns = 0;
  Registers registers;
  size_t stack_size = 0;
  std::byte* stack = nullptr;
  bool used = false;  // under Registry::mutex
};

Slot g_slots[kSlots];

// The process's one handler. Constant-initialised and never destroyed: a signal may arrive late.
struct Registry {
  Mutex mutex;
  int signal_number GUARDED_BY(mutex) = 0;  // 0: not installed
  struct sigaction previous GUARDED_BY(mutex) = {};
  uint32_t users GUARDED_BY(mutex) = 0;
};

Registry& TheRegistry() {
  return MakeOnce([] { return new Registry; });
}

void FillSlot(Slot* slot, uint32_t sequence, const void* context) {
  slot->registers = Registers();
  machine::ForEachRegister(
      *static_cast<const ucontext_t*>(context),
      [slot](uint32_t number, uint64_t value) { slot->registers.Set(number, value); });
  slot->time_ns = MonotonicNs();
  slot->stack_size = 0;
  if (slot->registers.Known(machine::kStackPointer)) {
    // Short if the stack ends; never a fault.
    slot->stack_size =
        ReadOwnMemory(slot->registers.Get(machine::kStackPointer), slot->stack, kStackBytes);
  }
  slot->filled = sequence;
}

uint64_t PackValue(uint32_t slot, uint32_t sequence) {
  return kMagic << 48 | uint64_t{slot} << 32 | sequence;
}

// SIGNAL-SAFE: atomics, system calls, memory taken before.
void OnSampleSignal(int number, siginfo_t* received, void* context) {
  const int saved_errno = errno;
  const uint64_t value = reinterpret_cast<uintptr_t>(received->si_value.sival_ptr);
  const auto slot_number = static_cast<uint32_t>(value >> 32 & 0xffff);
  if (received->si_code != SI_QUEUE || received->si_pid != getpid() || value >> 48 != kMagic ||
      slot_number >= kSlots) {
    // Not Jankbox's signal: does what it would have done without Jankbox.
    signal(number, SIG_DFL);
    raise(number);
    errno = saved_errno;
    return;
  }
  Slot& slot = g_slots[slot_number];
  const auto sequence = static_cast<uint32_t>(value);
  uint32_t expected = sequence;
  if (slot.wanted.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) {
    FillSlot(&slot, sequence, context);
  }
  slot.delivered.store(sequence, std::memory_order_release);
  syscall(SYS_futex, &slot.delivered, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = saved_errno;
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == OnSampleSignal;
}

// A real-time signal without a handler; 0 if there is none.
int ChooseSignal() {
  const int count = SIGRTMAX - SIGRTMIN + 1;
  for (int i = 0; i < count; ++i) {
    const int number = SIGRTMIN + (kFirstChoice + i) % count;
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
        action.sa_handler == SIG_DFL) {
      return number;
    }
  }
  return 0;
}

class LinuxSignalSource final : public SignalSource {
 public:
  LinuxSignalSource(int tid, uint32_t slot, int signal_number);
  ~LinuxSignalSource() override;

  bool Capture(uint32_t timeout_ms, SignalSample* sample) override;
  std::string SignalName() const override {
    return "SIGRTMIN+" + std::to_string(signal_number_ - SIGRTMIN);
  }

 private:
  bool Install();
  bool ThreadBlocksSignal() const;
  bool ThreadIsGone() const {
    return syscall(SYS_tgkill, getpid(), tid_, 0) != 0 && errno == ESRCH;
  }
  bool Send(uint32_t sequence) const;
  bool WaitForDelivery(uint32_t sequence, uint64_t timeout_ms) const;
  bool PendingIsDelivered() const {
    return slot_->delivered.load(std::memory_order_acquire) == sequence_;
  }

  int tid_;
  uint32_t slot_number_;
  Slot* slot_;
  int signal_number_;
  KeptFd status_;
  uint32_t sequence_ = 0;  // of the last signal sent
  bool installed_ = false;
};

LinuxSignalSource::LinuxSignalSource(int tid, uint32_t slot, int signal_number)
    : tid_(tid), slot_number_(slot), slot_(&g_slots[slot]), signal_number_(signal_number) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
  status_ = ScopedFd(open(path, O_RDONLY | O_CLOEXEC));
  sequence_ = slot_->delivered.load(std::memory_order_acquire);
}

// A signal that is still pending keeps its slot and the handler: with the default action it would
// end the process.
LinuxSignalSource::~LinuxSignalSource() {
  uint32_t expected = sequence_;
  slot_->wanted.compare_exchange_strong(expected, 0, std::memory_order_acq_rel);
  if (!PendingIsDelivered() && !ThreadIsGone() && !WaitForDelivery(sequence_, kFillingWaitMs)) {
    return;
  }
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mutex);
  delete[] slot_->stack;
  slot_->stack = nullptr;
  slot_->used = false;
  if (!installed_ || --registry.users > 0) return;
  struct sigaction current = {};
  if (sigaction(registry.signal_number, nullptr, &current) == 0 && IsOurs(current)) {
    sigaction(registry.signal_number, &registry.previous, nullptr);
  }
  registry.signal_number = 0;
}

// True if the handler is in place, and still Jankbox's: the app may have taken the signal since.
bool LinuxSignalSource::Install() {
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mutex);
  struct sigaction current = {};
  if (registry.signal_number == 0) {
    struct sigaction action = {};
    action.sa_sigaction = OnSampleSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    if (sigaction(signal_number_, &action, &registry.previous) != 0) return false;
    registry.signal_number = signal_number_;
  }
  signal_number_ = registry.signal_number;
  if (!installed_) ++registry.users;
  installed_ = true;
  return sigaction(signal_number_, nullptr, &current) == 0 && IsOurs(current);
}

// A signal sent to a thread that blocks it would stay pending, even across exec.
bool LinuxSignalSource::ThreadBlocksSignal() const {
  char text[4096];
  const ssize_t got = pread(status_.get(), text, sizeof(text), 0);
  if (got <= 0) return true;
  std::string_view status(text, static_cast<size_t>(got));
  constexpr std::string_view kField = "SigBlk:\t";
  const size_t at = status.find(kField);
  if (at == std::string_view::npos) return true;
  uint64_t mask = ~uint64_t{0};
  std::from_chars(text + at + kField.size(), text + status.size(), mask, 16);
  return (mask >> (signal_number_ - 1) & 1) != 0;
}

bool LinuxSignalSource::Send(uint32_t sequence) const {
  siginfo_t sent = {};
  sent.si_signo = signal_number_;
  sent.si_code = SI_QUEUE;
  sent.si_pid = getpid();
  sent.si_uid = getuid();
  sent.si_value.sival_ptr = reinterpret_cast<void*>(PackValue(slot_number_, sequence));
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid_, signal_number_, &sent) == 0;
}

bool LinuxSignalSource::WaitForDelivery(uint32_t sequence, uint64_t timeout_ms) const {
  const uint64_t deadline = MonotonicNs() + timeout_ms * kNsPerMs;
  for (;;) {
    const uint32_t seen = slot_->delivered.load(std::memory_order_acquire);
    if (seen == sequence) return true;
    const uint64_t now = MonotonicNs();
    if (now >= deadline) return false;
    timespec left{static_cast<time_t>((deadline - now) / kNsPerSecond),
                  static_cast<long>((deadline - now) % kNsPerSecond)};
    syscall(SYS_futex, &slot_->delivered, FUTEX_WAIT_PRIVATE, seen, &left, nullptr, 0);
  }
}

bool LinuxSignalSource::Capture(uint32_t timeout_ms, SignalSample* sample) {
  if (!PendingIsDelivered() || !Install() || ThreadBlocksSignal()) return false;
  uint32_t sequence = sequence_ + 1;
  if (sequence == 0) sequence = 1;  // 0 represents no request
  slot_->wanted.store(sequence, std::memory_order_release);
  if (!Send(sequence)) {
    slot_->wanted.store(0, std::memory_order_relaxed);
    return false;
  }
  sequence_ = sequence;
  if (!WaitForDelivery(sequence, timeout_ms)) {
    uint32_t expected = sequence;
    if (slot_->wanted.compare_exchange_strong(expected, 0, std::memory_order_acq_rel) ||
        !WaitForDelivery(sequence, kFillingWaitMs)) {
      return false;
    }
  }
  if (slot_->filled != sequence) return false;
  sample->time_ns = slot_->time_ns;
  sample->registers = slot_->registers;
  sample->stack = {slot_->registers.Get(machine::kStackPointer), {slot_->stack, slot_->stack_size}};
  return true;
}

}  // namespace

Result<std::unique_ptr<SignalSource>> SignalSource::Create(int tid) {
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mutex);
  const int number = registry.signal_number != 0 ? registry.signal_number : ChooseSignal();
  if (number == 0) return Status(StatusCode::kUnsupported, "all real-time signals are in use");
  for (uint32_t i = 0; i < kSlots; ++i) {
    if (g_slots[i].used) continue;
    g_slots[i].used = true;
    g_slots[i].stack = new std::byte[kStackBytes];
    return std::unique_ptr<SignalSource>(std::make_unique<LinuxSignalSource>(tid, i, number));
  }
  return Status(StatusCode::kUnsupported, "too many threads are already sampled by signal");
}

}  // namespace jankbox
