// File calls through their proxies: same results and errors as without, and in the ring what was
// done, on what class of descriptor, how many bytes; nothing else.
#include "tracer/interpose/io_proxies.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <fstream>
#include <thread>

#include "tests/tracer/interpose/interpose_test.h"
#include "tracer/interpose/fd_classes.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {
namespace {

using FdClass = StackSample::FdClass;
using ReadFn = ssize_t(int, void*, size_t);
using PreadFn = ssize_t(int, void*, size_t, off_t);
using PwriteFn = ssize_t(int, const void*, size_t, off_t);
using ReadvFn = ssize_t(int, const iovec*, int);
using OpenFn = int(const char*, int, ...);
using OpenatFn = int(int, const char*, int, ...);
using FdFn = int(int);

class IoProxiesTest : public SourceTest {
 protected:
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void MakeFile(const std::string& name, size_t bytes) {
    std::ofstream(Path(name)) << std::string(bytes, 'x');
  }

  // Runs `call` with the C library's function and with the proxy.
  template <typename Function, typename Call>
  void Compare(HookId id, Call call) {
    const Outcome real = RunCall([&] { return static_cast<long>(call(Real<Function>(id))); });
    const Outcome proxied = RunCall([&] { return static_cast<long>(call(Proxy<Function>(id))); });
    EXPECT_EQ(proxied, real) << SymbolOf(id) << " case " << cases_;
    if (real.error != kUntouchedErrno) ++errors_;
    ++cases_;
  }
  void CompareTransfers(int fd, void* buffer, size_t bytes);

