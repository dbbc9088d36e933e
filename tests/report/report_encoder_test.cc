#include "report/report_encoder.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>

#include "report/report.pb.h"
#include "tests/report/report_of_message.h"
#include "tests/report/sample_report.h"

namespace jankbox {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

proto::Report Parsed(const Report& report) {
  proto::Report parsed;
  EXPECT_TRUE(parsed.ParseFromString(EncodeReport(report)));
  return parsed;
}

// Fails for each field of the schema that is not in `message`, at any depth; collects the numbers.
void ExpectEveryFieldSet(const Message& message, std::multiset<uint64_t>* numbers) {
  const google::protobuf::Reflection* reflection = message.GetReflection();
  const Descriptor* descriptor = message.GetDescriptor();
  EXPECT_TRUE(reflection->GetUnknownFields(message).empty()) << descriptor->full_name();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const bool message_type = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (field->is_repeated()) {
      const int count = reflection->FieldSize(message, field);
      EXPECT_EQ(count, 2) << field->full_name() << " is in the schema but never encoded";
      for (int k = 0; message_type && k < count; ++k) {
        ExpectEveryFieldSet(reflection->GetRepeatedMessage(message, field, k), numbers);
      }
      continue;
    }
    EXPECT_TRUE(reflection->HasField(message, field))
        << field->full_name() << " is in the schema but never encoded";
    if (message_type) {
      ExpectEveryFieldSet(reflection->GetMessage(message, field), numbers);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
      numbers->insert(reflection->GetUInt64(message, field));
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
      numbers->insert(reflection->GetUInt32(message, field));
    }
  }
}

TEST(ReportEncoder, EveryFieldOfTheSchemaIsWritten) {
  std::multiset<uint64_t> numbers;
  ExpectEveryFieldSet(Parsed(FilledReport()), &numbers);
  EXPECT_EQ(std::set<uint64_t>(numbers.begin(), numbers.end()).size(), numbers.size())
      << "two fields of the sample hold the same number";
}

// The fields are read back by their names, not by the writer's table.
TEST(ReportEncoder, EveryMemberIsInTheFieldOfItsName) {
  const std::string bytes = EncodeReport(FilledReport());
  EXPECT_EQ(EncodeReport(ReportOfMessage(Parsed(FilledReport()))), bytes);
  EXPECT_EQ(Parsed(FilledReport()).self_cost().start_us(), FilledReport().self_cost.start_us);
  EXPECT_EQ(Parsed(FilledReport()).history().last(1).wall_ns(),
            FilledReport().history.last[1].wall_ns);
}

TEST(ReportEncoder, BytesAreThoseOfLibprotobuf) {
  EXPECT_EQ(EncodeReport(FilledReport()), Parsed(FilledReport()).SerializeAsString());
}

TEST(ReportEncoder, DefaultsAreLeftOut) { EXPECT_EQ(EncodeReport(Report()), ""); }

TEST(ReportEncoder, NegativePidSurvives) {
  Report report;
  report.pid = -1;
  report.tid = INT32_MIN;
  EXPECT_EQ(Parsed(report).pid(), -1);
  EXPECT_EQ(Parsed(report).tid(), INT32_MIN);
}

TEST(ReportEncoder, MalformedUtf8IsReplaced) {
  const std::pair<const char*, const char*> cases[] = {
      {"caf\xc3", "caf\xef\xbf\xbd"},                            // cut by TASK_COMM_LEN
      {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},                  // never in UTF-8
      {"a\xc0\x80z", "a\xef\xbf\xbd\xef\xbf\xbdz"},              // overlong NUL
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // surrogate
      {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xf0\x9f\x90\xa2 ok \xc3\xa9", "\xf0\x9f\x90\xa2 ok \xc3\xa9"},
  };
  for (const auto& [raw, clean] : cases) {
    Report report;
    report.thread = raw;
    EXPECT_EQ(Parsed(report).thread(), clean);
  }
}

TEST(ReportEncoder, EveryPairOfBytesGivesAMessageThatParses) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      Report report;
      report.what = {static_cast<char>(first), static_cast<char>(second)};
      proto::Report parsed;
      ASSERT_TRUE(parsed.ParseFromString(EncodeReport(report))) << first << " " << second;
    }
  }
}

TEST(ReportEncoder, HugeTextsAndListsAreCutByRule) {
  Report report;
  report.what = std::string(1023, 'x') + "é" + std::string(1 << 20, 'y');
  report.top_frames.assign(10'000, {std::string(5000, 'f'), std::string(5000, 'm'), 1, "b"});
  report.notes.assign(1000, std::string(5000, 'n'));
  report.history.count = 100'000;
  report.history.names.assign(10'000, std::string(56, 'm'));
  report.history.last.assign(100'000, {UINT32_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX});
  const std::string bytes = EncodeReport(report);
  EXPECT_LT(bytes.size(), 1u << 20);
  const proto::Report parsed = Parsed(report);
  EXPECT_EQ(parsed.what(), std::string(1023, 'x'));  // not cut inside the é
  EXPECT_EQ(parsed.top_frames_size(), 256);
  EXPECT_EQ(parsed.notes_size(), 64);
  EXPECT_EQ(parsed.history().names_size(), 512);
  EXPECT_EQ(parsed.history().last_size(), 5000);
}

TEST(SkippableFrame, HasMagicLengthAndContent) {
  EXPECT_EQ(SkippableFrame("abc"), std::string("\x50\x2A\x4D\x18\x03\0\0\0abc", 11));
}

}  // namespace
}  // namespace jankbox
