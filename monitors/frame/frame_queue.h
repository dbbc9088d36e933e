// The frames of one watched thread on their way to the watcher, and what that thread keeps about
// the frame that it is in. One producer (the thread), one consumer (jankbox-watch); NO-ALLOC, no
// lock, SIGNAL-SAFE but for two frames of one thread at once. A frame that finds the queue full is
// counted and lost to statistics, not to the ring.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_QUEUE_H_
#define JANKBOX_MONITORS_FRAME_FRAME_QUEUE_H_

#include <array>
#include <atomic>
#include <cstdint>

#include "tracer/event/frame_event.h"

namespace jankbox {

struct QueuedFrame {
  FrameEvent frame;
  uint32_t scene = 0;  // of StateTags
};

// Costs of the phases of the frame that runs now. The producer's.
struct RunningPhases {
  uint64_t cost_ns[kFramePhases] = {};
  uint64_t since_ns = 0;  // when `current` began; 0: no phase was marked
  FramePhase current = FramePhase::kInput;
};

class FrameQueue {
 public:
  static constexpr size_t kFrames = 256;  // a second at 240 Hz

  // The producer. False if it is full.
  bool Push(const FrameEvent& frame, uint32_t scene) {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) >= kFrames) {  // pairs with Pop's store
      lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return false;
    }
    frames_[tail % kFrames] = {frame, scene};
    tail_.store(tail + 1, std::memory_order_release);  // pairs with Pop's load
    return true;
  }

  // The consumer. False if it is empty, or its next frame ended after `by_ns`: by less than a
  // second, since the end is the app's word.
  bool Pop(QueuedFrame* frame, uint64_t by_ns = UINT64_MAX) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return false;  // pairs with Push's store
    const uint64_t end_ns = frames_[head % kFrames].frame.end_ns;
    if (end_ns > by_ns && end_ns - by_ns < kNextLookNs) return false;
    *frame = frames_[head % kFrames];
    head_.store(head + 1, std::memory_order_release);  // pairs with Push's load
    return true;
  }

  // The consumer, before the thread's first frame of a recording.
  void Clear() {
    head_.store(tail_.load(std::memory_order_acquire), std::memory_order_release);
    TakeLost();
    TakeBad();
    last_frame_ns_.store(0, std::memory_order_relaxed);
    last_interval_ns_.store(0, std::memory_order_relaxed);
  }

  // The producer: a frame whose numbers cannot be true.
  void CountBad() {
    bad_.store(bad_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // The producer: whether frames of `source` are this thread's. The first source that reports one
  // is, until a better one does (a toolkit's own clock instead of the swap that it ends in) or it
  // is silent for five seconds.
  bool Accepts(FrameSource source, uint64_t now_ns) {
    // Numbers of FrameSource: the lower, the better.
    const uint64_t last_ns = last_frame_ns_.load(std::memory_order_relaxed);
    if (last_ns != 0 && now_ns - last_ns <= kSilentNs && source > source_) return false;
    source_ = source;
    last_frame_ns_.store(now_ns, std::memory_order_relaxed);
    return true;
  }

  // The consumer: frames that did not fit, and those that were bad, since it last asked.
  uint64_t TakeLost() { return Since(lost_, &taken_lost_); }
  uint64_t TakeBad() { return Since(bad_, &taken_bad_); }

  // The producer's own.
  RunningPhases* phases() { return &phases_; }
  uint64_t last_interval_ns() const { return last_interval_ns_.load(std::memory_order_relaxed); }
  void SetLastInterval(uint64_t interval_ns) {
    last_interval_ns_.store(interval_ns, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kSilentNs = 5'000'000'000;
  static constexpr uint64_t kNextLookNs = 1'000'000'000;

  static uint64_t Since(const std::atomic<uint64_t>& count, uint64_t* taken) {
    const uint64_t now = count.load(std::memory_order_relaxed);
    const uint64_t since = now - *taken;
    *taken = now;
    return since;
  }

  alignas(64) std::atomic<uint64_t> head_{0};  // the consumer's, as the next two
  uint64_t taken_lost_ = 0;
  uint64_t taken_bad_ = 0;
  alignas(64) std::atomic<uint64_t> tail_{0};  // the producer's, as all below
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> bad_{0};
  FrameSource source_ = FrameSource::kApi;
  std::atomic<uint64_t> last_frame_ns_{0};
  std::atomic<uint64_t> last_interval_ns_{0};
  RunningPhases phases_;
  std::array<QueuedFrame, kFrames> frames_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_QUEUE_H_
