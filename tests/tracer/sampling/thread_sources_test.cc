// The pieces below the sampler: what /proc says, perf's records, safe reads, descriptors, the
// signal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "base/clock.h"
#include "base/scoped_fd.h"
#include "tests/emulator.h"
#include "tests/tracer/sampling/call_chains.h"
#include "tests/tracer/sampling/sampled_thread.h"
#include "tracer/sampling/fd_class.h"
#include "tracer/sampling/perf_source.h"
#include "tracer/sampling/proc_source.h"
#include "tracer/sampling/signal_source.h"
#include "tracer/unwind/safe_memory.h"
#include "tracer/unwind/stack_bounds.h"

namespace jankbox {
namespace {

using FdClass = StackSample::FdClass;

uint64_t AddressOf(const void* object) { return reinterpret_cast<uintptr_t>(object); }

TEST(SystemCallLine, ThreeFormsAreRead) {
  SystemCallLine line;
  ASSERT_TRUE(ParseSystemCallLine("running\n", &line));
  EXPECT_TRUE(line.running);
  ASSERT_TRUE(ParseSystemCallLine(
      "232 0x5 0x7f00 0x40 0xffffffff 0x0 0x8 0x7ffc7d92fc88 0x7f86e270e2ad\n", &line));
  EXPECT_FALSE(line.running);
  EXPECT_EQ(line.number, 232);
  EXPECT_EQ(line.first_argument, 5u);
  EXPECT_EQ(line.sp, 0x7ffc7d92fc88u);
  EXPECT_EQ(line.pc, 0x7f86e270e2adu);
  ASSERT_TRUE(ParseSystemCallLine("-1 0x7ffc7d92fc88 0x7f86e270e2ad", &line));
  EXPECT_EQ(line.number, -1);
  EXPECT_EQ(line.sp, 0x7ffc7d92fc88u);
}

TEST(SystemCallLine, AnythingElseIsRefused) {
  SystemCallLine line;
  for (const char* text :
       {"", "\n", "runnin", "running 1", "0", "-1", "-1 0x1", "-1 0x1 0x2 0x3", "-2 0x1 0x2",
        "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7", "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9",
        "x 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8", "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0xg",
        "0 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x11112222333344445"}) {
    EXPECT_FALSE(ParseSystemCallLine(text, &line)) << text;
  }
}

TEST(ThreadState, IsTheLetterAfterTheLastBracket) {
  EXPECT_EQ(ParseThreadState("12 (a) b) c) D 1 2 3"), 'D');
  EXPECT_EQ(ParseThreadState("12 (name) S 1"), 'S');
  for (const char* text : {"", "12 (name", "12 (name)", "12 (name) "}) {
    EXPECT_EQ(ParseThreadState(text), '?') << text;
  }
}

TEST(SafeMemory, UnmappedPagesAndOverflowAreShortReads) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 'x', 2 * page);
  ASSERT_EQ(munmap(static_cast<char*>(memory) + page, page), 0);
  const uint64_t start = AddressOf(memory);
  char bytes[64] = {};
  EXPECT_EQ(ReadOwnMemory(start, bytes, sizeof(bytes)), sizeof(bytes));
  EXPECT_EQ(bytes[63], 'x');
  EXPECT_EQ(ReadOwnMemory(start + page - 10, bytes, sizeof(bytes)), 10u);
  EXPECT_EQ(ReadOwnMemory(start + page, bytes, sizeof(bytes)), 0u);
  EXPECT_EQ(ReadOwnMemory(UINT64_MAX - 3, bytes, sizeof(bytes)), 0u);
  EXPECT_EQ(ReadOwnMemory(8, bytes, sizeof(bytes)), 0u);

  BlockCache cache(4 * page);
  EXPECT_TRUE(cache.Read(start + page - 64, bytes, 64));
  EXPECT_FALSE(cache.Read(start + page - 63, bytes, 64));
  EXPECT_FALSE(cache.Read(UINT64_MAX - 3, bytes, 64));
  EXPECT_FALSE(cache.Read(UINT64_MAX, bytes, 1));
  EXPECT_TRUE(cache.Read(start, bytes, 64));
  munmap(memory, page);
  EXPECT_TRUE(cache.Read(start, bytes, 64)) << "kept until invalidated";
  cache.Invalidate();
  EXPECT_FALSE(cache.Read(start, bytes, 64));
}

TEST(BlockCache, ReadsAcrossBlocksWithFewSlots) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<uint8_t> memory(8 * page);
  std::iota(memory.begin(), memory.end(), uint8_t{0});
  BlockCache cache(1);  // few slots: each block evicts one
  std::vector<uint8_t> copy(memory.size());
  ASSERT_TRUE(cache.Read(AddressOf(memory.data()), copy.data(), copy.size()));
  EXPECT_EQ(copy, memory);
}

