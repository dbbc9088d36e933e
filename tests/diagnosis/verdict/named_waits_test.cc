// Whom a wait was for, by what the watcher found and by the stack.
#include "diagnosis/verdict/named_waits.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using Kind = WaitPeer::Kind;

constexpr uint64_t kMs = kNsPerMs;
constexpr int32_t kUi = 7;

class NamedWaitsTest : public testing::Test {
 protected:
  // A sample whose stack is of these modules and functions, innermost first.
  StackSample Stack(std::initializer_list<std::pair<const char*, const char*>> stack) {
    StackSample sample = FakeSample(kUi, {});
    for (const auto& [module, function] : stack) {
      const uint64_t pc = 0x1000 + frames_.size();
      frames_[pc] = {.function = function, .module = module};
      sample.pcs[sample.depth++] = pc;
    }
    return sample;
  }
  Kind KindOf(std::initializer_list<std::pair<const char*, const char*>> stack) {
    return KindOfStack(Stack(stack), frames_);
  }
  void Read(uint64_t ms, int32_t number, uint8_t peer = 0, uint64_t switches = 0) {
    ThreadReading reading;
    reading.sched_known = true;
    reading.switches = switches;
    reading.wait = WaitReason::kThread;
    reading.syscall = number;
    reading.peer = peer;
    readings_.Add(ms * kMs, reading);
  }
  void Sample(uint64_t ms, StackSample sample, int32_t number) {
    sample.time_ns = ms * kMs;
    sample.syscall = number;
    sample.running = false;
    samples_.push_back(sample);
  }
  // The phrases of the readings; "": no peer.
  std::vector<std::string> Phrases() {
    const VerdictTimeline named = NameWaits(readings_, samples_, frames_, FakeClock());
    std::vector<std::string> phrases;
    for (const VerdictTimeline::Point& point : named.points()) {
      const WaitPeer* peer = named.PeerOf(point.reading);
      phrases.push_back(peer == nullptr ? "" : PeerPhrase(*peer));
    }
    return phrases;
  }

  FrameTable frames_;
  VerdictTimeline readings_;
  std::vector<StackSample> samples_;
};

TEST_F(NamedWaitsTest, LibraryThatWaitsSaysForWhat) {
  EXPECT_EQ(KindOf({{"libc.so.6", "pthread_cond_wait@@GLIBC_2.3.2"},
                    {"libxcb.so.1.1.0", ""},
                    {"libxcb.so.1.1.0", "xcb_wait_for_reply64"},
                    {"libX11.so.6", "_XReply"}}),
            Kind::kXServer);
  EXPECT_EQ(KindOf({{"libc.so.6", "__poll"}, {"libwayland-client.so.0", "wl_display_roundtrip"}}),
            Kind::kCompositor);
  EXPECT_EQ(KindOf({{"libc.so.6", "__poll"}, {"libdbus-1.so.3", ""}}), Kind::kBus);
  EXPECT_EQ(
      KindOf({{"libc.so.6", "ppoll"}, {"libsystemd.so.0", ""}, {"libsystemd.so.0", "sd_bus_call"}}),
      Kind::kBus);
  EXPECT_EQ(KindOf({{"libc.so.6", "ioctl"}, {"swrast_dri.so", ""}, {"app", "draw"}}),
            Kind::kGpuDriver);
  EXPECT_EQ(KindOf({{"libc.so.6", "poll"}, {"libnvidia-glcore.so.535.1", ""}}), Kind::kGpuDriver);
}

TEST_F(NamedWaitsTest, ReplyOfAGlibLoopInsideGdbusIsTheBuss) {
  EXPECT_EQ(KindOf({{"libc.so.6", "__poll"},
                    {"libglib-2.0.so.0", "g_main_loop_run"},
                    {"libgio-2.0.so.0", "g_dbus_connection_send_message_with_reply_sync"},
                    {"libgio-2.0.so.0", ""},
                    {"app", "bind"}}),
            Kind::kBus);
  EXPECT_EQ(KindOf({{"libc.so.6", "__poll"},
                    {"libglib-2.0.so.0", "g_main_loop_run"},
                    {"libgio-2.0.so.0", "g_file_copy"},
                    {"app", "g_dbus_of_its_own"}}),
            Kind::kNone)
      << "GIO waits for other things, too";
}

TEST_F(NamedWaitsTest, JournalOfSystemdIsNoBus) {
  EXPECT_EQ(KindOf({{"libc.so.6", "sendmsg"},
                    {"libsystemd.so.0", ""},
                    {"libsystemd.so.0", "sd_journal_sendv"},
                    {"app", "log"}}),
            Kind::kNone);
}

