#include "tools/run/watched_log.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "sdk/linux/unreported.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kStartNs = 100 * kNsPerSecond;

std::string Text(int pid, int index, bool ended, int messages, const char* loop, const char* thread,
                 const char* process) {
  return std::to_string(pid) + "\t" + std::to_string(index) + "\t" + (ended ? "1" : "0") + "\t" +
         std::to_string(messages) + "\t" + loop + "\t" + thread + "\t" + process;
}

TEST(WatchedLog, LoopHasItsMessagesAndItsTime) {
  WatchedLog log;
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.Summary(kStartNs), "");
  log.Add(Text(7, 0, false, 0, "api", "main", "app"), kStartNs);
  log.Add(Text(7, 0, true, 1204, "glib", "main", "app"), kStartNs + 14 * kNsPerSecond);
  EXPECT_EQ(log.Summary(kStartNs + 20 * kNsPerSecond),
            "watched: main (glib), 1204 messages in 14.0 s");
}

TEST(WatchedLog, ThreadThatOnlyStartedUpWasNotWatched) {
  WatchedLog log;
  log.Add(Text(7, 0, false, 1, "", "main", "app"), kStartNs);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.Summary(kStartNs + kNsPerSecond), "");
  log.Add(Text(7, 0, false, 1, "glib", "main", "app"), kStartNs + kNsPerSecond);
  EXPECT_FALSE(log.empty());
}

TEST(WatchedLog, MainThreadThatHasNotReturnedFromItsLoopYetIsWatched) {
  const std::string waiting = WaitingLoopText(7, "fltk", "app");
  WatchedLog log;
  log.Add(waiting, kStartNs);
  EXPECT_FALSE(log.empty());
  EXPECT_EQ(log.Summary(kStartNs + 5 * kNsPerSecond),
            "watched: main (fltk) for 5.0 s, until its process ended without a stop");
  log.Add(Text(7, 1, false, 0, "fltk", "main", "app"), kStartNs + 6 * kNsPerSecond);
  log.Add(waiting, kStartNs + 6 * kNsPerSecond);
  log.Add(Text(7, 1, true, 3, "fltk", "main", "app"), kStartNs + 8 * kNsPerSecond);
  EXPECT_EQ(log.Summary(kStartNs + 9 * kNsPerSecond), "watched: main (fltk), 3 messages in 8.0 s");
}

TEST(WatchedLog, JavaVmsSayWhatWasNotWatched) {
  WatchedLog log;
  log.AddJava("something else");
  EXPECT_FALSE(log.missed_java_ui());
  EXPECT_FALSE(log.java_without_ui());
  log.AddJava("not watched");
  EXPECT_TRUE(log.missed_java_ui());
  EXPECT_FALSE(log.java_without_ui());
  log.AddJava("no ui");
  EXPECT_TRUE(log.java_without_ui());
}

TEST(WatchedLog, ProcessThatWasKilledHasNoCount) {
  WatchedLog log;
  log.Add(Text(7, 0, false, 0, "poll", "main", "app"), kStartNs);
  EXPECT_EQ(log.Summary(kStartNs + 2 * kNsPerSecond),
            "watched: main (poll) for 2.0 s, until its process ended without a stop");
}

TEST(WatchedLog, LoopsOfSeveralProcessesAreTold) {
  WatchedLog log;
  for (int pid : {9, 8, 7, 6}) {
    log.Add(Text(pid, 1, false, 0, "qt", "render", "app"), kStartNs);
    log.Add(Text(pid, 1, true, 1, "qt", "render", "app"), kStartNs + kNsPerSecond);
  }
  EXPECT_EQ(log.Summary(kStartNs),
            "watched: render of app (qt), 1 message in 1.0 s; render of app (qt), 1 message in "
            "1.0 s; render of app (qt), 1 message in 1.0 s; and 1 more loop");
}

TEST(WatchedLog, ThreadThatWasFoundHasItsSign) {
  WatchedLog log;
  log.AddRecognised("7\tui\tX connection");
  for (const char* text : {"x\tui\tQt loop", "8\tui\tQt loop", "7\tui", ""}) {
    log.AddRecognised(text);
  }
  log.Add(Text(7, 0, true, 2, "poll", "main", "app"), kStartNs);
  log.Add(Text(7, 1, true, 9, "glib", "ui", "app"), kStartNs);
  EXPECT_EQ(log.Summary(kStartNs),
            "watched: main (poll), 2 messages; ui (glib, UI thread by its X connection), 9 "
            "messages");
}

TEST(WatchedLog, PossibleStallsAreCounted) {
  WatchedLog log;
  log.Add(Text(7, 0, false, 0, "poll", "main", "app"), kStartNs);
  log.Add(Text(7, 0, true, 9, "poll", "main", "app"), kStartNs + kNsPerSecond);
  for (const char* text : {"2\t300\t0", "1\t1200\t0", "x\t1\t2", "1\t2", ""}) {
    log.AddPossibleStalls(text);
  }
  EXPECT_EQ(log.Summary(kStartNs),
            "watched: main (poll), 9 messages in 1.0 s; 3 possible stalls of up to 1.2 s, not "
            "reported: it was not yet sure which waits are the loop's");
}

TEST(WatchedLog, StartUpThatWasOverBeforeTheRecorderWasReadyIsTold) {
  WatchedLog log;
  log.Add(Text(7, 0, false, 0, "tcl", "main", "wish"), kStartNs);
  log.Add(Text(7, 0, true, 9, "tcl", "main", "wish"), kStartNs + kNsPerSecond);
  log.AddPossibleStalls("0\t0\t3100");
  EXPECT_EQ(log.Summary(kStartNs),
            "watched: main (tcl), 9 messages in 1.0 s; a start-up of 3.1 s was over before it "
            "could be recorded (--startup records it)");
}

TEST(WatchedLog, WhatIsNoMessageIsIgnored) {
  WatchedLog log;
  for (const char* text : {"", "x", "1\t2\t3", "a\t0\t0\t0\tqt\tmain\tapp",
                           "1\t0\t0\t-3\tqt\tmain\tapp", "1\t0\t0\t0\tqt\tmain\tapp\tmore"}) {
    log.Add(text, kStartNs);
  }
  EXPECT_TRUE(log.empty());
}

}  // namespace
}  // namespace jankbox::tools
