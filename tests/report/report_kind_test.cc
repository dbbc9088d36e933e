// The kinds of report.proto, as the code inside an app, readers and the public header have them.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>

#include "report/report_encoder.h"
#include "report/report_json.h"

namespace jankbox {
namespace {

using google::protobuf::EnumDescriptor;

TEST(ReportKind, EveryKindKeepsItsNumberAndName) {
  const EnumDescriptor* kinds = proto::Kind_descriptor();
  for (int i = 0; i < kinds->value_count(); ++i) {
    const int number = kinds->value(i)->number();
    Report report;
    report.kind = static_cast<ReportKind>(number);
    proto::Report parsed;
    ASSERT_TRUE(parsed.ParseFromString(EncodeReport(report)));
    EXPECT_EQ(parsed.kind(), number);
    const std::string name(ReportKindName(report.kind));
    EXPECT_EQ(name.empty() ? "unknown" : name, KindName(parsed.kind()));
    EXPECT_EQ(IsSevere(report.kind), kinds->value(i)->options().GetExtension(proto::severe));
  }
  EXPECT_EQ(ReportKindName(static_cast<ReportKind>(99)), "");
}

TEST(ReportKind, PublicHeaderHasTheSameKinds) {
  std::ifstream file(JANKBOX_SOURCE_DIR "/sdk/include/jankbox/incident.h");
  const std::string header{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, int> declared, schema;
  const std::regex kind("JANKBOX_KIND_(\\w+) = (\\d+)");
  for (std::sregex_iterator at(header.begin(), header.end(), kind), end; at != end; ++at) {
    declared[(*at)[1]] = std::stoi((*at)[2]);
  }
  const EnumDescriptor* kinds = proto::Kind_descriptor();
  for (int i = 0; i < kinds->value_count(); ++i) {
    if (kinds->value(i)->number() != 0) schema[kinds->value(i)->name()] = kinds->value(i)->number();
  }
  EXPECT_EQ(declared, schema);
}

}  // namespace
}  // namespace jankbox
