// Who is at the other end, of real sockets, pipes and children.
#include "monitors/incident/wait_peer.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/scoped_fd.h"

namespace jankbox {
namespace {

using Kind = WaitPeer::Kind;

ThreadReading In(int32_t number, uint64_t first, uint64_t second = 0) {
  ThreadReading reading;
  reading.syscall = number;
  reading.arguments[0] = first;
  reading.arguments[1] = second;
  return reading;
}

// A child with the name "server" that runs `body` and then waits to be killed.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) {
    int ready[2];
    if (pipe(ready) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_NAME, "server", 0, 0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ready[0]);
      body();
      if (write(ready[1], "r", 1) != 1) _exit(1);
      close(ready[1]);
      while (true) pause();
    }
    close(ready[1]);
    char byte;
    ready_ = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  bool ready() const { return ready_; }
  void Stop() {
    kill(pid_, SIGSTOP);
    int status = 0;
    ASSERT_EQ(waitpid(pid_, &status, WUNTRACED), pid_);
    ASSERT_TRUE(WIFSTOPPED(status));
  }

 private:
  pid_t pid_ = -1;
  bool ready_ = false;
};

class WaitPeerTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/jankbox-peer-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override { (void)!system(("rm -rf " + folder_).c_str()); }

  // `path`, whose first byte is '@' in the abstract name space.
  static sockaddr_un Address(const std::string& path, socklen_t* size) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, path.data(), path.size());
    if (path[0] == '@') address.sun_path[0] = '\0';
    *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() +
                                   (path[0] == '@' ? 0 : 1));
    return address;
  }
  static void Listen(const std::string& path) {
    socklen_t size = 0;
    const sockaddr_un address = Address(path, &size);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) _exit(2);
    if (listen(fd, 5) != 0) _exit(3);
  }
  static ScopedFd Connect(const std::string& path) {
    socklen_t size = 0;
    const sockaddr_un address = Address(path, &size);
    ScopedFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), size), 0) << path;
    return fd;
  }
  static ThreadReading InRecv(const ScopedFd& fd) {
    return In(SYS_recvmsg, static_cast<uint64_t>(fd.get()));
  }

  std::string folder_;
};

TEST_F(WaitPeerTest, SocketIsKnownByTheListenersProcessAndPath) {
  for (const char* folder : {"/.X11-unix", "/dbus", "/dbus-tools", "/wayland-tools"}) {
    ASSERT_EQ(mkdir((folder_ + folder).c_str(), 0700), 0);
  }
  const std::pair<std::string, Kind> servers[] = {
      {folder_ + "/.X11-unix/X7", Kind::kXServer},
      {"@" + folder_ + "/.X11-unix/X7", Kind::kXServer},  // where Xlib looks first
      {folder_ + "/wayland-3", Kind::kCompositor},
      {folder_ + "/bus", Kind::kBus},
      {folder_ + "/dbus-a1B2", Kind::kBus},  // of dbus-launch
      {folder_ + "/dbus/system_bus_socket", Kind::kBus},
      {folder_ + "/dbus/cache", Kind::kProcess},
      {folder_ + "/dbus-tools/cache", Kind::kProcess},
      {folder_ + "/wayland-tools/cache", Kind::kProcess},
      {folder_ + "/database", Kind::kProcess}};
  for (const auto& [path, kind] : servers) {
    Child server([&path = path] { Listen(path); });
    ASSERT_TRUE(server.ready());
    const ScopedFd fd = Connect(path);
    const WaitPeer peer = PeerOfWait(InRecv(fd));
    EXPECT_EQ(peer, (WaitPeer{.kind = kind, .pid = server.pid(), .process = "server"})) << path;
  }
}

TEST_F(WaitPeerTest, StoppedServerIsSaidToBeStopped) {
  Child server([&] { Listen(folder_ + "/wayland-0"); });
  const ScopedFd fd = Connect(folder_ + "/wayland-0");
  EXPECT_FALSE(PeerOfWait(InRecv(fd)).stopped);
  server.Stop();
  const WaitPeer peer = PeerOfWait(InRecv(fd));
  EXPECT_TRUE(peer.stopped);
  EXPECT_EQ(PeerPhrase(peer), "waiting for the Wayland compositor (server, pid " +
                                  std::to_string(server.pid()) + ", stopped)");
}

