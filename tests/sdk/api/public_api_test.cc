// The C API as a program calls it: its version, its status codes, and what each call does without a
// recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "jankbox/frames.h"
#include "jankbox/incident.h"
#include "jankbox/jankbox.h"
#include "jankbox/plugin.h"
#include "report/report_file.h"
#include "tests/fakes/latch.h"
#include "tests/tracer/ring/private_ring_place.h"
#include "tests/uploader/temporary_folder.h"

namespace jankbox {
namespace {

using testing::HasSubstr;

std::vector<proto::Report> ReportsIn(const std::string& folder) {
  std::vector<proto::Report> reports;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(kReportFileSuffix)) continue;
    const Result<proto::Report> report = ReadReportFile(entry.path());
    EXPECT_TRUE(report.ok());
    if (report.ok()) reports.push_back(report.value());
  }
  return reports;
}

// `folder` outlives them.
jankbox_options OptionsFor(const TemporaryFolder& folder) {
  jankbox_options options = {};
  options.size = sizeof(options);
  options.dir = folder.path().c_str();
  options.flags = JANKBOX_FLAG_NO_LOOP_HOOKS;
  return options;
}

std::set<std::string> Messages(const std::string& folder) {
  std::set<std::string> messages;
  for (const proto::Report& report : ReportsIn(folder)) messages.insert(report.what());
  return messages;
}

TEST(PublicApi, VersionIsTheProjects) { EXPECT_STREQ(JANKBOX_VERSION, JANKBOX_PROJECT_VERSION); }

TEST(PublicApi, CallsThatNeedARecordingSayThatThereIsNone) {
  jankbox_options options = {};
  options.size = sizeof(options);
  options.slow_message_ms = 300;
  EXPECT_EQ(jankbox_configure(&options), JANKBOX_NOT_RUNNING);
  EXPECT_EQ(jankbox_flush(1), JANKBOX_NOT_RUNNING);
  EXPECT_EQ(jankbox_snapshot("none"), JANKBOX_NOT_RUNNING);
  EXPECT_EQ(jankbox_report_incident("none", 1, 2), JANKBOX_NOT_RUNNING);
  EXPECT_EQ(jankbox_watch_this_thread("none"), JANKBOX_NOT_RUNNING);
  jankbox_stop();
}

TEST(PublicApi, ErrorsComeWithASentence) {
  jankbox_options options = {};
  options.size = sizeof(options);
  options.window_ms = 1;
  EXPECT_EQ(jankbox_start(&options), JANKBOX_INVALID_ARGUMENT);
  EXPECT_THAT(jankbox_last_error(), HasSubstr("window_ms"));
  EXPECT_EQ(jankbox_add_listener(nullptr, nullptr), JANKBOX_INVALID_ARGUMENT);
  EXPECT_THAT(jankbox_last_error(), HasSubstr("listener"));
  EXPECT_EQ(jankbox_add_plugin(nullptr), JANKBOX_INVALID_ARGUMENT);
  EXPECT_THAT(jankbox_last_error(), HasSubstr("plugin"));
  EXPECT_EQ(jankbox_set_state(nullptr, "value"), JANKBOX_INVALID_ARGUMENT);
  EXPECT_THAT(jankbox_last_error(), HasSubstr("key"));
}

TEST(PublicApi, StatesBeyond32AreRefusedUntilOneIsRemoved) {
  for (int i = 0; i < 32; ++i) {
    ASSERT_EQ(jankbox_set_state(std::to_string(i).c_str(), "set"), JANKBOX_OK);
  }
  EXPECT_EQ(jankbox_set_state("one more", "set"), JANKBOX_NO_SPACE);
  EXPECT_EQ(jankbox_set_state("0", nullptr), JANKBOX_OK);
  EXPECT_EQ(jankbox_set_state("one more", "set"), JANKBOX_OK);
  EXPECT_EQ(jankbox_set_state("one more", nullptr), JANKBOX_OK);
  for (int i = 1; i < 32; ++i) jankbox_set_state(std::to_string(i).c_str(), nullptr);
}

