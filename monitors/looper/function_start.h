// Where the function that contains an address begins, by the unwind tables of its module: two call
// sites in one function are told from two functions without symbols. And the module itself.
// NO-ALLOC, no lock, no system call, SIGNAL-SAFE.
#ifndef JANKBOX_MONITORS_LOOPER_FUNCTION_START_H_
#define JANKBOX_MONITORS_LOOPER_FUNCTION_START_H_

namespace jankbox {

// Null if the module has no sorted table (.eh_frame_hdr), or the C library does not find it
// without a lock (before glibc 2.35, and on Android). `address` is a return address.
const void* FunctionStart(const void* address);

// The path of the module that contains `address`, as the loader knows it: "" for the program. Null
// if there is none, and where FunctionStart() cannot ask either. REQUIRES that the module is not
// unloaded meanwhile.
const char* ModulePath(const void* address);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_FUNCTION_START_H_
