// The blamed path of sampled stacks: for readers, and for the keys of the incident. Which frames
// are one function, and what is passed over, does not depend on .symtab or debug names: a stripped
// program has the path of an unstripped one. Sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_BLAME_BLAMED_STACK_H_
#define JANKBOX_DIAGNOSIS_BLAME_BLAMED_STACK_H_

#include <string>
#include <vector>

#include "report/report.h"
#include "tracer/unwind/resolved_frame.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

struct BlamedStack {
  std::vector<ReportFrame> frames;  // the heaviest path, innermost first
  // The innermost function of the app's own code; one without a name is "prog+0x11a0", its start.
  // Empty if there is none.
  std::string where;
  // The part of the path that most samples agree on, without what is passed over.
  std::vector<ReportFrame> own;       // innermost first
  std::vector<std::string> key_path;  // outermost first: build id and start of each function
};

// `samples` in the order of their times. Each counts for the time until the next one, since threads
// are not sampled evenly; for `most` at most, in the unit of their times: what a thread did while
// no sample was taken is not known.
BlamedStack FindBlamedStack(const std::vector<StackSample>& samples, const FrameTable& frames,
                            uint64_t most);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_BLAMED_STACK_H_
