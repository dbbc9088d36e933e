// The rules of LoopWaits against a real GLib, whose polls (and this program's own) are seen through
// GotHooks. What a wait is, is known from where the test is when it happens.
#include <glib.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "base/file.h"
#include "monitors/looper/loop_waits.h"
#include "tracer/hook/got_hooks.h"

namespace jankbox {
namespace {

OriginalFunction g_poll;

// What the watched thread saw; touched by it alone.
struct Watched {
  LoopWaits waits;
  bool loop_runs = false;  // what happens now is the loop's doing, not a callback's
  int own_waits = 0;
  int other_waits = 0;
  int loop_waits_missed = 0;
  int other_waits_mistaken = 0;
};
thread_local Watched* t_watched = nullptr;

int PollProxy(pollfd* fds, nfds_t count, int timeout_ms) {
  if (t_watched != nullptr) {
    const WaitCall call = {__builtin_return_address(0),
                           __builtin_dwarf_cfa(),
                           WaitFamily::kPoll,
                           count > 0 ? fds[0].fd : -1,
                           &fds->fd,
                           count,
                           sizeof(*fds)};
    const bool own = t_watched->waits.DecideWait(call, LoopModules::Find(call.call_site));
    const bool expected = t_watched->loop_runs;
    ++(expected ? t_watched->own_waits : t_watched->other_waits);
    if (expected && !own) ++t_watched->loop_waits_missed;
    if (!expected && own) ++t_watched->other_waits_mistaken;
  }
  return g_poll.Get<decltype(::poll)>()(fds, count, timeout_ms);
}

bool IsGlibOrThisProgram(std::string_view path) {
  const std::string_view name = BaseName(path);
  return name.substr(0, 14) == "libglib-2.0.so" || name == "glib_loop_test";
}

// Runs `body` inside a callback; what it runs of a loop is marked by RunLoop().
class GlibLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    LoopModules::Refresh();
    const HookRequest request = {"poll", IsGlibOrThisProgram, reinterpret_cast<void*>(&PollProxy),
                                 &g_poll};
    Result<HookReport> report = hooks_.Install({&request, 1});
    ASSERT_TRUE(report.ok());
    ASSERT_GE(report->hooked, 2u);
    context_ = g_main_context_new();
    ASSERT_EQ(pipe(pipe_), 0);
  }
  void TearDown() override {
    hooks_.Uninstall();
    g_main_context_unref(context_);
    close(pipe_[0]);
    close(pipe_[1]);
  }

  // On a thread of its own: `before` outside of any loop, then a loop whose callbacks run `ticks`
  // times each 2 ms, the given ones doing `work`.
  void Watch(const std::function<void()>& before, const std::function<void(int tick)>& work,
             int ticks = 20) {
    std::thread thread([&] {
      g_main_context_push_thread_default(context_);
      t_watched = &watched_;
      before();
      GMainLoop* loop = g_main_loop_new(context_, FALSE);
      std::function<bool()> tick = [&, n = 0]() mutable {
        work(n);
        if (++n == ticks) g_main_loop_quit(loop);
        return n < ticks;
      };
      Every(2, &tick, context_);
      RunLoop(loop);
      g_main_loop_unref(loop);
      t_watched = nullptr;
      g_main_context_pop_thread_default(context_);
    });
    thread.join();
  }

  // `callback` each `ms`, until it returns false. While it runs, the loop does not.
  static void Every(int ms, std::function<bool()>* callback, GMainContext* context) {
    GSource* source = g_timeout_source_new(static_cast<guint>(ms));
    g_source_set_callback(
        source,
        [](gpointer argument) -> gboolean {
          const bool loop_ran = t_watched->loop_runs;
          t_watched->loop_runs = false;
          const bool again = (*static_cast<std::function<bool()>*>(argument))();
          t_watched->loop_runs = loop_ran;
          return again;
        },
        callback, nullptr);
    g_source_attach(source, context);
    g_source_unref(source);
  }

  static void RunLoop(GMainLoop* loop) {
    t_watched->loop_runs = true;
    g_main_loop_run(loop);
    t_watched->loop_runs = false;
  }

  void PollOwnPipe(int times, int ms) {
    for (int i = 0; i < times; ++i) {
      pollfd own{.fd = pipe_[0], .events = POLLIN};
      poll(&own, 1, ms);
    }
  }

