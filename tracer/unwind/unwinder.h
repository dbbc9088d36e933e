// Unwinds copied stacks by the modules' .eh_frame (libunwind, loaded at run time apart from the
// host's symbols). Never touches memory that can vanish: stack bytes come from the copy, tables
// through safe_memory. One watcher thread owns it; no heap call per stack.
#ifndef JANKBOX_TRACER_UNWIND_UNWINDER_H_
#define JANKBOX_TRACER_UNWIND_UNWINDER_H_

#include <memory>
#include <string>

#include "tracer/unwind/machine.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

class Unwinder {
 public:
  Unwinder();
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  // Why there is no unwinding here, as a sentence; empty if there is.
  const std::string& note() const { return note_; }

  // The modules changed: forgets every table. `modules` must outlive its use.
  void SetModules(const ModuleMap* modules);

  // Fills pcs, depth and truncated; sets uncertain if a frame was not found only by .eh_frame.
  // Without an unwinder the innermost address is all there is, and the sample is truncated.
  void Unwind(const Registers& registers, const StackCopy& stack, StackSample* sample);

 private:
  class Engine;

  std::unique_ptr<Engine> engine_;
  std::string note_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_UNWINDER_H_