// As a daemon that forks: the process that listened is gone, and its child answers.
TEST_F(WaitPeerTest, ListenerThatIsGoneIsNotNamed) {
  ScopedFd fd;
  {
    Child listener([&] { Listen(folder_ + "/database"); });
    ASSERT_TRUE(listener.ready());
    fd = Connect(folder_ + "/database");
    EXPECT_EQ(PeerPhrase(PeerOfWait(InRecv(fd))),
              "waiting for another process (pid " + std::to_string(listener.pid()) + ")");
  }
  EXPECT_EQ(PeerPhrase(PeerOfWait(InRecv(fd))), "waiting for another process");
}

TEST_F(WaitPeerTest, PollHasAPeerIfAllDescriptorsLeadToIt) {
  Child server([&] { Listen(folder_ + "/a"); });
  Child another([&] { Listen(folder_ + "/b"); });
  const ScopedFd one = Connect(folder_ + "/a"), same = Connect(folder_ + "/a");
  const ScopedFd other = Connect(folder_ + "/b");
  pollfd fds[] = {
      {one.get(), POLLIN, 0}, {-1, POLLIN, 0}, {same.get(), POLLIN, 0}, {other.get(), POLLIN, 0}};
  const auto peer = [&](uint64_t count) {
    return PeerOfWait(In(SYS_ppoll, reinterpret_cast<uint64_t>(fds), count));
  };
  EXPECT_EQ(peer(1).pid, server.pid());
  EXPECT_EQ(peer(3).pid, server.pid()) << "poll ignores descriptors below 0";
  EXPECT_EQ(peer(4).kind, Kind::kNone);
  EXPECT_EQ(peer(0).kind, Kind::kNone);
  EXPECT_EQ(PeerOfWait(In(SYS_ppoll, 16, 1)).kind, Kind::kNone) << "no memory of the process";
}

TEST_F(WaitPeerTest, ThisProcessIsNoPeer) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const ScopedFd a(pair[0]), b(pair[1]);
  EXPECT_EQ(PeerOfWait(InRecv(a)).kind, Kind::kNone);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const ScopedFd reader(ends[0]), writer(ends[1]);
  EXPECT_EQ(PeerOfWait(In(SYS_read, static_cast<uint64_t>(ends[0]))).kind, Kind::kNone);
}

TEST_F(WaitPeerTest, PipeIsKnownByTheChildWithItsOtherEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const ScopedFd reader(ends[0]);
  ScopedFd writer(ends[1]);
  const ThreadReading reads = In(SYS_read, static_cast<uint64_t>(ends[0]));
  Child idle([&] { close(ends[0]), close(ends[1]); });
  Child child([&] { close(ends[0]); });
  EXPECT_EQ(PeerOfWait(reads).kind, Kind::kNone) << "a thread of this process may write, too";
  writer.Reset();
  EXPECT_EQ(PeerOfWait(reads),
            (WaitPeer{.kind = Kind::kChild, .pid = child.pid(), .process = "server"}));
}

// The number of descriptors that are looked at has a limit.
TEST_F(WaitPeerTest, PipeBehindManyDescriptorsIsNobodys) {
  constexpr int kFar = 1500;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max <= kFar) GTEST_SKIP() << "too few descriptors are allowed";
  const rlimit old = limit;
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const ScopedFd reader(ends[0]);
  ScopedFd writer(ends[1]);
  const ThreadReading reads = In(SYS_read, static_cast<uint64_t>(ends[0]));
  const auto fill = [] {
    for (int fd = STDERR_FILENO; fd < 1200; fd = dup(STDERR_FILENO)) {
    }
  };
  Child far([&] {
    if (dup2(ends[1], kFar) != kFar) _exit(4);
    close(ends[0]), close(ends[1]);
    fill();
  });
  ASSERT_TRUE(far.ready());
  {
    Child near([&] { fill(); });
    ASSERT_TRUE(near.ready());
    writer.Reset();
    EXPECT_EQ(PeerOfWait(reads).pid, near.pid());
  }
  EXPECT_EQ(PeerOfWait(reads).kind, Kind::kNone);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
}

TEST_F(WaitPeerTest, FullPipeIsKnownByTheChildThatReadsIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ScopedFd reader(ends[0]);
  const ScopedFd writer(ends[1]);
  Child child([&] { close(ends[1]); });
  reader.Reset();
  EXPECT_EQ(PeerOfWait(In(SYS_write, static_cast<uint64_t>(ends[1]))).pid, child.pid());
}

