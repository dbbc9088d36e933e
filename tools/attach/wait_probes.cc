#include "tools/attach/wait_probes.h"

#include <linux/hw_breakpoint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace jankbox::tools {
namespace {

// What LoopWaits compares of the frame of a wait's caller, and the return address on x86-64.
constexpr uint32_t kSampledStackBytes = 33 * sizeof(uint64_t);
// Some 500 calls: they are read every 50 ms, or when an eighth of it is full.
constexpr size_t kLargestRing = 256 * 1024;
constexpr size_t kSmallestRing = 64 * 1024;
constexpr uint64_t kSampleType =
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

perf_event_attr CommonAttributes() {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.sample_type = kSampleType;
  attributes.sample_regs_user = machine::kPerfRegisterMask;
  attributes.sample_stack_user = kSampledStackBytes;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.sample_id_all = 1;
  attributes.watermark = 1;
  attributes.wakeup_watermark = kSmallestRing / 2;
  return attributes;
}

// A sample each time it happens, once its records go to the common ring.
perf_event_attr EachTime(uint32_t type) {
  perf_event_attr attributes = CommonAttributes();
  attributes.type = type;
  attributes.sample_period = 1;
  attributes.disabled = 1;
  return attributes;
}

ScopedFd OpenEvent(perf_event_attr attributes, int32_t tid) {
  return ScopedFd(static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

ScopedFd OpenSwitches(int32_t tid) {
  perf_event_attr attributes = CommonAttributes();
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.context_switch = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  return OpenEvent(attributes, tid);
}

ScopedFd OpenBreakpoint(int32_t tid, uint64_t address) {
  perf_event_attr attributes = EachTime(PERF_TYPE_BREAKPOINT);
  attributes.bp_type = HW_BREAKPOINT_X;
  attributes.bp_addr = address;
  attributes.bp_len = sizeof(long);
  return OpenEvent(attributes, tid);
}

ScopedFd OpenPlaces(int32_t tid) {
  perf_event_attr attributes = EachTime(PERF_TYPE_SOFTWARE);
  attributes.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  attributes.exclude_kernel = 0;  // where all switches are
  attributes.sample_stack_user = 0;
  return OpenEvent(attributes, tid);
}

// Of a record other than a sample, which ends with TID and TIME.
uint64_t TimeOf(std::span<const std::byte> record) {
  uint64_t time_ns = 0;
  constexpr size_t kLeastBytes = sizeof(perf_event_header) + 2 * sizeof(uint64_t);
  if (record.size() < kLeastBytes) return 0;
  memcpy(&time_ns, record.data() + record.size() - sizeof(time_ns), sizeof(time_ns));
  return time_ns;
}

}  // namespace

Result<std::unique_ptr<WaitProbes>> WaitProbes::Open(int32_t tid) {
  ScopedFd switches = OpenSwitches(tid);
  if (!switches.valid()) return Status::FromErrno(errno, "perf_event_open");
  std::unique_ptr<WaitProbes> probes(new WaitProbes(tid, std::move(switches)));
  Status mapped = probes->ring_.Map(probes->switches_.get(), kLargestRing, kSmallestRing);
  if (!mapped.ok()) return mapped;
  return probes;
}

size_t WaitProbes::Probe(std::span<const uint64_t> addresses) {
  std::erase_if(breakpoints_, [&](const Breakpoint& breakpoint) {
    return std::find(addresses.begin(), addresses.end(), breakpoint.address) == addresses.end();
  });
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (Probes(addresses[i])) continue;
    // For want of room, in place of one that is wanted less.
    while (!Add(addresses[i])) {
      if (!RemoveOneOf(addresses.subspan(i + 1))) return breakpoints_.size();
    }
  }
  return breakpoints_.size();
}

bool WaitProbes::Enable(const ScopedFd& event) const {
  return event.valid() && ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, switches_.get()) == 0 &&
         ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) == 0;
}

bool WaitProbes::Add(uint64_t address) {
  ScopedFd event = OpenBreakpoint(tid_, address);
  if (!Enable(event)) return false;
  breakpoints_.push_back({address, std::move(event)});
  return true;
}

bool WaitProbes::SeePlaces(bool on) {
  if (!on) places_.Reset();
  if (!on || places_.valid()) return true;
  ScopedFd event = OpenPlaces(tid_);
  if (!Enable(event)) return false;
  places_ = std::move(event);
  return true;
}

bool WaitProbes::RemoveOneOf(std::span<const uint64_t> addresses) {
  const auto at =
      std::find_if(breakpoints_.begin(), breakpoints_.end(), [&](const auto& breakpoint) {
        return std::find(addresses.begin(), addresses.end(), breakpoint.address) != addresses.end();
      });
  if (at == breakpoints_.end()) return false;
  breakpoints_.erase(at);
  return true;
}

bool WaitProbes::Probes(uint64_t address) const {
  return std::any_of(breakpoints_.begin(), breakpoints_.end(),
                     [&](const Breakpoint& breakpoint) { return breakpoint.address == address; });
}

bool WaitProbes::Next(ProbeEvent* event) {
  for (;;) {
    const std::span<const std::byte> record = ring_.Next();
    if (record.empty()) return false;
    perf_event_header header;
    memcpy(&header, record.data(), sizeof(header));
    *event = ProbeEvent();
    if (header.type == PERF_RECORD_SWITCH) {
      const bool out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
      event->kind = out ? ProbeEvent::Kind::kSwitchedOut : ProbeEvent::Kind::kSwitchedIn;
      event->preempted = (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
      event->time_ns = TimeOf(record);
      return true;
    }
    if (header.type == PERF_RECORD_SAMPLE && ParsePerfSample(record, &event->sample)) {
      // Only a breakpoint's has a stack.
      event->kind = event->sample.stack.bytes.empty() ? ProbeEvent::Kind::kLeaves
                                                      : ProbeEvent::Kind::kReached;
      event->time_ns = event->sample.time_ns;
      event->address = event->sample.registers.Get(machine::kProgramCounter);
      return true;
    }
    if (header.type == PERF_RECORD_COMM && (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0) {
      event->kind = ProbeEvent::Kind::kExecuted;
      event->time_ns = TimeOf(record);
      return true;
    }
    if (LostRecords(record) != 0) return true;
  }
}

}  // namespace jankbox::tools
