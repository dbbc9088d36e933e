#include "monitors/looper/ui_thread_signs.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/scoped_fd.h"
#include "monitors/looper/display_sockets.h"

namespace jankbox {
namespace {

// A connection to a server that listens at `name` in a folder of its own.
class Connection {
 public:
  explicit Connection(const std::string& name) {
    char folder[] = "/tmp/jankbox-display-XXXXXX";
    folder_ = mkdtemp(folder);
    const std::filesystem::path path = folder_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const auto* server = reinterpret_cast<const sockaddr*>(&address);
    listener_.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    client_.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(bind(listener_.get(), server, sizeof(address)), 0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
    EXPECT_EQ(connect(client_.get(), server, sizeof(address)), 0);
  }
  ~Connection() { std::filesystem::remove_all(folder_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int fd() const { return client_.get(); }

 private:
  std::string folder_;
  ScopedFd listener_;
  ScopedFd client_;
};

TEST(DisplaySockets, AreToldByThePathOfTheirServer) {
  const Connection x(".X11-unix/X7"), wayland("wayland-1"), bus("bus");
  EXPECT_EQ(DisplayOfSocket(x.fd()), DisplayServer::kX);
  EXPECT_EQ(DisplayOfSocket(wayland.fd()), DisplayServer::kWayland);
  EXPECT_EQ(DisplayOfSocket(bus.fd()), DisplayServer::kNone);
  EXPECT_EQ(DisplayOfSocket(-1), DisplayServer::kNone);
  EXPECT_EQ(DisplayOfSocket(STDIN_FILENO), DisplayServer::kNone);
}

TEST(DisplaySockets, AreFoundInEachKindOfWait) {
  const Connection x(".X11-unix/X7"), bus("bus");
  pollfd polled[] = {{-1, POLLIN, 0}, {bus.fd(), POLLIN, 0}, {x.fd(), POLLIN, 0}};
  WaitCall call = {.fds = &polled[0].fd, .fd_count = 3, .fd_stride = sizeof(pollfd)};
  EXPECT_EQ(DisplayOfWait(call), DisplayServer::kX);
  call.fd_count = 2;
  EXPECT_EQ(DisplayOfWait(call), DisplayServer::kNone);

  fd_set read;
  FD_ZERO(&read);
  FD_SET(bus.fd(), &read);
  FD_SET(x.fd(), &read);
  const int bits = std::max(x.fd(), bus.fd()) + 1;
  call = {.family = WaitFamily::kSelect, .sets = {&read}, .set_bits = bits};
  EXPECT_EQ(DisplayOfWait(call), DisplayServer::kX);
  FD_CLR(x.fd(), &read);
  EXPECT_EQ(DisplayOfWait(call), DisplayServer::kNone);

  const ScopedFd epoll(epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  ASSERT_EQ(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, bus.fd(), &event), 0);
  call = {.family = WaitFamily::kEpoll, .fd = epoll.get()};
  EXPECT_EQ(DisplayOfWait(call), DisplayServer::kNone);
  ASSERT_EQ(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, x.fd(), &event), 0);
  EXPECT_EQ(DisplayOfWait(call), DisplayServer::kX);
  EXPECT_EQ(DisplayOfLoop({.descriptors = 0, .epoll_fd = epoll.get()}), DisplayServer::kX);
}

TEST(DisplaySockets, OfALoopMayHaveAnyNumberOfItsBit) {
  const Connection x(".X11-unix/X7");
  const ScopedFd high(fcntl(x.fd(), F_DUPFD_CLOEXEC, 300));
  ASSERT_GE(high.get(), 300);
  EXPECT_EQ(DisplayOfLoop({uint64_t{1} << (high.get() % 64), -1}), DisplayServer::kX);
  EXPECT_EQ(DisplayOfLoop({0, -1}), DisplayServer::kNone);
}

// The signs that a thread gives, at times that the test makes up. It calls from the real libraries.
class UiThreadSignsTest : public testing::Test {
 protected:
  void SetUp() override {
    xcb_ = Symbol("libxcb.so.1", "xcb_wait_for_event");
    glib_ = Symbol("libglib-2.0.so.0", "g_main_context_iteration");
    LoopModules::Refresh();  // for the main thread's loop
    if (xcb_ == nullptr || glib_ == nullptr) GTEST_SKIP() << "libxcb or GLib is not installed";
  }

  static const void* Symbol(const char* library, const char* name) {
    void* handle = dlopen(library, RTLD_NOW);
    return handle != nullptr ? dlsym(handle, name) : nullptr;
  }

  WaitCall PollFor(const void* call_site, const int* fd) {
    return {.call_site = call_site, .stack = &stack_[100], .fds = fd, .fd_count = 1};
  }
  WaitCall Pump(const char* name) {
    return {
        .call_site = this, .stack = &stack_[100], .family = WaitFamily::kPump, .pump_name = name};
  }

  // `count` such waits, 10 ms apart. The sign, null if there is none.
  const char* Wait(const WaitCall& call, int count) {
    for (int i = 0; i < count; ++i) {
      now_ns_ += 10 * kNsPerMs;
      const char* sign = signs_.NoteWait() ? signs_.Look(call, main_, now_ns_) : nullptr;
      if (sign != nullptr) return sign;
    }
    return nullptr;
  }
  void Asks() { EXPECT_EQ(Wait(PollFor(xcb_, &none_), 1), nullptr); }

  const void* xcb_ = nullptr;
  const void* glib_ = nullptr;
  const int none_ = -1;
  const Connection display_{".X11-unix/X7"};
  const int fd_ = display_.fd();
  std::array<uintptr_t, 1024> stack_{};
  LoopDispatches main_;
  UiThreadSigns signs_;
  uint64_t now_ns_ = kNsPerSecond;
};

TEST_F(UiThreadSignsTest, LoopForTheDisplayIsASignAfterASecond) {
  Asks();
  EXPECT_EQ(Wait(PollFor(glib_, &fd_), 100), nullptr);
  EXPECT_STREQ(Wait(PollFor(glib_, &fd_), 10), "X connection");
}

TEST_F(UiThreadSignsTest, ReaderThatAsksNothingIsNone) {
  EXPECT_EQ(Wait(PollFor(glib_, &fd_), 5000), nullptr);
}

TEST_F(UiThreadSignsTest, WaitsOfTheDisplaysLibraryAreNoLoop) {
  EXPECT_EQ(Wait(PollFor(xcb_, &fd_), 5000), nullptr);
}

TEST_F(UiThreadSignsTest, LoopForOtherThingsIsNone) {
  const Connection bus("bus");
  const int fd = bus.fd();
  Asks();
  EXPECT_EQ(Wait(PollFor(glib_, &fd), 5000), nullptr);
}

TEST_F(UiThreadSignsTest, PollsWithoutAWaitAreNoLoopOfTheProgram) {
  Asks();
  WaitCall call = PollFor(this, &fd_);
  call.returns_at_once = true;
  EXPECT_EQ(Wait(call, 5000), nullptr);
  call.returns_at_once = false;
  EXPECT_STREQ(Wait(call, 5000), "X connection");
}

TEST_F(UiThreadSignsTest, TakingEventsIsASign) {
  Asks();
  EXPECT_STREQ(Wait(Pump("sdl"), 200), "SDL events");
  signs_ = {};
  Asks();
  EXPECT_STREQ(Wait(Pump("tcl"), 200), "Tcl events");
}

TEST_F(UiThreadSignsTest, QuestionAfterManyOtherWaitsIsNotSeen) {
  EXPECT_EQ(Wait(PollFor(glib_, &none_), 3000), nullptr);
  Asks();
  EXPECT_EQ(Wait(PollFor(glib_, &fd_), 100), nullptr);
}

TEST_F(UiThreadSignsTest, NoneBesideAMainThreadThatWaitsForADisplay) {
  const Connection other("wayland-0");
  const int fd = other.fd();
  WaitCall call = PollFor(glib_, &fd);
  call.fd = fd;
  EXPECT_TRUE(main_.OnWait(call, nullptr));
  main_.OnWaitDone(nullptr);
  Asks();
  EXPECT_EQ(Wait(PollFor(glib_, &fd_), 5000), nullptr);
}

TEST_F(UiThreadSignsTest, MainThreadWithALoopForOtherThingsIsNoObstacle) {
  const Connection bus("bus");
  const int fd = bus.fd();
  WaitCall call = PollFor(glib_, &fd);
  call.fd = fd;
  EXPECT_TRUE(main_.OnWait(call, nullptr));
  Asks();
  EXPECT_STREQ(Wait(PollFor(glib_, &fd_), 5000), "X connection");
}

TEST_F(UiThreadSignsTest, NoneBesideAMainThreadThatTakesEvents) {
  EXPECT_TRUE(main_.OnWait(Pump("sdl"), nullptr));
  Asks();
  EXPECT_EQ(Wait(PollFor(glib_, &fd_), 5000), nullptr);
}

TEST_F(UiThreadSignsTest, NoneWhileAMainThreadThatAsksTheDisplayHasNoLoop) {
  main_.OnWait(PollFor(xcb_, &fd_), nullptr);
  Asks();
  EXPECT_EQ(Wait(PollFor(glib_, &fd_), 5000), nullptr);
}

}  // namespace
}  // namespace jankbox