TEST_F(WaitPeerTest, WaitForAChildIsKnownByItsArguments) {
  Child child([] {});
  EXPECT_EQ(PeerOfWait(In(SYS_wait4, static_cast<uint64_t>(child.pid()))).pid, child.pid());
  EXPECT_EQ(PeerOfWait(In(SYS_waitid, P_PID, static_cast<uint64_t>(child.pid()))).pid, child.pid());
  EXPECT_EQ(PeerOfWait(In(SYS_wait4, static_cast<uint64_t>(-1))).pid, child.pid())
      << "there is one only";
  Child second([] {});
  const WaitPeer any = PeerOfWait(In(SYS_wait4, static_cast<uint64_t>(-1)));
  EXPECT_EQ(any, (WaitPeer{.kind = Kind::kChild}));
  EXPECT_EQ(PeerPhrase(any), "waiting for its child");
}

TEST_F(WaitPeerTest, OtherCallsHaveNoPeer) {
  EXPECT_EQ(PeerOfWait(In(SYS_futex, 0x1000)).kind, Kind::kNone);
  EXPECT_EQ(PeerOfWait(In(SYS_read, 4000)).kind, Kind::kNone) << "not open";
  EXPECT_EQ(PeerOfWait(In(-1, 0)).kind, Kind::kNone);
}

TEST_F(WaitPeerTest, ServersAreThoseThatTheProcessIsConnectedTo) {
  Child server([&] { Listen(folder_ + "/wayland-0"); });
  const ScopedFd fd = Connect(folder_ + "/wayland-0"), twice = Connect(folder_ + "/wayland-0");
  const WaitPeer wanted{.kind = Kind::kCompositor, .pid = server.pid(), .process = "server"};
  int found = 0;
  for (const WaitPeer& peer : ConnectedServers()) found += peer == wanted ? 1 : 0;
  EXPECT_EQ(found, 1);
}

TEST(TakePid, LeavesOutANumberThatTheEndMayHaveCut) {
  const auto pids = [](const char* list) {
    std::vector<int32_t> found;
    while (const int32_t pid = TakePid(&list)) found.push_back(pid);
    return found;
  };
  EXPECT_EQ(pids("12 345 6789 "), (std::vector<int32_t>{12, 345, 6789}));
  EXPECT_EQ(pids("12 345 67"), (std::vector<int32_t>{12, 345}));
  EXPECT_EQ(pids("12"), std::vector<int32_t>{});
  EXPECT_EQ(pids(""), std::vector<int32_t>{});
}

TEST(PeerPhrase, NamesTheKindAndTheProcess) {
  EXPECT_EQ(PeerPhrase({.kind = Kind::kXServer, .pid = 123, .process = "Xvfb"}),
            "waiting for the X server (Xvfb, pid 123)");
  EXPECT_EQ(PeerPhrase({.kind = Kind::kXServer}), "waiting for the X server");
  EXPECT_EQ(PeerPhrase({.kind = Kind::kChild, .pid = 5}), "waiting for its child (pid 5)");
  EXPECT_EQ(PeerPhrase({.kind = Kind::kVsync}), "waiting for the display's vsync");
}

TEST(PeerPhrase, OtherProcessesHaveNoNameAndAreNotSaidToBeStopped) {
  EXPECT_EQ(PeerPhrase({.kind = Kind::kProcess, .stopped = true, .pid = 5, .process = "vault"}),
            "waiting for another process (pid 5)");
}

TEST(PeerPhrase, ListenerThatStartsOthersIsNotThePeer) {
  const WaitPeer listeners[] = {{.kind = Kind::kProcess, .pid = 1, .process = "init"},
                                {.kind = Kind::kProcess, .pid = 700, .process = "systemd"},
                                {.kind = Kind::kProcess, .pid = 700}};
  for (WaitPeer listener : listeners) {
    EXPECT_EQ(PeerPhrase(listener), "waiting for another process");
    listener.kind = Kind::kXServer;
    EXPECT_EQ(PeerPhrase(listener), "waiting for the X server");
  }
}

TEST(PeerPhrase, BusIsNeverNamed) {
  EXPECT_EQ(PeerPhrase({.kind = Kind::kBus,
                        .stopped = true,
                        .pid = 7,
                        .process = "dbus-daemon",
                        .bus_name = "org.jankbox.Test"}),
            "waiting for the D-Bus peer org.jankbox.Test");
}

}  // namespace
}  // namespace jankbox
