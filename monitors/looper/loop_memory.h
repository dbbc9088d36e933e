// What LoopWaits reads of a watched thread, if that belongs to another process: words of its stack,
// and what an address belongs to. Called while a wait is decided on, by the one who decides.
#ifndef JANKBOX_MONITORS_LOOPER_LOOP_MEMORY_H_
#define JANKBOX_MONITORS_LOOPER_LOOP_MEMORY_H_

#include <cstdint>
#include <span>

#include "monitors/looper/loop_modules.h"

namespace jankbox {

class LoopMemory {
 public:
  // The words from `at` on. False if not all of them can be read; `words` is undefined then.
  virtual bool ReadStack(const void* at, std::span<uintptr_t> words) const = 0;
  // As FunctionStart().
  virtual const void* StartOfFunction(const void* address) const = 0;
  // As LoopModules::Find().
  virtual LoopModule FindModule(const void* address) const = 0;

 protected:
  ~LoopMemory() = default;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_LOOP_MEMORY_H_
