#include "tools/attach/wait_watch.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kFollowNs = 50 * kNsPerMs;  // as the looks at an idle thread
constexpr uint64_t kPollNs = 10 * kNsPerMs;
constexpr uint64_t kLearnNs = 40 * kNsPerMs;
// Hits of breakpoints a second, each of which costs the thread up to 20 us (decision 20).
constexpr uint64_t kManyHits = 500;
constexpr uint64_t kLeastSpanNs = 100 * kNsPerMs;
constexpr uint64_t kMostSpanNs = 64 * kNsPerSecond;
// A relief that was so short was none: the loop goes round without a block.
constexpr uint64_t kShortReliefNs = 100 * kNsPerMs;
// The longest dispatch of a loop that is polled because its dispatches are short.
constexpr uint64_t kShortDispatchNs = 5 * kNsPerMs;
// One that is longer is looked at before it ends, unless `attach` gets no CPU.
constexpr uint64_t kSureDispatchNs = kShortDispatchNs + 2 * kPollNs;
constexpr uint64_t kCalmNs = kNsPerSecond;
constexpr size_t kStackBytes = 16 * 1024;
// The frames of a wait function and what it calls, select's on x86-64 being the largest.
constexpr uint64_t kWaitFrameBytes = 512;

uint64_t AddressOf(const void* place) { return reinterpret_cast<uintptr_t>(place); }

}  // namespace

WaitWatch::WaitWatch(int32_t tid, std::unique_ptr<WaitProbes> probes, DispatchSink* sink)
    : probes_(std::move(probes)), follower_(&memory_, sink), proc_(tid), stack_(kStackBytes) {}

Result<std::unique_ptr<WaitWatch>> WaitWatch::Open(int32_t tid,
                                                   std::shared_ptr<const TargetCode> code,
                                                   DispatchSink* sink) {
  Result<std::unique_ptr<WaitProbes>> probes = WaitProbes::Open(tid);
  if (!probes.ok()) return probes.status();
  std::unique_ptr<WaitWatch> watch(new WaitWatch(tid, std::move(probes.value()), sink));
  watch->SetCode(std::move(code));
  return watch;
}

void WaitWatch::SetCode(std::shared_ptr<const TargetCode> code) {
  code_ = std::move(code);
  memory_.SetModules(&code_->modules);
  unwinder_.SetModules(&code_->modules);
  // What was learnt of their order stays.
  std::vector<uint64_t> addresses;
  for (const WaitFunction& function : code_->wait_functions) addresses.push_back(function.address);
  const auto known = [&](uint64_t address) {
    return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
  };
  std::erase_if(functions_, [&](uint64_t address) { return !known(address); });
  for (const uint64_t address : addresses) {
    if (std::find(functions_.begin(), functions_.end(), address) == functions_.end()) {
      functions_.push_back(address);
    }
  }
  Probe();
}

// The likeliest function, the start of the program's end, which is no dispatch, and as many more
// functions as there are breakpoints.
void WaitWatch::Probe() {
  if (functions_.empty()) return Poll();
  if (relieved_) return;
  std::vector<uint64_t> addresses = functions_;
  const bool knows_loop = loop_name()[0] != '\0';
  if (knows_loop && code_->exit_function != 0) {
    addresses.insert(addresses.begin() + 1, code_->exit_function);
  }
  if (probes_->Probe(addresses) == 0) return Poll();
  probes_->SeePlaces(false);
  polled_ = false;
}

void WaitWatch::Poll() {
  probes_->Probe({});
  polled_ = true;
}

void WaitWatch::Relieve(uint64_t now_ns) {
  if (now_ns < hits_ns_ + hits_span_ns_) return;
  if (hits_ * kNsPerSecond < kManyHits * (now_ns - hits_ns_)) return CountHits(now_ns);
  ProcSource::View view;
  if (!IsInLoop(&view)) return;
  sees_places_ = probes_->SeePlaces(true);
  loop_place_ = {view.call.pc, view.call.sp};
  block_ = Block::kLoop;
  block_ns_ = now_ns;
  Poll();
  relieved_ = true;
  relieved_ns_ = now_ns;
}

