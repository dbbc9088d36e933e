// A report of Jankbox 0.1 with every field of its schema set (golden/report_0_1.bin), and what 0.1
// made of it and of an empty report as JSON.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "report/report_encoder.h"
#include "report/report_json.h"
#include "tests/report/report_of_message.h"

namespace jankbox {
namespace {

using nlohmann::json;

std::string Golden(const std::string& name) {
  std::ifstream file(std::string(JANKBOX_GOLDEN_FOLDER "/") + name, std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

proto::Report Report01() {
  proto::Report report;
  EXPECT_TRUE(report.ParseFromString(Golden("report_0_1.bin")));
  return report;
}

// As its readers get it.
json Json(const proto::Report& report) { return json::parse(ReportToJson(report).dump()); }

// Every name of `old` is in `now`, with the same value.
void ExpectKept(const json& old, const json& now, const std::string& path) {
  ASSERT_EQ(old.type(), now.type()) << path;
  if (old.is_object()) {
    for (const auto& [name, value] : old.items()) {
      ASSERT_TRUE(now.contains(name)) << path << "." << name;
      ExpectKept(value, now[name], path + "." + name);
    }
  } else if (old.is_array()) {
    ASSERT_EQ(old.size(), now.size()) << path;
    for (size_t i = 0; i < old.size(); ++i) ExpectKept(old[i], now[i], path + "[]");
  } else {
    EXPECT_EQ(old, now) << path;
  }
}

TEST(ReportOf01, SchemaStillKnowsEveryField) {
  const proto::Report report = Report01();
  EXPECT_TRUE(report.GetReflection()->GetUnknownFields(report).empty());
  EXPECT_EQ(report.SerializeAsString(), Golden("report_0_1.bin"));
}

TEST(ReportOf01, WriterMakesTheSameBytes) {
  EXPECT_EQ(EncodeReport(ReportOfMessage(Report01())), Golden("report_0_1.bin"));
}

TEST(ReportOf01, JsonKeepsNamesAndValues) {
  ExpectKept(json::parse(Golden("report_0_1.json")), Json(Report01()), "");
}

TEST(ReportOf01, JsonOfAnEmptyReportKeepsItsShape) {
  ExpectKept(json::parse(Golden("empty_report_0_1.json")), Json(proto::Report()), "");
}

}  // namespace
}  // namespace jankbox
