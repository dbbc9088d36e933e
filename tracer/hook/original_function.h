// The function that a proxy stands in front of: every proxy of Jankbox keeps its original in one of
// these, with static storage. Set before the first call of the proxy arrives; read on the app's
// threads. THREAD-SAFE, NO-ALLOC, SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_HOOK_ORIGINAL_FUNCTION_H_
#define JANKBOX_TRACER_HOOK_ORIGINAL_FUNCTION_H_

#include <atomic>

namespace jankbox {

class OriginalFunction {
 public:
  constexpr OriginalFunction() = default;
  OriginalFunction(const OriginalFunction&) = delete;
  OriginalFunction& operator=(const OriginalFunction&) = delete;

  // Null before Set(). Pairs with the store of Set(): what was written before it is visible.
  template <typename Function>
  Function* Get() const {
    return reinterpret_cast<Function*>(address_.load(std::memory_order_acquire));
  }

  // For the code that installs hooks; not a proxy's.
  void* address() const { return address_.load(std::memory_order_relaxed); }
  void Set(void* address) { address_.store(address, std::memory_order_release); }

 private:
  std::atomic<void*> address_{nullptr};
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_ORIGINAL_FUNCTION_H_