void WaitWatch::CountHits(uint64_t now_ns) {
  hits_ = 0;
  hits_ns_ = now_ns;
  hits_span_ns_ = kLeastSpanNs;
}

void WaitWatch::ProbeAgain(uint64_t now_ns) {
  if (!relieved_) return;
  const bool running = follower_.running();
  const bool calm = block_ == Block::kLoop && now_ns > block_ns_ + kCalmNs;
  const bool long_one = running && now_ns >= follower_.running_since_ns() + kShortDispatchNs;
  // Its shorter blocks before this one may not have been the loop's, either.
  const bool in_message = block_ == Block::kOther && !sees_places_;
  if (!calm && !long_one && !in_message) return;
  relieved_ = false;
  if (running) probed_again_ns_ = now_ns;
  // It may have waited before the breakpoints were there: it is asked.
  follower_.OnDoubt(now_ns);
  Probe();
  const uint64_t longer_ns = std::min(2 * hits_span_ns_, kMostSpanNs);
  CountHits(now_ns);
  if (now_ns < relieved_ns_ + kShortReliefNs) hits_span_ns_ = longer_ns;
}

uint64_t WaitWatch::NextNs() const { return polled_ ? kPollNs : kFollowNs; }

const char* WaitWatch::unseen() const {
  if (polled_ && !relieved_) {
    return "dispatches between waits of less than 10 ms (no hardware breakpoints)";
  }
  if (sees_places_) return "";
  return "dispatches of several waits of less than 10 ms, of a loop that waits more than 500 times "
         "a second (kernel.perf_event_paranoid is above 1)";
}

void WaitWatch::Follow() {
  const uint64_t now_ns = MonotonicNs();
  TakeEvents();
  if (executed_) return;
  if (polled_) {
    Explain();
    return ProbeAgain(now_ns);
  }
  Ask(now_ns);
  Learn(now_ns);
  if (!polled_) Relieve(now_ns);
}

void WaitWatch::TakeEvents() {
  ProbeEvent event;
  while (!executed_ && probes_->Next(&event)) Take(event);
}

void WaitWatch::Take(const ProbeEvent& event) {
  const Place place = std::exchange(place_, Place());
  switch (event.kind) {
    case ProbeEvent::Kind::kReached:
      return TakeReached(event);
    case ProbeEvent::Kind::kLeaves:
      place_ = {event.address, event.sample.registers.Get(machine::kStackPointer)};
      return;
    case ProbeEvent::Kind::kSwitchedOut:
    case ProbeEvent::Kind::kSwitchedIn:
      return TakeSwitch(event, place);
    case ProbeEvent::Kind::kExecuted:
      executed_ = true;
      return follower_.OnLoss(event.time_ns);
    case ProbeEvent::Kind::kLost:
      ++losses_;
      block_ = Block::kNone;
      return follower_.OnLoss(MonotonicNs());
  }
}

void WaitWatch::TakeReached(const ProbeEvent& event) {
  if (event.address == code_->exit_function) return follower_.OnExit(event.time_ns);
  const WaitFunction* function = FunctionAt(event.address);
  if (function == nullptr || function->address != event.address) return;
  const Registers& registers = event.sample.registers;
  memory_.SetStack(event.sample.stack);
  uint64_t arguments[6];
  for (size_t i = 0; i < 6; ++i) arguments[i] = registers.Get(machine::kArgumentRegisters[i]);
  uint64_t stack = registers.Get(machine::kStackPointer);
  uint64_t call_site = 0;
  if constexpr (machine::kCallsPush) {
    memory_.Read(stack, &call_site, sizeof(call_site));
    stack += sizeof(call_site);
  } else {
    call_site = registers.Get(machine::kReturnRegister);
  }
  if (stack == AddressOf(follower_.wait_stack())) {
    ++hits_;
    TakeFirst(event.time_ns);
  }
  wait_.Read(function->form, arguments, call_site, stack, memory_);
  follower_.OnCall(event.time_ns, wait_.call(), memory_.FindModule(wait_.call().call_site));
  memory_.SetStack({});
  if (follower_.waiting() && function->address != loop_function_) {
    loop_function_ = function->address;
    Prefer(function->address);
  }
}

