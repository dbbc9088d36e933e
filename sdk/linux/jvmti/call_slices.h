// Shows sampled Java stacks in the trace: calls that two samples in a row share are one slice of
// the calling thread, as dev.jankbox.StackWatch does on Android. Threads: one; allocates.
#ifndef JANKBOX_SDK_LINUX_JVMTI_CALL_SLICES_H_
#define JANKBOX_SDK_LINUX_JVMTI_CALL_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sdk/linux/jvmti/sampled_calls.h"

namespace jankbox {

class CallSlices {
 public:
  using NameOf = std::function<std::string(const JavaCall& call)>;

  // Ends and begins slices so that those open are the calls of `stack`. `name_of` is asked once a
  // method.
  void Show(const SampledCalls::Stack& stack, const NameOf& name_of);
  // The message is over.
  void EndAll() { EndDownTo(0); }

 private:
  void EndDownTo(size_t left);

  std::unordered_map<void*, uint32_t> ids_;  // by method
  std::vector<uint32_t> open_;               // outermost first
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_JVMTI_CALL_SLICES_H_
