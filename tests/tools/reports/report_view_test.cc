#include "tools/reports/report_view.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace jankbox::tools {
namespace {

using nlohmann::json;

TEST(ViewReport, AnythingButAReportReadsAsEmpty) {
  for (const char* text : {"{}", "[]", "null", "7", "\"x\"",
                           R"({"id":7,"verdict":[],"top_frames":{"a":1},"window":"x","losses":3})",
                           R"({"verdict":{"running_ms":"many"},"top_frames":[1,null,"x"]})"}) {
    const ReportView view = ViewReport(json::parse(text));
    EXPECT_EQ(view.id, "") << text;
    EXPECT_EQ(view.duration_ms, 0) << text;
    EXPECT_EQ(view.shares.size(), 10u) << text;
  }
}

TEST(ViewReport, AbsurdNumbersAreBounded) {
  const ReportView view =
      ViewReport(json::parse(R"({"duration_ms":-5,"revision":1e300,"pid":-1e300,"tid":3.7})"));
  EXPECT_EQ(view.duration_ms, 0);
  EXPECT_EQ(view.pid, 0);
  EXPECT_EQ(view.tid, 3);
}

TEST(ViewReport, StringsLoseTheirEscapes) {
  const ReportView view = ViewReport(
      {{"process", "\x1b]0;evil\x07"}, {"notes", {"a\nb"}}, {"losses", {{"lost_samples", 3}}}});
  EXPECT_EQ(view.process, "?]0;evil?");
  EXPECT_EQ(view.notes.at(0), "a?b");
  ASSERT_EQ(view.losses.size(), 1u);
  EXPECT_EQ(view.losses[0].first, "lost samples");
}

json Frame(const char* function, const char* module) {
  return {{"function", function}, {"module", module}, {"rel_pc", 0x1234}};
}

json JavaReport(const std::vector<const char*>& calls) {
  json attributes = {{{"key", "java_stack"}, {"value", "in 9 of 10 samples"}},
                     {{"key", "java_wait"}, {"value", "WAITING in a.B.c"}},
                     {{"key", "other"}, {"value", "x"}}};
  for (size_t i = 0; i < calls.size(); ++i) {
    attributes.push_back({{"key", "java_stack_0" + std::to_string(i)}, {"value", calls[i]}});
  }
  return {{"attributes", attributes}, {"top_frames", {Frame("clock_nanosleep", "libc.so.6")}}};
}

TEST(ViewReport, JavaCallsAreItsAttributes) {
  const ReportView view = ViewReport(JavaReport({"a.B.c(B.java:1)", "d.E.f(E.java:2)"}));
  EXPECT_EQ(view.java.seen, "in 9 of 10 samples");
  EXPECT_EQ(view.java.wait, "WAITING in a.B.c");
  EXPECT_EQ(view.java.calls, (std::vector<std::string>{"a.B.c(B.java:1)", "d.E.f(E.java:2)"}));
}

TEST(BlamedFunction, JavaCallOfTheProgramComesBeforeNativeFunctions) {
  const json own =
      JavaReport({"java.lang.Thread.sleep(Native Method)", "app.Save.run(Save.java:3)"});
  EXPECT_EQ(BlamedFunction(ViewReport(own)), "app.Save.run");
  const json platform = JavaReport({"java.lang.Thread.sleep(Native Method)"});
  EXPECT_EQ(BlamedFunction(ViewReport(platform)), "clock_nanosleep");
  json compiled = platform;
  compiled["top_frames"] = {Frame("?+0x7f4dac952e44", "?")};
  EXPECT_EQ(BlamedFunction(ViewReport(compiled)), "java.lang.Thread.sleep");
}

TEST(BlamedFunction, InstrumentedMethodComesFirst) {
  const ReportView view = ViewReport(
      {{"top_frames",
        {Frame("memcpy", "libc.so.6"), Frame("app_draw", "app"), Frame("Decode", "[method]")}}});
  EXPECT_EQ(BlamedFunction(view), "Decode");
}

TEST(BlamedFunction, ReportSaysItItself) {
  const ReportView view = ViewReport({{"identity", {{"blamed_function", "app+0x1200"}}},
                                      {"top_frames", {Frame("g_closure_invoke", "libgobject")}}});
  EXPECT_EQ(BlamedFunction(view), "app+0x1200");
}

TEST(BlamedFunction, CallerOfTheCLibraryIsBlamed) {
  const ReportView view = ViewReport({{"top_frames",
                                       {Frame("__poll", "libc.so.6"), Frame("", "libfoo.so"),
                                        Frame("g_main_context_poll", "libglib-2.0.so.0")}}});
  EXPECT_EQ(BlamedFunction(view), "g_main_context_poll");
}

TEST(BlamedFunction, LittleIsBetterThanNothing) {
  EXPECT_EQ(BlamedFunction(ViewReport({{"top_frames", {Frame("", "libfoo.so")}}})),
            "libfoo.so+0x1234");
  EXPECT_EQ(BlamedFunction(ViewReport({{"what", "timer 7"}})), "timer 7");
  EXPECT_EQ(BlamedFunction(ViewReport(json::object())), "");
}

TEST(DurationText, UnitsChangeWhereTheyReadBetter) {
  EXPECT_EQ(DurationText(0.84), "0.8 ms");
  EXPECT_EQ(DurationText(912.4), "912 ms");
  EXPECT_EQ(DurationText(999.6), "1.0 s");
  EXPECT_EQ(DurationText(6012), "6.0 s");
  EXPECT_EQ(DurationText(123'000), "2 min 3 s");
}

TEST(LocalTime, FollowsTheTimeZone) {
  setenv("TZ", "UTC-3", 1);  // three hours east
  tzset();
  EXPECT_EQ(LocalTime("2026-03-01T12:00:00.123Z"), "2026-03-01 15:00:00");
  EXPECT_EQ(LocalTime("2026-03-01T12:00:00.123Z", true), "15:00:00.123");
  EXPECT_EQ(LocalTime("soon"), "soon");
  unsetenv("TZ");
  tzset();
}

}  // namespace
}  // namespace jankbox::tools
