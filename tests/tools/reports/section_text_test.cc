#include "tools/reports/section_text.h"

#include <gmock/gmock.h>

#include "report/report_encoder.h"
#include "tests/report/sample_report.h"
#include "tests/report/visible_texts.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json FilledJson() {
  proto::Report report;
  EXPECT_TRUE(report.ParseFromString(EncodeReport(FilledReport())));
  return ReportToJson(report);
}

std::string AllSections(const json& report, bool all = true) {
  std::string text;
  for (const ReportSection& section : ReportSections()) {
    text += SectionText({}, section, report, all);
  }
  return text;
}

const ReportSection& Section(const std::string& name) {
  for (const ReportSection& section : ReportSections()) {
    if (section.name == name) return section;
  }
  throw std::out_of_range(name);
}

TEST(SectionText, EveryFieldOfAReportIsShown) {
  const json report = FilledJson();
  const std::string text = AllSections(report);
  const std::vector<std::string> wanted = VisibleTexts(report);
  EXPECT_GT(wanted.size(), 150u);
  for (const std::string& one : wanted) EXPECT_THAT(text, HasSubstr(Printable(one)));
}

TEST(SectionText, SectionWithoutAnythingIsEmpty) {
  EXPECT_EQ(AllSections(ReportToJson(proto::Report())).find("Methods"), std::string::npos);
  EXPECT_EQ(AllSections(json::object()), "");
}

TEST(SectionText, CallTreeIsIndented) {
  const json report = {{"methods",
                        {{{"function", "load"}, {"depth", 0}, {"duration_ms", 80.0}},
                         {{"function", "decode"}, {"depth", 1}, {"count", 3}}}}};
  EXPECT_THAT(SectionText({}, Section("methods"), report, false),
              HasSubstr("  methods\n    load, duration 80 ms\n      decode, count 3\n"));
}

TEST(SectionText, StackOfJavaKeepsItsLines) {
  const json report = {
      {"attributes", {{{"key", "java_stack"}, {"value", "a.B.c(B.java:3)\na.B.d(B.java:4)"}}}}};
  EXPECT_THAT(SectionText({}, Section("java"), report, false),
              HasSubstr("    java stack\n      a.B.c(B.java:3)\n      a.B.d(B.java:4)\n"));
}

TEST(SectionText, LongListIsCutUnlessAllIsWanted) {
  json report;
  for (int i = 0; i < 50; ++i) report["notes"].push_back("note " + std::to_string(i));
  EXPECT_THAT(SectionText({}, Section("losses"), report, false), HasSubstr("10 more (--all)"));
  EXPECT_THAT(SectionText({}, Section("losses"), report, false), Not(HasSubstr("note 40")));
  EXPECT_THAT(SectionText({}, Section("losses"), report, true), HasSubstr("note 49\n"));
}

TEST(SectionText, ReportOfAHostileServerIsOnlyText) {
  json deep = "x";
  json lists = "x";
  for (int i = 0; i < 5000; ++i) {
    deep = json{{"y", std::move(deep)}};
    lists = json::array({std::move(lists)});
  }
  const json report = {{"methods", {{{"function", "\x1b[2J"}, {"depth", 1e15}}}},
                       {"verdict", std::move(deep)},
                       {"notes", std::move(lists)},
                       {"startup", 7},
                       {"threads", {{{"name", json::array()}, {"tid", "x"}}}}};
  EXPECT_THAT(AllSections(report), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace jankbox::tools