// Another thread of the program called XLockDisplay.
TEST_F(NamedWaitsTest, LockOfALibraryIsNotItsServer) {
  const std::initializer_list<std::pair<const char*, const char*>> stacks[] = {
      {{"libc.so.6", "pthread_cond_wait"}, {"libX11.so.6", "XLockDisplay"}, {"app", "draw"}},
      {{"libc.so.6", "pthread_cond_wait"},
       {"libX11.so.6", "_XDisplayLockWait"},
       {"libX11.so.6", "_XReply"},
       {"libX11.so.6", "XSync"}},
      {{"libc.so.6", "futex"}, {"libX11.so.6", ""}, {"libX11.so.6", "XFlush"}, {"app", "draw"}},
      {{"libc.so.6", "__lll_lock_wait"},
       {"libc.so.6", "pthread_mutex_lock"},
       {"libxcb.so.1", "xcb_wait_for_reply"}},
      {{"libc.so.6", "futex"}, {"libgio-2.0.so.0", "g_dbus_connection_get_unique_name"}}};
  for (const auto& frames : stacks) {
    StackSample stack = Stack(frames);
    stack.syscall = SYS_futex;
    EXPECT_EQ(KindOfStack(stack, frames_), Kind::kNone) << std::data(frames)[1].second;
  }
  StackSample reply =
      Stack({{"libc.so.6", "futex"}, {"libX11.so.6", ""}, {"libX11.so.6", "_XReply"}});
  reply.syscall = SYS_futex;
  EXPECT_EQ(KindOfStack(reply, frames_), Kind::kXServer);
}

// The owner of the lock is what the thread waits for.
TEST_F(NamedWaitsTest, ReadingOfALockHasNoServer) {
  readings_.Keep(90 * kMs, {.kind = Kind::kXServer, .pid = 123, .process = "Xvfb"});
  Read(100, SYS_futex);
  readings_.points().back().reading.wait = WaitReason::kLock;
  Sample(101, Stack({{"libc.so.6", "futex"}, {"libxcb.so.1", "xcb_wait_for_reply"}}), SYS_futex);
  EXPECT_EQ(Phrases(), std::vector<std::string>{""});
}

TEST_F(NamedWaitsTest, PresentedFrameIsTheDisplays) {
  EXPECT_EQ(KindOf({{"libc.so.6", "__poll"},
                    {"libxcb.so.1", ""},
                    {"libxcb.so.1", "xcb_wait_for_special_event"},
                    {"libGLX_mesa.so.0", ""}}),
            Kind::kVsync);
}

TEST_F(NamedWaitsTest, FunctionsOfTheProgramWaitForNobodyInParticular) {
  EXPECT_EQ(KindOf({{"libc.so.6", "__poll"}, {"app", "pause"}, {"libxcb.so.1", "xcb_x"}}),
            Kind::kNone);
  EXPECT_EQ(KindOf({{"libc.so.6", "__poll"}}), Kind::kNone);
  EXPECT_EQ(KindOf({}), Kind::kNone);
}

// The watcher saw the connection, and the wait was for a thread that reads it.
TEST_F(NamedWaitsTest, ServerOfAnIndirectWaitIsTheOneThatTheProcessIsConnectedTo) {
  readings_.Keep(90 * kMs, {.kind = Kind::kXServer, .pid = 123, .process = "Xvfb"});
  Read(100, SYS_futex);
  Sample(101, Stack({{"libc.so.6", "futex"}, {"libxcb.so.1", "xcb_wait_for_reply"}}), SYS_futex);
  EXPECT_EQ(Phrases(), std::vector<std::string>{"waiting for the X server (Xvfb, pid 123)"});
}

// As on a machine so busy that the watcher's look came after the first sample.
TEST_F(NamedWaitsTest, ServerThatWasSeenLaterNamesTheWholeWait) {
  const StackSample stack = Stack({{"libc.so.6", "futex"}, {"libxcb.so.1", "xcb_wait_for_reply"}});
  Read(100, SYS_futex);
  Sample(101, stack, SYS_futex);
  readings_.Keep(400 * kMs, {.kind = Kind::kXServer, .pid = 123, .process = "Xvfb"});
  Read(400, SYS_futex, 0, /*switches=*/9);
  Sample(401, stack, SYS_futex);
  const std::string phrase = "waiting for the X server (Xvfb, pid 123)";
  EXPECT_EQ(Phrases(), (std::vector<std::string>{phrase, phrase}));
}

TEST_F(NamedWaitsTest, LibraryIsEnoughIfNoConnectionWasSeen) {
  Read(100, SYS_futex);
  Sample(101, Stack({{"libc.so.6", "futex"}, {"libxcb.so.1", "xcb_wait_for_reply"}}), SYS_futex);
  EXPECT_EQ(Phrases(), std::vector<std::string>{"waiting for the X server"});
}