// The loop waits, for the first time since it is probed again: if that was at once, what ran was
// several dispatches without a block between them.
void WaitWatch::TakeFirst(uint64_t ns) {
  const uint64_t since_ns = std::exchange(probed_again_ns_, 0);
  if (since_ns == 0 || !follower_.running() || follower_.running_since_ns() > since_ns) return;
  if (ns >= since_ns + kShortDispatchNs) return;
  if (ns > follower_.running_since_ns() + kSureDispatchNs) ++unsure_;
  follower_.OnLoss(ns);
}

const WaitFunction* WaitWatch::FunctionAt(uint64_t pc) const {
  for (const WaitFunction& function : code_->wait_functions) {
    if (pc - function.address < function.size) return &function;
  }
  return nullptr;
}

void WaitWatch::Prefer(uint64_t function) {
  std::erase(functions_, function);
  functions_.insert(functions_.begin(), function);
  Probe();
}

void WaitWatch::TakeSwitch(const ProbeEvent& event, const Place& place) {
  const bool out = event.kind == ProbeEvent::Kind::kSwitchedOut;
  if (out) switched_out_ns_ = event.time_ns;
  if (!polled_) {
    return out ? follower_.OnSwitchOut(event.preempted) : follower_.OnSwitchIn(event.time_ns);
  }
  if (out && !event.preempted) {
    block_ = BlockAt(place, event.time_ns);
    block_ns_ = event.time_ns;
  }
  if (out) return;
  if (block_ == Block::kUnknown) follower_.OnUnknownBlock(block_ns_);
  if (block_ == Block::kUnknown || block_ == Block::kLoop) follower_.OnReturn(event.time_ns);
  block_ = Block::kNone;
}

WaitWatch::Block WaitWatch::BlockAt(const Place& place, uint64_t ns) {
  if (!relieved_) return Block::kUnknown;
  const bool is_known = place.pc != 0;
  if (is_known && place != loop_place_) return Block::kElsewhere;
  // Nobody looked in time whether it goes round without a block.
  if (follower_.running() && ns > follower_.running_since_ns() + kSureDispatchNs) {
    ++unsure_;
    follower_.OnLoss(ns);
  }
  if (!is_known) return Block::kUnknown;
  follower_.OnLoopBlock(ns);
  return Block::kLoop;
}

bool WaitWatch::LookAtCall(ProcSource::View* view, size_t stack_bytes) {
  const std::span<std::byte> buffer = std::span(stack_).first(stack_bytes);
  return proc_.LookAt(buffer, view) == ProcSource::Look::kBlocked && proc_.sees_system_calls();
}

bool WaitWatch::TakeTerminalRead(const ProcSource::View& view, uint64_t since_ns) {
  const bool reads = view.call.number == SYS_read || view.call.number == SYS_readv;
  const int fd = static_cast<int>(view.call.first_argument);
  if (!reads || !LoopWaits::IsTerminal(fd)) return false;
  WaitCall call;
  call.stack = follower_.wait_stack();
  call.family = WaitFamily::kRead;
  call.fd = fd;
  follower_.OnCall(since_ns, call, {});
  if (!follower_.waiting()) return false;
  follower_.OnSwitchOut(/*preempted=*/false);
  return true;
}

