// One word of the calling thread, zero at its birth, for the bits of the re-entry guard. Both
// kinds are NO-ALLOC, SIGNAL-SAFE, lock-free and leave errno alone, need no destructor, and so hold
// until the thread's very end. FORK: the child's thread has the word of the thread that forked.
#ifndef JANKBOX_TRACER_HOOK_REENTRY_SLOT_H_
#define JANKBOX_TRACER_HOOK_REENTRY_SLOT_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace jankbox {

#if !defined(__ANDROID__)
// Initial-exec: one load relative to the thread pointer. A lazy (dynamic) model would allocate in
// whatever call comes first, a signal handler's maybe.
class InitialExecSlot {
 public:
  static bool Prepare() { return true; }
  static bool Usable() { return true; }
  static uint32_t Get() { return t_word; }
  static void Set(uint32_t word) { t_word = word; }

 private:
  static inline thread_local constinit uint32_t t_word __attribute__((tls_model("initial-exec"))) =
      0;
};
#endif

// For bionic, which refuses initial-exec in libraries loaded with dlopen and below API 29 emulates
// thread_local with an allocation: a pthread key, whose values are in the thread's own block there.
class PthreadKeySlot {
 public:
  // Takes a key permanently. False if all PTHREAD_KEYS_MAX are taken: Usable() stays false. Cold.
  static bool Prepare() {
    if (Usable()) return true;
    pthread_key_t key = 0;
    if (pthread_key_create(&key, nullptr) != 0) return false;
    key_ = key;
    usable_.store(true, std::memory_order_release);  // pairs with Usable()
    return true;
  }

  static bool Usable() { return usable_.load(std::memory_order_acquire); }
  static uint32_t Get() {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pthread_getspecific(key_)));
  }
  static void Set(uint32_t word) {
    pthread_setspecific(key_, reinterpret_cast<const void*>(static_cast<uintptr_t>(word)));
  }

 private:
  static inline constinit pthread_key_t key_ = 0;
  static inline constinit std::atomic<bool> usable_{false};
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_REENTRY_SLOT_H_