  int cases_ = 0;
  int errors_ = 0;
};

void IoProxiesTest::CompareTransfers(int fd, void* buffer, size_t bytes) {
  Compare<ReadFn>(HookId::kRead, [&](auto* call) {
    if (fd >= 0) lseek(fd, 0, SEEK_SET);
    return call(fd, buffer, bytes);
  });
  for (const off_t offset : {off_t{0}, off_t{5'000}, off_t{-1}}) {
    for (const HookId id : {HookId::kPread, HookId::kPread64}) {
      Compare<PreadFn>(id, [&](auto* call) { return call(fd, buffer, bytes, offset); });
    }
    for (const HookId id : {HookId::kPwrite, HookId::kPwrite64}) {
      const size_t few = std::min<size_t>(bytes, 8);
      Compare<PwriteFn>(id, [&](auto* call) { return call(fd, buffer, few, offset); });
    }
  }
}

TEST_F(IoProxiesTest, ThousandsOfCallsGiveWhatTheyGiveWithoutUs) {
  MakeFile("file", 10'000);
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_NONBLOCK), 0);
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets), 0);
  const std::vector<int> fds = {-1,
                                INT_MAX,
                                open(Path("file").c_str(), O_RDONLY),
                                open(Path("file").c_str(), O_WRONLY),
                                open(Path("file").c_str(), O_RDWR),
                                open(folder_.c_str(), O_RDONLY | O_DIRECTORY),
                                open(Path("file").c_str(), O_PATH),
                                open("/dev/null", O_RDWR),
                                pipe_fds[0],
                                sockets[0],
                                eventfd(0, EFD_NONBLOCK)};
  std::vector<char> buffer(70'000);
  for (const int fd : fds) {
    for (const size_t bytes : {0, 1, 8, 4'096, 65'536}) {
      CompareTransfers(fd, buffer.data(), bytes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
      CompareTransfers(fd, nullptr, bytes);  // sanitizers look at the buffer themselves
      CompareTransfers(fd, reinterpret_cast<void*>(1), bytes);
#endif
    }
    iovec vectors[20];
    for (iovec& vector : vectors) vector = {buffer.data(), 100};
    for (const int count : {-1, 0, 1, 20}) {
      Compare<ReadvFn>(HookId::kReadv, [&](auto* call) {
        if (fd >= 0) lseek(fd, 0, SEEK_SET);
        return call(fd, vectors, count);
      });
    }
    Compare<FdFn>(HookId::kFsync, [&](auto* call) { return call(fd); });
    Compare<FdFn>(HookId::kFdatasync, [&](auto* call) { return call(fd); });
    Compare<FdFn>(HookId::kClose, [&](auto* call) { return call(fd < 0 ? fd : dup(fd)); });
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_GE(cases_, 2'000);
  EXPECT_GE(errors_, 1'000);
#endif
  for (const int fd : fds) {
    if (fd >= 0) close(fd);
  }
  close(pipe_fds[1]);
  close(sockets[1]);
}

TEST_F(IoProxiesTest, OpensGiveWhatTheyGiveWithoutUs) {
  MakeFile("file", 1);
  const std::string long_name(5'000, 'n');
  const std::vector<std::string> paths = {"",          Path("file"),     Path("none"), folder_,
                                          "/dev/null", Path("file/sub"), long_name,    "/"};
  const std::vector<int> flags = {O_RDONLY,
                                  O_WRONLY,
                                  O_RDWR | O_DIRECTORY,
                                  O_PATH | O_NOFOLLOW,
                                  O_CREAT | O_EXCL | O_RDWR,
                                  O_WRONLY | O_TRUNC};
  // The number of a descriptor is as good as any other: what it is open for is compared.
  const auto opened = [](int fd) {
    if (fd < 0) return fd;
    const int mode = fcntl(fd, F_GETFL);
    close(fd);
    return mode;
  };
  for (const std::string& path : paths) {
    for (const int flag : flags) {
      for (const HookId id : {HookId::kOpen, HookId::kOpen64}) {
        Compare<OpenFn>(id, [&](auto* call) {
          unlink(Path("none").c_str());
          errno = kUntouchedErrno;
          return opened(call(path.c_str(), flag, 0600));
        });
      }
      for (const HookId id : {HookId::kOpenat, HookId::kOpenat64}) {
        for (const int folder : {AT_FDCWD, -1, 0}) {
          Compare<OpenatFn>(id, [&](auto* call) {
            unlink(Path("none").c_str());
            errno = kUntouchedErrno;
            return opened(call(folder, path.c_str(), flag, 0600));
          });
        }
      }
    }
  }
  EXPECT_GE(cases_, 380);
  EXPECT_GE(errors_, 200);
  unlink(Path("none").c_str());
  const int fd = Proxy<OpenFn>(HookId::kOpen)(Path("none").c_str(), O_CREAT | O_RDWR, 0640);
  struct stat status {};
  ASSERT_EQ(fstat(fd, &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);  // the third argument arrives
  close(fd);
}

TEST_F(IoProxiesTest, RecordsCallClassBytesAndResult) {
  MakeFile("file", 3'000);
  char buffer[4'096];
  const int fd = Proxy<OpenFn>(HookId::kOpen)(Path("file").c_str(), O_RDWR);
  Proxy<ReadFn>(HookId::kRead)(fd, buffer, sizeof(buffer));
  Proxy<FdFn>(HookId::kFdatasync)(fd);
  Proxy<PreadFn>(HookId::kPread)(fd, buffer, 10, -1);
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_NONBLOCK), 0);
  FdClasses::ForgetAll();  // of descriptors of other tests
  Proxy<ReadFn>(HookId::kRead)(pipe_fds[0], buffer, 7);
  const iovec vectors[2] = {{buffer, 100}, {buffer + 100, 23}};
  Proxy<ReadvFn>(HookId::kReadv)(fd, vectors, 2);
  Proxy<FdFn>(HookId::kClose)(fd);
  Proxy<FdFn>(HookId::kClose)(fd);
  const RingWindow window = Window();
  const std::vector<RecordedWait> waits = Waits(window, CurrentTid());
  struct Expected {
    WaitClass what;
    FdClass fd_class;
    uint64_t bytes;
    int64_t result;
  };
  const Expected expected[] = {
      {WaitClass::kOpen, FdClass::kNone, 0, 0},
      {WaitClass::kRead, FdClass::kFile, sizeof(buffer), 3'000},
      {WaitClass::kFdatasync, FdClass::kFile, 0, 0},
      {WaitClass::kPread, FdClass::kFile, 10, -EINVAL},
      {WaitClass::kRead, FdClass::kPipe, 7, -EAGAIN},
      {WaitClass::kReadv, FdClass::kFile, 123, 0},
      {WaitClass::kClose, FdClass::kFile, 0, 0},
      {WaitClass::kClose, FdClass::kNone, 0, -EBADF},
  };
  ASSERT_EQ(waits.size(), std::size(expected));
  for (size_t i = 0; i < waits.size(); ++i) {
    EXPECT_EQ(waits[i].begin.what, expected[i].what) << i;
    EXPECT_EQ(waits[i].begin.fd_class, static_cast<uint8_t>(expected[i].fd_class)) << i;
    EXPECT_EQ(waits[i].begin.bytes, expected[i].bytes) << i;
    EXPECT_EQ(waits[i].end.result, expected[i].result) << i;
    EXPECT_EQ(waits[i].end.fd_class, waits[i].begin.fd_class) << i;
    EXPECT_LE(waits[i].begin_ticks, waits[i].end_ticks) << i;
  }
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

TEST_F(IoProxiesTest, BeginIsThereWhileTheCallBlocks) {
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  const int tid = CurrentTid();
  std::vector<RecordedWait> seen;
  std::thread writer([&] {
    while (seen.empty()) {
      usleep(1'000);
      seen = Waits(Window(), tid);
    }
    EXPECT_EQ(write(pipe_fds[1], "x", 1), 1);
  });
  char byte;
  EXPECT_EQ(Proxy<ReadFn>(HookId::kRead)(pipe_fds[0], &byte, 1), 1);
  writer.join();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].begin.what, WaitClass::kRead);
  EXPECT_EQ(seen[0].begin.fd_class, static_cast<uint8_t>(FdClass::kPipe));
  EXPECT_EQ(seen[0].end.what, WaitClass::kNone);
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

TEST_F(IoProxiesTest, ReusedDescriptorHasItsNewClass) {
  MakeFile("file", 10);
  const int fd = open(Path("file").c_str(), O_RDONLY);
  char byte;
  Proxy<ReadFn>(HookId::kRead)(fd, &byte, 1);
  // Closed on a thread that records no waits.
  std::thread([&] { EXPECT_EQ(Proxy<FdFn>(HookId::kClose)(fd), 0); }).join();
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_NONBLOCK), 0);
  ASSERT_EQ(dup2(pipe_fds[0], fd), fd);
  Proxy<ReadFn>(HookId::kRead)(fd, &byte, 1);
  ASSERT_EQ(close(fd), 0);  // behind our back: known for at most a second
  FdClasses::ForgetAll();
  Proxy<ReadFn>(HookId::kRead)(fd, &byte, 1);
  const std::vector<RecordedWait> waits = Waits(Window(), CurrentTid());
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0].begin.fd_class, static_cast<uint8_t>(FdClass::kFile));
  EXPECT_EQ(waits[1].begin.fd_class, static_cast<uint8_t>(FdClass::kPipe));
  EXPECT_EQ(waits[2].begin.fd_class, static_cast<uint8_t>(FdClass::kNone));
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

TEST_F(IoProxiesTest, OtherThreadsAndStoppedRecordingsLeaveNothing) {
  std::thread([&] { Proxy<FdFn>(HookId::kFsync)(-1); }).join();
  Recorder::Close();
  Proxy<FdFn>(HookId::kFsync)(-1);
  EXPECT_TRUE(Waits(Window(), 0).empty());
}

// Canaries in every path and buffer: none of their bytes may be in the ring's file.
TEST_F(IoProxiesTest, NeitherPathsNorBuffersReachTheRing) {
  const std::string canary = "canary-4111111111111111-ann@example.com";
  const std::string path = Path(canary);
  std::string buffer;
  for (int i = 0; i < 100; ++i) buffer += canary;
  const int fd = Proxy<OpenFn>(HookId::kOpen)(path.c_str(), O_CREAT | O_RDWR, 0600);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(Proxy<PwriteFn>(HookId::kPwrite)(fd, buffer.data(), buffer.size(), 0),
            static_cast<ssize_t>(buffer.size()));
  std::vector<char> read_back(buffer.size());
  Proxy<ReadFn>(HookId::kRead)(fd, read_back.data(), read_back.size());
  const iovec vectors[1] = {{read_back.data(), read_back.size()}};
  Proxy<ReadvFn>(HookId::kReadv)(fd, vectors, 1);
  Proxy<OpenatFn>(HookId::kOpenat)(AT_FDCWD, (path + "-none").c_str(), O_RDONLY);
  Proxy<FdFn>(HookId::kClose)(fd);
  EXPECT_EQ(Waits(Window(), CurrentTid()).size(), 6u);
  const std::string_view ring(reinterpret_cast<const char*>(ring_->base()), ring_->bytes());
  for (const char* part : {"canary", "4111", "ann@", "example.com"}) {
    EXPECT_EQ(ring.find(part), std::string_view::npos) << part;
  }
}

}  // namespace
}  // namespace jankbox
