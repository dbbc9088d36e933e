#include "tracer/interpose/loop_posts.h"

#include "base/files/fd_table.h"
#include "base/own_thread.h"
#include "tracer/event/event_sink.h"
#include "tracer/event/thread_event.h"
#include "tracer/hook/reentry_guard.h"

namespace jankbox {

constinit std::atomic<uint64_t> LoopPosts::bits_{0};
constinit LoopPosts::Descriptor LoopPosts::descriptors_[kMaxDescriptors];

LoopPosts::Descriptor* LoopPosts::Find(int fd) {
  for (Descriptor& descriptor : descriptors_) {
    if (descriptor.number.load(std::memory_order_relaxed) == fd + 1) return &descriptor;
  }
  return nullptr;
}

LoopPosts::Descriptor* LoopPosts::Claim(int fd) {
  for (Descriptor& descriptor : descriptors_) {
    int free = 0;
    if (!descriptor.number.compare_exchange_strong(free, fd + 1, std::memory_order_relaxed)) {
      continue;
    }
    descriptor.waker_tid.store(0, std::memory_order_relaxed);
    descriptor.reader_tid.store(CurrentTid(), std::memory_order_relaxed);
    bits_.fetch_or(BitOf(fd), std::memory_order_relaxed);
    return &descriptor;
  }
  return nullptr;
}

void LoopPosts::Note(int fd) {
  if (FdTable::OfThisThread() != FdTable::kOfTheApp) return;  // another file's number there
  Descriptor* const descriptor = RecordingOn() ? Find(fd) : nullptr;
  if (descriptor == nullptr || descriptor->waker_tid.load(std::memory_order_relaxed) != 0) return;
  const int32_t tid = CurrentTid();
  if (tid == descriptor->reader_tid.load(std::memory_order_relaxed)) return;
  // Of two threads that come here at once the second one may give its time to the first.
  descriptor->ticks.store(NowTicks(), std::memory_order_relaxed);
  int32_t none = 0;
  descriptor->waker_tid.compare_exchange_strong(none, tid, std::memory_order_release);
}

void LoopPosts::AfterRead(int fd) {
  Descriptor* const descriptor = Find(fd);
  if (descriptor == nullptr) {
    Claim(fd);
    return;
  }
  // Pairs with Note().
  const int32_t waker_tid = descriptor->waker_tid.load(std::memory_order_acquire);
  if (waker_tid == 0) return;
  const uint64_t ticks = descriptor->ticks.load(std::memory_order_relaxed);
  descriptor->waker_tid.store(0, std::memory_order_relaxed);
  const int32_t tid = CurrentTid();
  descriptor->reader_tid.store(tid, std::memory_order_relaxed);
  const ReentryGuard guard(HookFeature::kIo);
  if (tid == waker_tid || !guard.entered()) return;
  const EncodedThreadEvent encoded = EncodeThreadEvent(
      {.step = ThreadStep::kWoken, .tid = tid, .ticks = ticks, .waker_tid = waker_tid});
  RecordAside(EventKind::kThread, encoded.id, {encoded.payload, encoded.words});
}

void LoopPosts::Drop(int fd) {
  if (FdTable::OfThisThread() != FdTable::kOfTheApp) return;  // another file's number there
  Descriptor* const descriptor = Find(fd);
  if (descriptor == nullptr) return;
  descriptor->number.store(0, std::memory_order_relaxed);
  // A bit that Claim() sets meanwhile may be lost: nobody is then seen to wake that loop.
  uint64_t bits = 0;
  for (const Descriptor& other : descriptors_) {
    const int number = other.number.load(std::memory_order_relaxed);
    if (number != 0) bits |= BitOf(number - 1);
  }
  bits_.store(bits, std::memory_order_relaxed);
}

}  // namespace jankbox