TEST(PublicApi, InputTimesAreConvertedOverTheWrapOf32Bits) {
  constexpr uint64_t kWrapMs = uint64_t{1} << 32;
  const uint64_t now_ns = (kWrapMs + 100) * kNsPerMs + 7;
  EXPECT_EQ(jankbox_input_time_ns(40, now_ns), now_ns - 60 * kNsPerMs);
  EXPECT_EQ(jankbox_input_time_ns(100, now_ns), now_ns);
  EXPECT_EQ(jankbox_input_time_ns(UINT32_MAX, now_ns), now_ns - 101 * kNsPerMs);
  // One that lies ahead becomes one of 49 days ago, which jankbox_input() ignores.
  EXPECT_LT(jankbox_input_time_ns(101, now_ns), now_ns - 49ull * 86'400 * kNsPerSecond);
}

TEST(PublicApi, VsyncIsReadOncePerInterval) {
  int descriptor = -1;
  EXPECT_EQ(jankbox_vsync_open(0, &descriptor), JANKBOX_INVALID_ARGUMENT);
  EXPECT_EQ(jankbox_vsync_open(1001, &descriptor), JANKBOX_INVALID_ARGUMENT);
  EXPECT_EQ(jankbox_vsync_open(60, nullptr), JANKBOX_INVALID_ARGUMENT);
  ASSERT_EQ(jankbox_vsync_open(1, &descriptor), JANKBOX_OK);
  jankbox_frame_info frame = {};
  EXPECT_EQ(jankbox_vsync_read(descriptor, &frame), JANKBOX_INVALID_ARGUMENT);  // no size
  frame.size = sizeof(frame);
  EXPECT_EQ(jankbox_vsync_read(descriptor, &frame), JANKBOX_WOULD_BLOCK);
  pollfd due = {descriptor, POLLIN, 0};
  ASSERT_EQ(poll(&due, 1, 10'000), 1);
  EXPECT_EQ(jankbox_vsync_read(descriptor, &frame), JANKBOX_OK);
  EXPECT_EQ(frame.interval_ns, kNsPerSecond);
  EXPECT_EQ(frame.deadline_ns, frame.vsync_ns + kNsPerSecond);
  EXPECT_GE(frame.begin_ns, frame.vsync_ns);
  close(descriptor);
}

TEST(PublicApi, FlushTimesOutWhileAListenerHoldsTheReport) {
  TemporaryFolder folder;
  jankbox_options options = {};
  options.size = sizeof(options);
  options.dir = folder.path().c_str();
  options.min_free_mib = UINT32_MAX;
  options.flags = JANKBOX_FLAG_NO_LOOP_HOOKS;
  ASSERT_EQ(jankbox_start(&options), JANKBOX_OK) << jankbox_last_error();
  EXPECT_EQ(jankbox_watch_this_thread("test loop"), JANKBOX_OK);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  const jankbox_incident_listener wait = [](const jankbox_incident*, void* context) -> int {
    static_cast<const std::shared_future<void>*>(context)->wait();
    return JANKBOX_INCIDENT_REPORT;
  };
  void* context = const_cast<std::shared_future<void>*>(&released);
  ASSERT_EQ(jankbox_add_listener(wait, context), JANKBOX_OK);
  ASSERT_EQ(jankbox_snapshot("held"), JANKBOX_OK);
  EXPECT_EQ(jankbox_flush(50), JANKBOX_TIMED_OUT);
  release.set_value();
  EXPECT_EQ(jankbox_flush(30'000), JANKBOX_OK);
  jankbox_remove_listener(wait, context);
  jankbox_stop();
}

TEST(PublicApi, WindowEndsWithItsIncidentHoweverLateItIsSealed) {
  constexpr uint64_t kHeldNs = kNsPerSecond;
  TemporaryFolder folder;
  const jankbox_options options = OptionsFor(folder);
  ASSERT_EQ(jankbox_start(&options), JANKBOX_OK) << jankbox_last_error();
  const jankbox_incident_listener hold = [](const jankbox_incident*, void*) -> int {
    usleep(kHeldNs / 1000);
    return JANKBOX_INCIDENT_REPORT;
  };
  ASSERT_EQ(jankbox_add_listener(hold, nullptr), JANKBOX_OK);
  EXPECT_EQ(jankbox_snapshot("first"), JANKBOX_OK);
  EXPECT_EQ(jankbox_snapshot("second"), JANKBOX_OK);
  const uint64_t asked_ns = ClockNs(CLOCK_BOOTTIME);
  EXPECT_EQ(jankbox_flush(30'000), JANKBOX_OK);
  jankbox_remove_listener(hold, nullptr);
  jankbox_stop();
  const std::vector<proto::Report> reports = ReportsIn(folder.path());
  for (const proto::Report& report : reports) {
    EXPECT_LT(report.window().to_ns(), asked_ns + kHeldNs) << report.what();
  }
  EXPECT_EQ(reports.size(), 2u);
}

bool HasThread(const std::string& name) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (ReadProcFile(thread.path().string() + "/comm") == name + "\n") return true;
  }
  return false;
}

TEST(PublicApi, NextStartWritesTheReportThatAStopLeft) {
  PrivateRingPlace place;
  TemporaryFolder folder;
  jankbox_options options = OptionsFor(folder);
  options.slow_message_ms = 50;
  ASSERT_EQ(jankbox_start(&options), JANKBOX_OK) << jankbox_last_error();
  struct Sealing {
    Latch began, stops;
  } sealing;
  const jankbox_incident_listener hold = [](const jankbox_incident*, void* context) -> int {
    auto* self = static_cast<Sealing*>(context);
    self->began.Open();
    self->stops.Wait();
    usleep(5'000'000);  // longer than a stop waits: the thread is left, and goes on
    return JANKBOX_INCIDENT_REPORT;
  };
  ASSERT_EQ(jankbox_add_listener(hold, &sealing), JANKBOX_OK);
  for (const char* message : {"first", "second"}) {
    jankbox_dispatch_begin(message, 0);
    usleep(80'000);
    jankbox_dispatch_end();
    ASSERT_TRUE(sealing.began.Wait());
  }
  sealing.stops.Open();
  const uint64_t stops_ns = MonotonicNs();
  jankbox_stop();
  EXPECT_LT(MonotonicNs() - stops_ns, 4 * kNsPerSecond) << "2 s, and a busy machine";
  EXPECT_THAT(jankbox_last_error(), HasSubstr("2 reports were not written"));
  jankbox_remove_listener(hold, &sealing);
  ASSERT_EQ(jankbox_start(&options), JANKBOX_OK) << jankbox_last_error();
  EXPECT_EQ(jankbox_flush(30'000), JANKBOX_OK);
  jankbox_stop();
  EXPECT_EQ(Messages(folder.path()), (std::set<std::string>{"first", "second"}));
  // The thread that the first stop left ends after its report, which is the same one again.
  while (HasThread("jankbox-seal")) usleep(10'000);
  EXPECT_EQ(ReportsIn(folder.path()).size(), 2u);
}

// It may call all but start and stop.
TEST(PublicApi, PluginCallsTheLibraryAsItStartsAndStops) {
  TemporaryFolder folder;
  const jankbox_options options = OptionsFor(folder);
  const auto call_all = [](void* answers) {
    static_cast<std::vector<jankbox_status>*>(answers)->assign(
        {jankbox_report_incident("of a plugin", 1, 2), jankbox_snapshot("of a plugin"),
         jankbox_watch_this_thread("plugin")});
  };
  std::vector<jankbox_status> answers;
  jankbox_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = "calls";
  plugin.context = &answers;
  plugin.start = call_all;
  plugin.stop = call_all;
  ASSERT_EQ(jankbox_add_plugin(&plugin), JANKBOX_OK);
  const std::vector<jankbox_status> all_done(3, JANKBOX_OK);
  ASSERT_EQ(jankbox_start(&options), JANKBOX_OK) << jankbox_last_error();
  EXPECT_EQ(answers, all_done);
  answers.clear();
  jankbox_stop();
  EXPECT_EQ(answers, all_done);
}

// In processes of their own, which hang if it fails.
jankbox_plugin PluginThatStops(void (*stop)(void*)) {
  jankbox_plugin plugin = {};
  plugin.size = sizeof(plugin);
  plugin.name = "stops";
  plugin.stop = stop;
  return plugin;
}

Latch g_stopping, g_forked;

void StartInAChildThatWasForkedDuringAStop() {
  alarm(60);
  TemporaryFolder folder;
  const jankbox_options options = OptionsFor(folder);
  const jankbox_plugin plugin = PluginThatStops([](void*) {
    g_stopping.Open();
    g_forked.Wait();
  });
  if (jankbox_add_plugin(&plugin) != 0 || jankbox_start(&options) != 0) _exit(1);
  std::thread stop(jankbox_stop);
  g_stopping.Wait();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(jankbox_start(&options) == JANKBOX_OK ? 0 : 2);
  }
  g_forked.Open();
  stop.join();
  int status = -1;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

void ExitInAHandlerDuringAStop() {
  alarm(60);
  TemporaryFolder folder;
  const jankbox_options options = OptionsFor(folder);
  signal(SIGTERM, [](int) { exit(0); });
  const jankbox_plugin plugin = PluginThatStops([](void*) { raise(SIGTERM); });
  if (jankbox_add_plugin(&plugin) != 0 || jankbox_start(&options) != 0) _exit(1);
  jankbox_stop();
  _exit(2);
}

TEST(PublicApiDeathTest, ChildThatWasForkedDuringAStopMayStart) {
  EXPECT_EXIT(StartInAChildThatWasForkedDuringAStop(), testing::ExitedWithCode(0), "");
}

TEST(PublicApiDeathTest, ExitInAHandlerDuringAStopEndsTheProcess) {
  EXPECT_EXIT(ExitInAHandlerDuringAStop(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace jankbox
