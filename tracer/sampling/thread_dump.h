// All threads of this process at one moment: who they are, what they wait in, and their stacks, for
// as long as there is time. Without a signal: a running thread has no stack. Lives on the thread
// that makes it; allocates.
#ifndef JANKBOX_TRACER_SAMPLING_THREAD_DUMP_H_
#define JANKBOX_TRACER_SAMPLING_THREAD_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracer/sampling/proc_source.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/stack_sample.h"
#include "tracer/unwind/unwinder.h"

namespace jankbox {

struct ThreadLook {
  int32_t tid = 0;
  std::string name;
  char state = '?';
  SystemCallLine call;  // `running` if it is in none, or none can be seen
};

// The threads of this process in the kernel's order, at most `most` of them; `total`, if not null,
// is how many there are. Some 30 us a thread.
std::vector<ThreadLook> LookAtThreads(size_t most, size_t* total);

// Takes the stacks of blocked threads, one after the other.
class StackTaker {
 public:
  StackTaker();

  // False if it runs, has woken meanwhile, or is gone.
  bool Take(int32_t tid, StackSample* sample);

 private:
  ModuleMap modules_;
  Unwinder unwinder_;
  std::vector<std::byte> buffer_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_THREAD_DUMP_H_