  void ExpectAllRight(int least_own, int least_other) {
    EXPECT_EQ(watched_.loop_waits_missed, 0);
    EXPECT_EQ(watched_.other_waits_mistaken, 0);
    EXPECT_GE(watched_.own_waits, least_own);
    EXPECT_GE(watched_.other_waits, least_other);
    EXPECT_STREQ(watched_.waits.loop_name(), "glib");
  }

  GotHooks hooks_;
  GMainContext* context_ = nullptr;
  int pipe_[2] = {-1, -1};
  Watched watched_;
};

TEST_F(GlibLoopTest, EachIterationIsOneWaitOfTheLoop) {
  Watch([] {}, [](int) {});
  ExpectAllRight(20, 0);
}

TEST_F(GlibLoopTest, CallbackThatPollsAnOwnPipeIsOneDispatch) {
  Watch([] {},
        [&](int tick) {
          if (tick % 5 == 1) PollOwnPipe(40, 1);
        });
  ExpectAllRight(20, 160);
}

TEST_F(GlibLoopTest, CallbackThatPollsFromTheFirstDispatchOnIsPartOfIt) {
  Watch([] {}, [&](int) { PollOwnPipe(30, 0); });
  ExpectAllRight(20, 600);
}

TEST_F(GlibLoopTest, NestedRunOfTheSameContextIsTheLoop) {
  Watch([] {},
        [&](int tick) {
          if (tick != 3) return;
          GMainLoop* dialog = g_main_loop_new(context_, FALSE);
          std::function<bool()> close_dialog = [&, n = 0]() mutable {
            PollOwnPipe(5, 0);
            if (++n == 10) g_main_loop_quit(dialog);
            return n < 10;
          };
          Every(1, &close_dialog, context_);
          RunLoop(dialog);
          g_main_loop_unref(dialog);
        });
  ExpectAllRight(30, 50);
}

TEST_F(GlibLoopTest, PrivateContextThatACallbackWaitsForIsPartOfTheDispatch) {
  Watch([] {},
        [&](int tick) {
          if (tick % 5 != 2) return;
          GMainContext* own = g_main_context_new();
          bool done = false;
          std::function<bool()> finish = [&, n = 0]() mutable {
            done = ++n == 10;
            return !done;
          };
          Every(1, &finish, own);
          while (!done) g_main_context_iteration(own, TRUE);
          g_main_context_unref(own);
        });
  ExpectAllRight(20, 40);
}

TEST_F(GlibLoopTest, IterationsBeforeTheLoopDoNotHideIt) {
  Watch(
      [&] {
        for (int i = 0; i < 5; ++i) {
          t_watched->loop_runs = true;
          g_main_context_iteration(context_, FALSE);
          t_watched->loop_runs = false;
        }
      },
      [&](int) { PollOwnPipe(3, 0); });
  ExpectAllRight(20, 60);
}

// A program that waits by itself while it starts, from a frame that outlives that (its main's), or
// from one that is gone.
TEST_F(GlibLoopTest, OwnWaitsBeforeTheLoopDoNotHideIt) {
  Watch(
      [&] {
        PollOwnPipe(10, 0);
        watched_ = {.waits = watched_.waits};
      },
      [&](int) {}, 100);
  EXPECT_LE(watched_.loop_waits_missed, 3);
  EXPECT_STREQ(watched_.waits.loop_name(), "glib");
}

TEST_F(GlibLoopTest, OwnWaitsInTheFrameThatRunsTheLoopDoNotHideIt) {
  std::thread thread([&] {
    g_main_context_push_thread_default(context_);
    t_watched = &watched_;
    GMainLoop* loop = g_main_loop_new(context_, FALSE);
    std::function<bool()> tick = [&, n = 0]() mutable {
      if (++n == 100) g_main_loop_quit(loop);
      return n < 100;
    };
    Every(1, &tick, context_);
    for (int i = 0; i < 10; ++i) {
      pollfd own{.fd = pipe_[0], .events = POLLIN};
      poll(&own, 1, 0);
    }
    watched_ = {.waits = watched_.waits};
    RunLoop(loop);
    g_main_loop_unref(loop);
    t_watched = nullptr;
    g_main_context_pop_thread_default(context_);
  });
  thread.join();
  EXPECT_LE(watched_.loop_waits_missed, 3);
  EXPECT_STREQ(watched_.waits.loop_name(), "glib");
}

}  // namespace
}  // namespace jankbox
