// AOSP's own Looper, Handler and Message on a JVM: our Java shim, its JNI and libjankbox.so, under
// -Xcheck:jni. A scenario is a program of its own: tests/android/java/dev/jankbox/Scenario.java.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "tests/android/vm_test.h"

namespace jankbox {
namespace {

class LooperVmTest : public VmTest {
 protected:
  void Run(const std::string& scenario, int api_level = 29) {
    outcome_ = RunProgram(
        JavaScenario(scenario, Folder("spool"), {"-Dstub.sdk_int=" + std::to_string(api_level)}));
    ASSERT_EQ(outcome_.exit_status, 0) << outcome_.out << outcome_.err;
    // An app's own folder, if the scenario does not name one.
    reports_ = Reports(Folder(scenario == "app" ? "spool/jankbox" : "spool"));
    // A message that got no CPU on a busy machine is none of the scenario's.
    reports_.erase(std::remove_if(reports_.begin(), reports_.end(), IsStarved), reports_.end());
  }

  static bool IsStarved(const proto::Report& report) {
    return report.verdict().runnable_ns() > report.duration_ns() / 2 && report.duration_ns() != 0;
  }

  bool Said(const std::string& line) const {
    return ("\n" + outcome_.out).find("\n" + line + "\n") != std::string::npos;
  }
  std::vector<proto::Report> OfKind(proto::Kind kind) const {
    std::vector<proto::Report> found;
    std::copy_if(reports_.begin(), reports_.end(), std::back_inserter(found),
                 [kind](const proto::Report& report) { return report.kind() == kind; });
    return found;
  }
  static std::string Attribute(const proto::Report& report, const std::string& key) {
    for (const proto::Attribute& attribute : report.attributes()) {
      if (attribute.key() == key) return attribute.value();
    }
    return "";
  }

  Outcome outcome_;
  std::vector<proto::Report> reports_;
};

TEST_F(LooperVmTest, SlowMessageIsOneReport) {
  Run("slow");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  ASSERT_EQ(reports_.size(), 1u);
  const proto::Report& report = reports_[0];
  EXPECT_EQ(report.kind(), proto::SLOW_MESSAGE);
  EXPECT_EQ(report.what(), "Scenario$Work: 7");
  EXPECT_EQ(report.loop(), "android.os.Looper");
  EXPECT_GE(report.duration_ns(), 400'000'000u);
  EXPECT_TRUE(Said("app sections true")) << outcome_.out;
}

TEST_F(LooperVmTest, NestedPrintersPrintAndAreSeenThrough) {
  Run("nested");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].what(), "Scenario$Work: 7");
  // Two printers, each with the start and the end of four messages, and the end of the one in which
  // ours came.
  EXPECT_TRUE(Said("foreign lines 16")) << outcome_.out;
}

TEST_F(LooperVmTest, ForeignPrinterIsChainedAtTheIdleLook) {
  Run("foreign");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  // Of the two slow messages the one that followed the look; the other one, too, if a busy machine
  // made the look come earlier.
  ASSERT_THAT(reports_.size(), ::testing::AnyOf(1u, 2u));
  EXPECT_EQ(reports_.back().what(), "Scenario$Work: 7");
  EXPECT_TRUE(Said("chain ours another\nchain ours another")) << outcome_.out;
}

TEST_F(LooperVmTest, WrapperOfAnotherClassLoaderIsLeftAlone) {
  Run("other_loader");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  EXPECT_TRUE(Said("same class false")) << outcome_.out;
  EXPECT_TRUE(Said("left alone true")) << outcome_.out;
}

