#include "tests/monitors/looper/sequences/wait_log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "monitors/looper/function_start.h"
#include "monitors/looper/user_terminal.h"

namespace jankbox {
namespace {

// All of a file of /proc, by system calls: read() is interposed.
std::string ReadAll(const char* path) {
  std::string text;
  char piece[4096];
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  for (long n; (n = syscall(SYS_read, fd, piece, sizeof(piece))) > 0;) {
    text.append(piece, static_cast<size_t>(n));
  }
  syscall(SYS_close, fd);
  return text;
}

uintptr_t EndOfMainStack() {
  const std::string maps = ReadAll("/proc/self/maps");
  const size_t stack = maps.find("[stack]");
  if (stack == std::string::npos) return 0;
  const size_t line = maps.rfind('\n', stack) + 1;
  const size_t dash = maps.find('-', line);
  return strtoull(maps.c_str() + dash + 1, nullptr, 16);
}

// The time that the thread has run, and has waited for a processor: a busy machine is no stall.
uint64_t WorkUs() {
  const std::string schedule = ReadAll("/proc/thread-self/schedstat");
  unsigned long long ran_ns = 0;
  unsigned long long delayed_ns = 0;
  sscanf(schedule.c_str(), "%llu %llu", &ran_ns, &delayed_ns);
  return (ClockNs(CLOCK_THREAD_CPUTIME_ID) + delayed_ns) / 1000;
}

template <typename T>
T* MapZeros() {
  void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

}  // namespace

bool WaitLog::Open(const char* path) {
  stack_end_ = EndOfMainStack();
  tables_ = MapZeros<Tables>();
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (stack_end_ == 0 || tables_ == nullptr || fd < 0 || ftruncate(fd, kMaxBytes) != 0) {
    return false;
  }
  void* file = mmap(nullptr, kMaxBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (file == MAP_FAILED) return false;
  header_ = static_cast<RawWaitHeader*>(file);
  header_->start_ns = MonotonicNs();
  last_work_us_ = WorkUs();
  bytes_ = static_cast<char*>(file) + sizeof(RawWaitHeader);
  return true;
}

void WaitLog::Put(uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes_[used_++] = static_cast<char>(number | 0x80);
  bytes_[used_++] = static_cast<char>(number);
}

void WaitLog::Put(std::string_view text) {
  Put(text.size());
  memcpy(bytes_ + used_, text.data(), text.size());
  used_ += text.size();
}

void WaitLog::Stamp(WaitRecord tag) {
  if (!HasRoom()) return;
  const uint64_t now_us = (MonotonicNs() - header_->start_ns) / 1000;
  const uint64_t work_us = WorkUs();
  Put(tag);
  Put(now_us - header_->last_us);
  Put(work_us - last_work_us_);
  last_work_us_ = work_us;
  header_->last_us = now_us;
  header_->bytes = used_;
}

// Which modules are there, and which descriptors are the user's terminal.
void WaitLog::PollProgram(uint64_t now_ns) {
  if (polled_ns_ != 0 && now_ns < polled_ns_ + kPollNs) return;
  polled_ns_ = now_ns;
  LoopModules::Refresh();
  const uint64_t terminals = UsersTerminals();
  if (terminals == terminals_) return;
  terminals_ = terminals;
  LoopWaits::SetTerminals(terminals);
  Put(WaitRecord::kTerminals);
  Put(terminals);
}

size_t WaitLog::ModuleNumber(const char* path) {
  const char* slash = strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  for (size_t i = 0; i < tables_->module_count; ++i) {
    if (strncmp(tables_->modules[i], name, sizeof(tables_->modules[i]) - 1) == 0) return i;
  }
  if (tables_->module_count == kMaxModules) return kMaxModules - 1;
  char* copy = tables_->modules[tables_->module_count];
  snprintf(copy, sizeof(tables_->modules[0]), "%s", name);
  Put(WaitRecord::kModule);
  Put(std::string_view(copy));
  return tables_->module_count++;
}

size_t WaitLog::SiteNumber(const void* call_site) {
  for (size_t i = 0; i < tables_->site_count; ++i) {
    if (tables_->sites[i].call_site == call_site) return i;
  }
  Dl_info module{};
  size_t number = 0;
  const auto address = reinterpret_cast<uintptr_t>(call_site);
  const auto function = reinterpret_cast<uintptr_t>(FunctionStart(call_site));
  uintptr_t base = 0;
  if (dladdr(call_site, &module) != 0 && module.dli_fname != nullptr) {
    number = ModuleNumber(module.dli_fname) + 1;
    base = reinterpret_cast<uintptr_t>(module.dli_fbase);
  }
  Put(WaitRecord::kSite);
  Put(number);
  Put(address - base);
  Put(function != 0 ? function - base + 1 : 0);
  const LoopModule known = ClassifyModule(module.dli_fname != nullptr ? module.dli_fname : "");
  const bool replies =
      known.kind == LoopModuleKind::kReplyOnly || known.kind == LoopModuleKind::kDisplay;
  const size_t at = std::min(tables_->site_count, kMaxSites - 1);
  tables_->sites[at] = {call_site, !replies, strcmp(known.loop_name, "glib") == 0};
  tables_->site_count = at + 1;
  return at;
}

void WaitLog::PutDescriptors(const WaitCall& call) {
  if (call.family == WaitFamily::kPump) {
    Put(std::string_view(call.pump_name));
  } else if (call.family == WaitFamily::kSelect) {
    Put(static_cast<uint64_t>(std::max(call.set_bits, 0)));
    for (const fd_set* set : call.sets) {
      const int bits = set != nullptr ? std::min(call.set_bits, int{FD_SETSIZE}) : 0;
      uint64_t count = 0;
      for (int fd = 0; fd < bits; ++fd) count += FD_ISSET(fd, set) ? 1 : 0;
      Put(set != nullptr ? count + 1 : 0);
      for (int fd = 0; fd < bits; ++fd) {
        if (FD_ISSET(fd, set)) Put(static_cast<uint64_t>(fd));
      }
    }
  } else {
    Put(static_cast<uint64_t>(call.fd + 1));
    Put(call.fd_count);
    for (size_t i = 0; i < call.fd_count; ++i) {
      int fd;
      memcpy(&fd, reinterpret_cast<const char*>(call.fds) + i * call.fd_stride, sizeof(fd));
      Put(static_cast<uint64_t>(std::max(fd + 1, 0)));
    }
  }
}

// Equal calls are one: the record that was just written is taken back.
size_t WaitLog::CallNumber(const WaitCall& call) {
  const size_t at = used_;
  Put(WaitRecord::kCall);
  Put(static_cast<uint64_t>(call.family));
  Put(call.returns_at_once ? 1 : 0);
  PutDescriptors(call);
  const size_t bytes = used_ - at;
  for (size_t i = 0; i < tables_->call_count; ++i) {
    const CallSeen& seen = tables_->calls[i];
    if (seen.bytes != bytes || memcmp(bytes_ + seen.at, bytes_ + at, bytes) != 0) continue;
    used_ = at;
    return i;
  }
  const size_t number = std::min(tables_->call_count, kMaxSites - 1);
  tables_->calls[number] = {at, bytes};
  tables_->call_count = number + 1;
  return number;
}

// In words below the end of the stack.
size_t WaitLog::DepthOf(const void* stack) const {
  const auto at = reinterpret_cast<uintptr_t>(stack);
  const size_t depth = (stack_end_ - at) / sizeof(uintptr_t);
  return at < stack_end_ && depth < kMaxRecordedDepth ? depth : 0;
}

// Of an address for which FunctionStart() knows one, from 1 on; 0: none.
uint32_t WaitLog::FunctionNumber(uintptr_t word) {
  const auto* address = reinterpret_cast<const void*>(word);
  const auto function = reinterpret_cast<uintptr_t>(FunctionStart(address));
  if (function == 0) return 0;
  for (size_t i = 0; i < tables_->function_count; ++i) {
    if (tables_->functions[i] == function) return static_cast<uint32_t>(i + 1);
  }
  Dl_info file{};
  if (tables_->function_count == kMaxSites || dladdr(address, &file) == 0) return 0;
  const size_t number = ModuleNumber(file.dli_fname);
  Put(WaitRecord::kFunction);
  Put(number);
  Put(function - reinterpret_cast<uintptr_t>(file.dli_fbase) + 1);
  tables_->functions[tables_->function_count] = function;
  return static_cast<uint32_t>(++tables_->function_count);
}

// A number that of this word's values only this one has, from 1 on.
uint32_t WaitLog::ValueNumber(size_t depth, uintptr_t word) {
  size_t at = ((word ^ depth << 40) * 0x9E3779B97F4A7C15) >> 42;
  ValueSeen* seen = &tables_->values[at];
  while (seen->number != 0 && (seen->word != word || seen->depth != depth)) {
    at = (at + 1) % kMaxValues;
    seen = &tables_->values[at];
  }
  if (seen->number == 0) {
    ++tables_->value_count;
    *seen = {word, static_cast<uint32_t>(depth), ++tables_->values_of[depth]};
  }
  return seen->number;
}

// Those of the tracked words that are not below this depth.
void WaitLog::FindChangedWords(size_t depth) {
  change_count_ = 0;
  for (size_t at = 0; at <= depth && change_count_ < std::size(tables_->changes); ++at) {
    if (tables_->tracked[at / 64] == 0) {
      at |= 63;
      continue;
    }
    if ((tables_->tracked[at / 64] >> (at % 64) & 1) == 0) continue;
    const auto* word =
        reinterpret_cast<const volatile uintptr_t*>(stack_end_ - at * sizeof(uintptr_t));
    const uint32_t value = ValueNumber(at, *word);
    if (value == tables_->last[at]) continue;
    tables_->last[at] = value;
    tables_->changes[change_count_++] = {static_cast<uint32_t>(at), value, FunctionNumber(*word)};
  }
}

// For each the words skipped since the one before, from the end of the stack on, and its value.
void WaitLog::PutChangedWords() {
  Put(change_count_);
  uint32_t before = 0;
  for (size_t i = 0; i < change_count_; ++i) {
    const Change& change = tables_->changes[i];
    Put(change.depth - before);
    Put(change.value << 1 | (change.function != 0 ? 1 : 0));
    if (change.function != 0) Put(change.function - 1);
    before = change.depth;
  }
}

size_t WaitLog::QtFrame(const void* stack) const {
  const auto* words = static_cast<const volatile uintptr_t*>(stack);
  for (size_t i = 0; i < kRecordedCallerWords; ++i) {
    const uintptr_t word = words[i];
    const LoopModule caller = LoopModules::Find(reinterpret_cast<const void*>(word));
    if (caller.kind == LoopModuleKind::kLoop && strcmp(caller.loop_name, "qt") == 0) return i + 1;
  }
  return 0;
}

void WaitLog::Wait(const WaitCall& call) {
  const size_t depth = DepthOf(call.stack);
  if (!HasRoom() || depth < kRecordedFrameWords || tables_->value_count > kMaxValues / 2) return;
  PollProgram(MonotonicNs());
  const size_t site = SiteNumber(call.call_site);
  const size_t number = CallNumber(call);
  const SiteSeen& seen = tables_->sites[site];
  for (size_t i = 0; seen.may_be_loop && i < kRecordedFrameWords; ++i) {
    tables_->tracked[(depth - i) / 64] |= uint64_t{1} << ((depth - i) % 64);
  }
  change_count_ = 0;  // nothing is read at the waits of modules that only wait for replies
  if (seen.may_be_loop) FindChangedWords(depth);
  Stamp(WaitRecord::kWait);
  Put(site);
  Put(depth);
  Put(number);
  Put(seen.is_glib ? QtFrame(call.stack) : 0);
  PutChangedWords();
  header_->bytes = used_;
}

}  // namespace jankbox
