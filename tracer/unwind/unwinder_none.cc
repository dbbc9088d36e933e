// For builds without libunwind's headers: Android, other machines.
#include "tracer/unwind/unwinder.h"

namespace jankbox {

class Unwinder::Engine {};

Unwinder::Unwinder()
    : note_("Stacks are not unwound on this platform: samples carry the innermost address only.") {}

Unwinder::~Unwinder() = default;

void Unwinder::SetModules(const ModuleMap*) {}

void Unwinder::Unwind(const Registers& registers, const StackCopy&, StackSample* sample) {
  sample->depth = 0;
  sample->truncated = true;
  if (registers.Known(machine::kProgramCounter)) {
    sample->pcs[sample->depth++] = registers.Get(machine::kProgramCounter);
  }
}

}  // namespace jankbox