TEST(BlockCache, EndOfItsSourceIsRead) {
  constexpr uint64_t kEnd = 700;
  int reads = 0;
  BlockCache cache(1 << 16, [&reads](uint64_t address, void* into, size_t size) {
    ++reads;
    if (address + size > kEnd) return false;
    std::memset(into, 'x', size);
    return true;
  });
  char bytes[100] = {};
  EXPECT_TRUE(cache.Read(kEnd - sizeof(bytes), bytes, sizeof(bytes)));
  EXPECT_EQ(bytes[99], 'x');
  EXPECT_FALSE(cache.Read(kEnd - sizeof(bytes) + 1, bytes, sizeof(bytes)));
  EXPECT_TRUE(cache.Read(0, bytes, sizeof(bytes)));
  reads = 0;
  EXPECT_TRUE(cache.Read(200, bytes, sizeof(bytes)));
  EXPECT_EQ(reads, 0) << "it is kept";
}

TEST(StackBounds, EndIsThatOfTheMapping) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory = static_cast<char*>(
      mmap(nullptr, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + page, 2 * page, PROT_READ | PROT_WRITE), 0);
  StackBounds bounds;
  EXPECT_EQ(bounds.EndOf(AddressOf(memory + page)), AddressOf(memory + 3 * page));
  EXPECT_EQ(bounds.EndOf(AddressOf(memory + 3 * page - 1)), AddressOf(memory + 3 * page));
  munmap(memory, 4 * page);
  bounds.Forget();
  EXPECT_EQ(bounds.EndOf(AddressOf(memory + page)), 0u);
  EXPECT_EQ(bounds.EndOf(0), 0u);
}

TEST(FdClass, EachKindIsReported) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ScopedFd pipe_read(ends[0]), pipe_write(ends[1]);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ScopedFd socket_a(ends[0]), socket_b(ends[1]);
  ScopedFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ScopedFd event(eventfd(0, EFD_CLOEXEC));
  ScopedFd epoll(epoll_create1(EPOLL_CLOEXEC));
  ScopedFd device(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto of = [](const ScopedFd& fd) { return ClassifyFd(static_cast<uint64_t>(fd.get())); };
  EXPECT_EQ(of(pipe_read), FdClass::kPipe);
  EXPECT_EQ(of(socket_a), FdClass::kSocket);
  EXPECT_EQ(of(file), FdClass::kFile);
  EXPECT_EQ(of(event), FdClass::kEvent);
  EXPECT_EQ(of(epoll), FdClass::kEvent);
  EXPECT_EQ(of(device), FdClass::kOther);
  EXPECT_EQ(ClassifyFd(1'000'000), FdClass::kNone);
  EXPECT_EQ(ClassifyFd(UINT64_MAX), FdClass::kNone);
  EXPECT_TRUE(TakesFd(SYS_read));
  EXPECT_TRUE(TakesFd(SYS_fsync));
  EXPECT_FALSE(TakesFd(SYS_futex));
  EXPECT_FALSE(TakesFd(-1));
}

// A sample as the kernel lays it out: TID, TIME, REGS_USER, STACK_USER.
std::vector<std::byte> PerfRecord(uint64_t stack_size, uint64_t filled) {
  std::vector<std::byte> record(8);
  const auto add = [&record](auto value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    record.insert(record.end(), bytes, bytes + sizeof(value));
  };
  add(uint32_t{10});
  add(uint32_t{11});
  add(uint64_t{12345});
  add(uint64_t{2});  // PERF_SAMPLE_REGS_ABI_64
  for (uint64_t i = 0; i < machine::kPerfRegisterCount; ++i) add(1000 + i);
  add(stack_size);
  record.insert(record.end(), stack_size, std::byte{7});
  add(filled);
  return record;
}

TEST(PerfRecord, FieldsAreTaken) {
  const std::vector<std::byte> record = PerfRecord(64, 24);
  PerfSample sample;
  ASSERT_TRUE(ParsePerfSample(record, &sample));
  EXPECT_EQ(sample.tid, 11);
  EXPECT_EQ(sample.time_ns, 12345u);
  EXPECT_EQ(sample.stack.bytes.size(), 24u);
  EXPECT_EQ(sample.stack.base, sample.registers.Get(machine::kStackPointer));
  for (uint32_t i = 0; i < machine::kPerfRegisterCount; ++i) {
    EXPECT_EQ(sample.registers.Get(machine::kPerfRegisters[i]), 1000 + i);
  }
}