// Without breakpoints: what the thread is blocked in now.
void WaitWatch::Explain() {
  if (block_ != Block::kUnknown && block_ != Block::kElsewhere) return;
  const uint64_t since_ns = block_ns_;
  ProcSource::View view;
  const bool blocked = LookAtCall(&view, kStackBytes);
  TakeEvents();
  if (!blocked || block_ == Block::kNone || block_ns_ != since_ns) return;  // another by now
  const std::optional<WaitForm> form = WaitFormOf(view.call.number);
  if (!form) {
    block_ = TakeTerminalRead(view, since_ns) ? Block::kLoop : Block::kOther;
    return;
  }
  uint64_t call_site = 0;
  uint64_t stack = 0;
  if (!FindCaller(view, &call_site, &stack)) {
    block_ = Block::kUnknown;
    return follower_.OnUnknownBlock(since_ns);
  }
  // It blocks: a timeout that is not among the arguments that are known is none of 0.
  const uint64_t arguments[6] = {
      view.call.first_argument, view.call.second_argument, view.call.third_argument, 1, 0, 0};
  wait_.Read(*form, arguments, call_site, stack, memory_);
  follower_.OnCall(since_ns, wait_.call(), memory_.FindModule(wait_.call().call_site));
  block_ = follower_.waiting() ? Block::kLoop : Block::kOther;
}

// The call of the wait function: the innermost frame outside of the module that makes the system
// call.
bool WaitWatch::FindCaller(const ProcSource::View& view, uint64_t* call_site, uint64_t* stack) {
  StackSample sample;
  unwinder_.Unwind(view.registers, view.stack, &sample);
  const Module* library = code_->modules.Find(view.call.pc);
  for (uint32_t i = 1; i < sample.depth; ++i) {
    if (code_->modules.Find(sample.pcs[i]) == library) continue;
    *call_site = sample.pcs[i] + 1;
    break;
  }
  if (*call_site == 0) return false;
  // Below where it was pushed there may be a copy of it that an earlier call left.
  const size_t size = std::min<size_t>(view.stack.bytes.size(), kWaitFrameBytes);
  for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, view.stack.bytes.data() + at, sizeof(word));
    if (word != *call_site) continue;
    const uint64_t above = view.stack.base + at + sizeof(word);
    if (*stack == 0 || above == AddressOf(follower_.wait_stack())) *stack = above;
  }
  return *stack != 0;
}

// Whether the thread is still in the loop's wait, if nothing that was seen says so.
void WaitWatch::Ask(uint64_t now_ns) {
  if (!follower_.IsDoubtful(now_ns)) return;
  ProcSource::View view;
  follower_.OnAnswer(now_ns, IsInLoop(&view));
}

bool WaitWatch::IsInLoop(ProcSource::View* view) {
  const bool blocked = LookAtCall(view, 0);
  const uint64_t stack = AddressOf(follower_.wait_stack());
  const WaitFunction* function = blocked ? FunctionAt(view->call.pc) : nullptr;
  return function != nullptr && function->address == loop_function_ && view->call.sp < stack &&
         view->call.sp + kWaitFrameBytes >= stack;
}

// A thread that is blocked in a wait function without a breakpoint may be in its loop: the function
// is the likeliest from now on, and what runs is no dispatch that anyone should be blamed for.
void WaitWatch::Learn(uint64_t now_ns) {
  if (follower_.waiting() || now_ns < learned_ns_ + kLearnNs) return;
  learned_ns_ = now_ns;
  ProcSource::View view;
  if (!LookAtCall(&view, 0) || TakeTerminalRead(view, switched_out_ns_)) return;
  if (!WaitFormOf(view.call.number)) return;
  const WaitFunction* function = FunctionAt(view.call.pc);
  if (function == nullptr) {
    follower_.OnLoss(now_ns);
    return Poll();  // the program's own system call
  }
  if (probes_->Probes(function->address)) return;
  follower_.OnLoss(now_ns);
  Prefer(function->address);
}

}  // namespace jankbox::tools
