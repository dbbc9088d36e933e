// How one thread of the recorded process is followed: breakpoints on the functions in which loops
// wait, with the thread's context switches. If the processor has no breakpoint left, or the thread
// reaches them too often, the switches and a look at /proc every 10 ms. A block that no look
// explained is taken for the loop's wait, unless perf may show the place of each block: then only
// one where a look has seen the loop wait is. The watching thread's.
#ifndef JANKBOX_TOOLS_ATTACH_WAIT_WATCH_H_
#define JANKBOX_TOOLS_ATTACH_WAIT_WATCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "tools/attach/loop_follower.h"
#include "tools/attach/target_memory.h"
#include "tools/attach/wait_call.h"
#include "tools/attach/wait_probes.h"
#include "tracer/sampling/proc_source.h"
#include "tracer/unwind/unwinder.h"

namespace jankbox::tools {

// The modules of the recorded process, and what is known of them; replaced when they change.
struct TargetCode {
  ModuleMap modules;
  std::vector<WaitFunction> wait_functions;
  uint64_t exit_function = 0;  // the address of exit(); 0: there is none
};

class WaitWatch {
 public:
  // `sink` outlives it. kPermissionDenied if the kernel does not permit perf.
  static Result<std::unique_ptr<WaitWatch>> Open(int32_t tid,
                                                 std::shared_ptr<const TargetCode> code,
                                                 DispatchSink* sink);

  void SetCode(std::shared_ptr<const TargetCode> code);

  // Passes on what happened up to now.
  void Follow();

  // What the thread was doing is no dispatch.
  void Forget(uint64_t now_ns) { follower_.OnLoss(now_ns); }

  // The process runs another program, of which nothing is known here.
  bool executed() const { return executed_; }

  // How long until the next Follow(), at most.
  uint64_t NextNs() const;

  // Readable when Follow() has much to do.
  int fd() const { return probes_->fd(); }
  const char* loop_name() const { return follower_.loop_name(); }
  // Waits are not seen by breakpoints, but by switches and looks at /proc.
  bool polled() const { return polled_; }
  // What runs began while no breakpoint was there: it may be an exit().
  bool may_exit_unseen() const { return polled_ || probed_again_ns_ != 0; }
  // What it does not see for want of breakpoints; "": nothing.
  const char* unseen() const;
  bool running() const { return follower_.running(); }
  uint64_t running_since_ns() const { return follower_.running_since_ns(); }
  // Records that the kernel had no room for.
  uint64_t losses() const { return losses_; }
  // Dispatches that were forgotten since they may have been several, without a block between them.
  uint64_t unsure() const { return unsure_; }

 private:
  // What the thread is blocked in, as far as looks at /proc say. kElsewhere: not where its loop
  // waits, as far as its place says.
  enum class Block { kNone, kUnknown, kElsewhere, kLoop, kOther };

  // Where a thread left its CPU, or is blocked.
  struct Place {
    uint64_t pc = 0;  // 0: not known
    uint64_t stack = 0;
    bool operator==(const Place&) const = default;
  };

  WaitWatch(int32_t tid, std::unique_ptr<WaitProbes> probes, DispatchSink* sink);

  void Probe();
  void Poll();
  // Polls a thread that reaches breakpoints too often, and no longer if it might reach them without
  // a block.
  void Relieve(uint64_t now_ns);
  void ProbeAgain(uint64_t now_ns);
  void CountHits(uint64_t now_ns);
  void TakeFirst(uint64_t ns);
  void TakeEvents();
  void Take(const ProbeEvent& event);
  void TakeReached(const ProbeEvent& event);
  void TakeSwitch(const ProbeEvent& event, const Place& place);
  Block BlockAt(const Place& place, uint64_t ns);
  // The wait function that contains an address; null: none.
  const WaitFunction* FunctionAt(uint64_t pc) const;
  // Puts a breakpoint on it before all others.
  void Prefer(uint64_t function);
  void Explain();
  bool FindCaller(const ProcSource::View& view, uint64_t* call_site, uint64_t* stack);
  void Ask(uint64_t now_ns);
  // Whether it is blocked in the loop's wait.
  bool IsInLoop(ProcSource::View* view);
  void Learn(uint64_t now_ns);
  // Whether it waits for what the user types, which is idle.
  bool TakeTerminalRead(const ProcSource::View& view, uint64_t since_ns);
  bool LookAtCall(ProcSource::View* view, size_t stack_bytes);

  std::unique_ptr<WaitProbes> probes_;
  std::shared_ptr<const TargetCode> code_;
  TargetMemory memory_;
  LoopFollower follower_;
  TargetWait wait_;
  ProcSource proc_;
  Unwinder unwinder_;
  std::vector<std::byte> stack_;
  std::vector<uint64_t> functions_;  // addresses, the likeliest loop's first
  uint64_t loop_function_ = 0;       // that the loop waits in; 0: not known
  uint64_t learned_ns_ = 0;
  uint64_t losses_ = 0;
  uint64_t unsure_ = 0;
  uint64_t switched_out_ns_ = 0;  // for the last time
  bool polled_ = false;
  bool executed_ = false;
  Block block_ = Block::kNone;
  uint64_t block_ns_ = 0;    // since when
  Place place_;              // where it is leaving its CPU, if that is the last event
  Place loop_place_;         // where a look saw it in the loop's wait
  bool relieved_ = false;    // polled, with breakpoints left
  bool sees_places_ = true;  // of the blocks of a thread that is relieved
  uint64_t hits_ = 0;        // of breakpoints, since
  uint64_t hits_ns_ = 0;
  uint64_t hits_span_ns_ = 0;     // how long they are counted
  uint64_t relieved_ns_ = 0;      // when it was for the last time
  uint64_t probed_again_ns_ = 0;  // and when not any more
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_WAIT_WATCH_H_
