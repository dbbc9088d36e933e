#include "tracer/sampling/thread_dump.h"

#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/recorded_process.h"
#include "tracer/sampling/fd_class.h"

namespace jankbox {
namespace {

constexpr size_t kStackBytes = 128 * 1024;  // as the sampler's of blocked threads

}  // namespace

std::vector<ThreadLook> LookAtThreads(size_t most, size_t* total) {
  std::vector<ThreadLook> looks;
  const std::string tasks = std::string(RecordedProcess::folder()) + "/task";
  const Result<std::vector<std::string>> tids = ListDirectory(tasks);
  if (!tids.ok()) return looks;
  if (total != nullptr) *total = tids->size();
  for (const std::string& tid : tids.value()) {
    if (looks.size() == most) break;
    const std::string folder = tasks + "/" + tid;
    ThreadLook look;
    look.tid = atoi(tid.c_str());
    look.name = ReadProcFile(folder + "/comm", 64);
    while (!look.name.empty() && look.name.back() == '\n') look.name.pop_back();
    look.state = ParseThreadState(ReadProcFile(folder + "/stat", 512));
    if (look.state == '?') continue;  // it has ended
    if (!ParseSystemCallLine(ReadProcFile(folder + "/syscall", 256), &look.call)) {
      look.call.running = true;
    }
    looks.push_back(std::move(look));
  }
  return looks;
}

StackTaker::StackTaker() : modules_(ModuleMap::Load()), buffer_(kStackBytes) {
  unwinder_.SetModules(&modules_);
}

bool StackTaker::Take(int32_t tid, StackSample* sample) {
  ProcSource source(tid);
  ProcSource::View view;
  if (source.LookAt(buffer_, &view) != ProcSource::Look::kBlocked) return false;
  *sample = StackSample();
  sample->time_ns = MonotonicNs();
  sample->tid = tid;
  sample->source = SampleSource::kProc;
  sample->state = view.state;
  sample->syscall = static_cast<int32_t>(view.call.number);
  if (TakesFd(sample->syscall)) sample->fd_class = ClassifyFd(view.call.first_argument);
  sample->truncated = true;  // until it is unwound
  unwinder_.Unwind(view.registers, view.stack, sample);
  if (modules_.Stale()) sample->uncertain = true;
  return true;
}

}  // namespace jankbox