TEST_F(LooperVmTest, AnrHasTheJavaStackOfTheBlamedCall) {
  Run("anr");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  ASSERT_EQ(reports_.size(), 1u);
  const proto::Report& report = reports_[0];
  EXPECT_EQ(report.kind(), proto::ANR);
  EXPECT_EQ(report.what(), "Scenario$Work: 8");
  EXPECT_GE(report.duration_ns(), 2'500'000'000u);
  std::string stack;
  for (int i = 0; i < 10; ++i) {
    stack += Attribute(report, "java_stack_0" + std::to_string(i)) + "\n";
  }
  EXPECT_NE(stack.find("dev.jankbox.Scenario$Album.decode(Scenario.java:"), std::string::npos)
      << stack;
  EXPECT_NE(stack.find("dev.jankbox.Scenario$Album.loadEverything(Scenario.java:"),
            std::string::npos)
      << stack;
  EXPECT_NE(stack.find("android.os.Looper.loop(Looper.java:"), std::string::npos) << stack;
  EXPECT_NE(Attribute(report, "java_stack").find(" samples"), std::string::npos);
  EXPECT_EQ(Attribute(report, "java_wait").substr(0, 39),
            "TIMED_WAITING in java.lang.Thread.sleep");
}

TEST_F(LooperVmTest, HundredThousandMessagesAreSeenBeforeTheSlowOne) {
  Run("many");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].what(), "Scenario$Work: 7");
  EXPECT_GE(reports_[0].history().count(), 1000u);  // of those within the window
}

TEST_F(LooperVmTest, FramesOfTheRealChoreographerAreCounted) {
  Run("frames");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  EXPECT_TRUE(Said("watched true")) << outcome_.out;
  std::vector<proto::Report> janky = OfKind(proto::JANK);
  // The frame takes 190 ms. On a busy machine it takes 200, and is a slow message, too.
  if (janky.empty()) janky = OfKind(proto::SLOW_MESSAGE);
  ASSERT_EQ(janky.size(), 1u);
  EXPECT_GE(janky[0].duration_ns(), janky[0].kind() == proto::JANK ? 190'000'000u : 200'000'000u);
  EXPECT_GE(janky[0].frame_dropped(), 10u);
}

TEST_F(LooperVmTest, AppIsFollowedAsItsManifestSays) {
  Run("app", 36);
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  const std::vector<proto::Report> janky = OfKind(proto::JANK);
  ASSERT_EQ(janky.size(), 1u);
  EXPECT_EQ(janky[0].frame_source(), "frame metrics");
  // What the compositor said of the frame, under the frame's own vsync id.
  EXPECT_EQ(janky[0].janky_frame().vsync_id(), 4021u);
  EXPECT_EQ(Attribute(janky[0], "frame_jank_last"), "4021 application 190/16 ms");
  EXPECT_EQ(Attribute(janky[0], "frame_jank").substr(0, 37),
            "application 1, composer 0, other 0 of");
  const std::vector<proto::Report> slow = OfKind(proto::SLOW_MESSAGE);
  ASSERT_EQ(slow.size(), 1u) << outcome_.err;
  EXPECT_EQ(slow[0].what(), "Scenario$Work: 7");
  EXPECT_EQ(slow[0].app_name(), "org.example.gallery");
  EXPECT_EQ(slow[0].app_version(), "3.1");
  std::map<std::string, std::string> states;
  for (const proto::State& state : slow[0].states()) states[state.key()] = state.value();
  EXPECT_EQ(states["screen"], "Gallery");
  EXPECT_EQ(states["network"], "metered");
  EXPECT_TRUE(Said("triggers 1")) << outcome_.out;
  EXPECT_TRUE(Said("kept second third")) << outcome_.out;
}

// 1 s passes before the activity is shown, which then takes some milliseconds.
TEST_F(LooperVmTest, ProcessThatWasStartedInTheBackgroundHasNoColdStart) {
  for (const bool in_front : {true, false}) {
    const std::string folder = Folder(in_front ? "front" : "back");
    outcome_ = RunProgram(JavaScenario(
        "shown_late", folder,
        {"-Dcold_start_ms=900", std::string("-Dstub.importance=") + (in_front ? "100" : "300")}));
    ASSERT_EQ(outcome_.exit_status, 0) << outcome_.out << outcome_.err;
    reports_ = Reports(folder + "/jankbox");
    const std::vector<proto::Report> starts = OfKind(proto::STARTUP);
    EXPECT_EQ(starts.size(), in_front ? 1u : 0u);
    for (const proto::Report& start : starts) EXPECT_EQ(start.what(), "cold start");
  }
}