TEST(PerfRecord, EveryTruncationIsRefused) {
  const std::vector<std::byte> record = PerfRecord(64, 64);
  for (size_t size = 0; size < record.size(); ++size) {
    PerfSample sample;
    EXPECT_FALSE(ParsePerfSample(std::span(record).first(size), &sample)) << size;
  }
}

TEST(PerfRecord, LengthsBeyondTheRecordAreRefusedOrCut) {
  PerfSample sample;
  ASSERT_TRUE(ParsePerfSample(PerfRecord(64, UINT64_MAX), &sample));
  EXPECT_EQ(sample.stack.bytes.size(), 64u);
  std::vector<std::byte> record = PerfRecord(0, 0);
  const uint64_t huge = UINT64_MAX;
  std::memcpy(record.data() + record.size() - 16, &huge, sizeof(huge));
  EXPECT_FALSE(ParsePerfSample(record, &sample));
}

TEST(ProcSource, RunningThreadIsDistinguishedFromABlockedOne) {
  std::vector<std::byte> buffer(4096);
  ProcSource::View view;
  SampledThread busy([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  ProcSource busy_source(busy.tid());
  EXPECT_EQ(busy_source.LookAt(buffer, &view), ProcSource::Look::kRunning);
  ProcSource gone(1 << 22);
  EXPECT_EQ(gone.LookAt(buffer, &view), ProcSource::Look::kGone);
}

struct sigaction ActionOf(int number) {
  struct sigaction action = {};
  sigaction(number, nullptr, &action);
  return action;
}

int NumberOf(const SignalSource& source) {
  return SIGRTMIN + std::stoi(source.SignalName().substr(std::strlen("SIGRTMIN+")));
}

TEST(SignalSource, HandlerIsThereOnlyFromFirstUseToTheEnd) {
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  auto source = SignalSource::Create(thread.tid());
  ASSERT_TRUE(source.ok());
  const int number = NumberOf(*source.value());
  EXPECT_EQ(ActionOf(number).sa_handler, SIG_DFL);
  SignalSample sample;
  ASSERT_TRUE(source.value()->Capture(5000, &sample));
  EXPECT_NE(ActionOf(number).sa_handler, SIG_DFL);
  EXPECT_GT(sample.stack.bytes.size(), 64u);
  source.value().reset();
  EXPECT_EQ(ActionOf(number).sa_handler, SIG_DFL);
}

// Answers that come too late are for nobody; the next question gets its own.
TEST(SignalSource, LateAnswersAreDiscarded) {
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  auto source = SignalSource::Create(thread.tid());
  ASSERT_TRUE(source.ok());
  SignalSample sample;
  const int wanted = ByMachine(50, 10);
  int answered = 0;
  int given_up = 0;
  for (const uint64_t end = MonotonicNs() + 30 * kNsPerSecond;
       (answered < wanted || given_up < wanted) && MonotonicNs() < end;) {
    const uint64_t asked_ns = MonotonicNs();
    const uint32_t timeout_ms = answered > given_up ? 0 : 50;
    if (source.value()->Capture(timeout_ms, &sample)) {
      ++answered;
      EXPECT_GE(sample.time_ns, asked_ns);
    } else {
      ++given_up;
    }
  }
  EXPECT_GE(answered, wanted);
  EXPECT_GE(given_up, wanted);
}

TEST(SignalSource, AnotherHandlerOfTheSignalIsLeftInPlace) {
  SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
  auto source = SignalSource::Create(thread.tid());
  ASSERT_TRUE(source.ok());
  SignalSample sample;
  ASSERT_TRUE(source.value()->Capture(5000, &sample));
  const int number = NumberOf(*source.value());
  static std::atomic<int> received{0};
  struct sigaction other = {};
  other.sa_handler = [](int) { ++received; };
  ASSERT_EQ(sigaction(number, &other, nullptr), 0);
  EXPECT_FALSE(source.value()->Capture(50, &sample));
  EXPECT_EQ(received, 0) << "no signal is sent to a handler that is not ours";
  source.value().reset();
  EXPECT_EQ(ActionOf(number).sa_handler, other.sa_handler);
  signal(number, SIG_DFL);
}

// A program that sends itself the signal dies of it, as it did without the sampler.
TEST(SignalSourceDeathTest, ForeignSignalHasItsDefaultEffect) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        SampledThread thread([](const std::atomic<bool>& stop) { BusyOuter(&stop); });
        auto source = SignalSource::Create(thread.tid());
        SignalSample sample;
        if (source.ok() && source.value()->Capture(5000, &sample)) {
          raise(NumberOf(*source.value()));
        }
        _exit(3);
      },
      [](int status) { return WIFSIGNALED(status) && WTERMSIG(status) >= SIGRTMIN; }, "");
}

}  // namespace
}  // namespace jankbox