TEST_F(NamedWaitsTest, SocketWithoutAKnownPathIsWhatTheLibrarySays) {
  Read(100, SYS_poll,
       readings_.Keep(100 * kMs, {.kind = Kind::kProcess, .pid = 5, .process = "weston"}));
  Sample(101, Stack({{"libc.so.6", "__poll"}, {"libwayland-client.so.0", "wl_x"}}), SYS_poll);
  EXPECT_EQ(Phrases(),
            std::vector<std::string>{"waiting for the Wayland compositor (weston, pid 5)"});
}

// On a busy machine the last sample may have been taken long before the end.
TEST_F(NamedWaitsTest, WhatASampleSaidHoldsToTheEndOfTheWait) {
  const uint8_t process =
      readings_.Keep(100 * kMs, {.kind = Kind::kProcess, .pid = 5, .process = "weston"});
  for (const uint64_t ms : {100, 500, 900}) Read(ms, SYS_poll, process);
  Read(950, SYS_poll, process, /*switches=*/9);  // another one
  Sample(501, Stack({{"libc.so.6", "__poll"}, {"libwayland-client.so.0", "wl_x"}}), SYS_poll);
  const std::string phrase = "waiting for the Wayland compositor (weston, pid 5)";
  EXPECT_THAT(Phrases(), ::testing::ElementsAre(phrase, phrase, phrase,
                                                ::testing::StartsWith("waiting for another")));
}

TEST_F(NamedWaitsTest, EachCallOfTheBusHasItsOwnDestination) {
  const StackSample stack =
      Stack({{"libc.so.6", "__poll"}, {"libgio-2.0.so.0", "g_dbus_connection_call_sync"}});
  readings_.Keep(100 * kMs, {.kind = Kind::kBus, .pid = 7, .bus_name = "org.a"});
  Read(100, SYS_poll);
  Sample(101, stack, SYS_poll);
  readings_.Keep(200 * kMs, {.kind = Kind::kBus, .pid = 7, .bus_name = "org.b"});
  Read(200, SYS_poll, 0, /*switches=*/9);
  Sample(201, stack, SYS_poll);
  EXPECT_EQ(Phrases(), (std::vector<std::string>{"waiting for the D-Bus peer org.a",
                                                 "waiting for the D-Bus peer org.b"}));
}

TEST_F(NamedWaitsTest, ServerThatWasFoundLaterInTheWaitIsTheEarlierReadingsToo) {
  const StackSample stack =
      Stack({{"libc.so.6", "__poll"}, {"libgio-2.0.so.0", "g_dbus_connection_call_sync"}});
  readings_.Keep(200 * kMs, {.kind = Kind::kBus, .pid = 7, .bus_name = "org.a"});
  for (const uint64_t ms : {100, 200, 300}) {
    Read(ms, SYS_poll);
    Sample(ms + 1, stack, SYS_poll);
  }
  const std::string phrase = "waiting for the D-Bus peer org.a";
  EXPECT_EQ(Phrases(), (std::vector<std::string>{phrase, phrase, phrase}));
}

TEST_F(NamedWaitsTest, SampleOfAnotherCallOrOfLongAgoSaysNothing) {
  const StackSample stack = Stack({{"libc.so.6", "futex"}, {"libxcb.so.1", "xcb_wait_for_reply"}});
  Sample(100, stack, SYS_futex);
  Read(110, SYS_poll);
  Read(150, SYS_futex);
  Read(900, SYS_futex);
  EXPECT_EQ(Phrases(), (std::vector<std::string>{"", "waiting for the X server", ""}));
}

// The watcher asks once a message is overdue; the wait may have begun long before.
TEST_F(NamedWaitsTest, StartOfTheSameWaitHasItsPeer) {
  const uint8_t server =
      readings_.Keep(400 * kMs, {.kind = Kind::kXServer, .pid = 5, .process = "Xorg"});
  Read(100, SYS_read);
  Read(150, SYS_poll);
  Read(200, SYS_poll);
  Read(400, SYS_poll, server);
  const std::string phrase = "waiting for the X server (Xorg, pid 5)";
  EXPECT_EQ(Phrases(), (std::vector<std::string>{"", phrase, phrase, phrase}));
}

TEST_F(NamedWaitsTest, WaitForAChildNeedsNoStack) {
  Read(100, SYS_wait4);
  EXPECT_EQ(Phrases(), std::vector<std::string>{"waiting for its child"});
}

}  // namespace
}  // namespace jankbox