TEST_F(LooperVmTest, LongAndForeignNamesAreCut) {
  Run("long_name");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  ASSERT_EQ(reports_.size(), 2u);
  for (const proto::Report& report : reports_) {
    EXPECT_EQ(report.what().substr(0, 21), "Scenario$Work Größe");
    EXPECT_LE(report.what().size(), 57u);
  }
}

TEST_F(LooperVmTest, RecoveredReportSaysWhatAndroidKnowsOfTheExit) {
  const std::string folder = Folder("spool/jankbox");
  pid_t pid = 0;
  {
    Program killed(JavaScenario("killed", folder));
    pid = killed.pid();
    ASSERT_TRUE(killed.WaitForOutput("hanging", 30000)) << killed.Output();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    killed.Signal(SIGKILL);
    EXPECT_EQ(killed.Wait(10000).signal, SIGKILL);
  }
  outcome_ = RunProgram(JavaScenario(
      "app", Folder("spool"), {"-Dstub.sdk_int=30", "-Dstub.exit_pid=" + std::to_string(pid)}));
  ASSERT_EQ(outcome_.exit_status, 0) << outcome_.out << outcome_.err;
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  reports_ = Reports(folder);
  const std::vector<proto::Report> recovered = OfKind(proto::RECOVERED);
  ASSERT_EQ(recovered.size(), 1u);
  EXPECT_EQ(recovered[0].what(), "Scenario$Work: 8");
  EXPECT_EQ(Attribute(recovered[0], "exit_reason"), "low memory");
  EXPECT_EQ(Attribute(recovered[0], "exit_description"), "too many cached");
  EXPECT_EQ(recovered[0].end_reason(), "low memory");
  EXPECT_EQ(recovered[0].end_evidence(), "ApplicationExitInfo");
  EXPECT_TRUE(Said("triggers 0")) << outcome_.out;  // of API 36 only
}

TEST_F(LooperVmTest, SlowIdleHandlerIsOneReport) {
  Run("idle");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_EQ(reports_[0].what(), "idle: IdleWork$Refill");
  EXPECT_EQ(reports_[0].idle_callback(), "IdleWork$Refill");
  EXPECT_GE(reports_[0].idle_callback_ns(), 2'000'000'000u);
  EXPECT_NE(Attribute(reports_[0], "java_stack"), "");
  EXPECT_TRUE(Said("early ran true, taken ran false")) << outcome_.out;
  EXPECT_TRUE(Said("while it runs IdleHandlers Timed LooperMonitor")) << outcome_.out;
  EXPECT_TRUE(Said("behind it ArrayList Early")) << outcome_.out;
}

// The threshold, 600 ms, is lowered while it records.
TEST_F(LooperVmTest, WaitOfASlowMessageIsNamed) {
  Run("waits");
  EXPECT_TRUE(Said("slow from 200 ms")) << outcome_.out;
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  std::string waits;
  for (const proto::Report& report : reports_) waits += Attribute(report, "java_wait") + "\n";
  for (const char* wait :
       {"WAITING, parked on java.util.concurrent.locks.ReentrantLock$NonfairSync, in ",
        "BLOCKED on a monitor, in ", "TIMED_WAITING in java.lang.Object.wait, in "}) {
    EXPECT_NE(waits.find(wait), std::string::npos) << waits;
  }
}

TEST_F(LooperVmTest, InflatedViewsAreRenderWork) {
  Run("inflate");
  EXPECT_EQ(JniWarnings(outcome_), 0u) << outcome_.out;
  EXPECT_TRUE(Said("traced 0 0 0")) << outcome_.out;
  EXPECT_TRUE(Said("made View Chart View nothing")) << outcome_.out;
  ASSERT_EQ(reports_.size(), 1u);
  std::map<std::string, uint64_t> work;
  for (const auto& item : reports_[0].render_work()) work[item.name()] = item.duration_ns();
  EXPECT_GE(work["inflate: dev.jankbox.Inflation$Chart"], 250'000'000u);
  EXPECT_EQ(work.count("inflate: android.view.View"), 1u);
}

// What the other cases would find in the output if there were something to find.
TEST_F(LooperVmTest, MistakeIsReportedByTheCheck) {
  Run("mistake");
  EXPECT_EQ(JniWarnings(outcome_), 1u) << outcome_.out;
}

}  // namespace
}  // namespace jankbox
