#include "report/report_json.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>

#include <set>

#include "report/group_key.h"
#include "report/report_encoder.h"
#include "tests/report/sample_report.h"

namespace jankbox {
namespace {

using nlohmann::json;
using testing::UnorderedElementsAre;

proto::Report SampleMessage() {
  proto::Report report;
  EXPECT_TRUE(report.ParseFromString(EncodeReport(FilledReport())));
  return report;
}

json SampleJson() { return ReportToJson(SampleMessage()); }

std::set<std::string> Keys(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST(ReportJson, VerdictHasTenSharesInMilliseconds) {
  const json verdict = SampleJson()["verdict"];
  EXPECT_THAT(Keys(verdict),
              UnorderedElementsAre("running_ms", "runnable_ms", "lock_ms", "disk_ms", "fault_ms",
                                   "ipc_ms", "gc_ms", "sleeping_ms", "blocked_ms", "unknown_ms",
                                   "summary", "sources", "shares", "lock_owner"));
  const proto::Verdict sample = SampleMessage().verdict();
  EXPECT_DOUBLE_EQ(verdict["running_ms"].get<double>(),
                   static_cast<double>(sample.running_ns()) / 1e6);
  EXPECT_EQ(verdict["summary"], sample.summary());
  EXPECT_EQ(verdict["sources"], json({sample.sources(0), sample.sources(1)}));
  EXPECT_EQ(verdict["shares"][0], json({{"name", sample.shares(0).name()},
                                        {"ms", static_cast<double>(sample.shares(0).ns()) / 1e6},
                                        {"source", sample.shares(0).source()},
                                        {"estimate", true},
                                        {"detail", sample.shares(0).detail()}}));
  EXPECT_EQ(verdict["lock_owner"]["tid"], sample.lock_owner_tid());
  EXPECT_EQ(verdict["lock_owner"]["thread"], "Größe");
  EXPECT_EQ(verdict["lock_owner"]["frames"][1]["function"], sample.lock_owner_frames(1).function());
}

TEST(ReportJson, SharesOfAnEmptyReportAreNumbers) {
  const json report = ReportToJson(proto::Report());
  EXPECT_EQ(report["verdict"].size(), 14u);
  EXPECT_TRUE(report["verdict"]["lock_owner"].is_null());
  EXPECT_TRUE(report["verdict"]["gc_ms"].is_number());
  EXPECT_TRUE(report["verdict"]["sources"].is_array());
  EXPECT_TRUE(report["notes"].is_array());
  EXPECT_EQ(report["kind"], "unknown");
  EXPECT_EQ(report["window"]["to"], "1970-01-01T00:00:00.000Z");
}

TEST(ReportJson, DurationHasDecimals) {
  EXPECT_DOUBLE_EQ(SampleJson()["duration_ms"].get<double>(), 5912.345678);
}

TEST(ReportJson, WindowIsWallClockInUtc) {
  const json window = SampleJson()["window"];
  EXPECT_EQ(window["to"], "2026-03-01T12:00:00.123Z");
  EXPECT_EQ(window["from"], "2026-03-01T11:59:50.123Z");
  EXPECT_EQ(window["from_ns"], 20'000'000'001u);
  EXPECT_EQ(window["to_ns"], 30'000'000'002u);
}

TEST(ReportJson, WindowThatEndsBeforeItBeginsIsEmpty) {
  proto::Report report;
  report.mutable_window()->set_from_ns(UINT64_MAX);
  report.mutable_window()->set_to_realtime_ns(UINT64_MAX);
  const json window = ReportToJson(report)["window"];
  EXPECT_EQ(window["from"], window["to"]);
  EXPECT_EQ(window["to"], "2554-07-21T23:34:33.709Z");
}

TEST(ReportJson, LossesHoldEveryCounterOfTheSchema) {
  const json losses = SampleJson()["losses"];
  const proto::Losses sample = SampleMessage().losses();
  const google::protobuf::Descriptor* descriptor = proto::Losses::descriptor();
  ASSERT_EQ(losses.size(), static_cast<size_t>(descriptor->field_count()));
  for (int i = 0; i < descriptor->field_count(); ++i) {
    EXPECT_EQ(losses[descriptor->field(i)->name()],
              sample.GetReflection()->GetUInt64(sample, descriptor->field(i)));
  }
}

TEST(ReportJson, EveryFieldOfTheSchemaIsThere) {
  const json report = SampleJson();
  const google::protobuf::Descriptor* descriptor = proto::Report::descriptor();
  EXPECT_EQ(report.size(), static_cast<size_t>(descriptor->field_count()));
  for (int i = 0; i < descriptor->field_count(); ++i) {
    std::string name = descriptor->field(i)->name();
    const bool moment = descriptor->field(i)->options().GetExtension(proto::moment);
    if (name.ends_with("_ns") && !moment) name.replace(name.size() - 3, 3, "_ms");
    EXPECT_TRUE(report.contains(name)) << name;
  }
}

TEST(ReportJson, AtraceTagsAreHexadecimalAsItsPropertyHasThem) {
  proto::Report report;
  report.mutable_atrace()->set_tags(0xfa5);
  report.mutable_atrace()->set_added_tags(0xffff'ffff'ffff'ffff);
  const json atrace = ReportToJson(report)["atrace"];
  EXPECT_EQ(atrace["tags"], "0xfa5");
  EXPECT_EQ(atrace["added_tags"], "0xffffffffffffffff");
  EXPECT_TRUE(ReportToJson(proto::Report())["atrace"].is_null());
}

TEST(ReportJson, CoverageIsNullIfTheReportDoesNotSay) {
  proto::Report report;
  EXPECT_TRUE(ReportToJson(report)["covered_ms"].is_null());
  report.set_covered_ns(0);
  EXPECT_EQ(ReportToJson(report)["covered_ms"], 0.0);
}

TEST(ReportJson, MessagesBeforeTheIncidentHaveTheirNames) {
  proto::Report report;
  EXPECT_TRUE(ReportToJson(report)["history"].is_null());
  proto::History* history = report.mutable_history();
  history->set_count(3);
  history->set_busy_ns(2'500'000);
  history->add_names("scroll");
  for (const uint32_t name : {1u, 0u, 2u}) {  // the last one: of a newer or a broken writer
    proto::LoopMessage* message = history->add_last();
    message->set_name(name);
    message->set_wall_ns(1'500'000);
    message->set_count(1);
  }
  const json told = ReportToJson(report)["history"];
  EXPECT_EQ(told["count"], 3);
  EXPECT_EQ(told["busy_ms"], 2.5);
  EXPECT_EQ(told["longest"], json::array());
  ASSERT_EQ(told["last"].size(), 3u);
  EXPECT_EQ(told["last"][0],
            json({{"what", "scroll"}, {"before_ms", 0.0}, {"wall_ms", 1.5}, {"count", 1}}));
  EXPECT_EQ(told["last"][1]["what"], "");
  EXPECT_EQ(told["last"][2]["what"], "");
}

TEST(ReportJson, TopFramesKeepTheirOrder) {
  const json frames = SampleJson()["top_frames"];
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0]["function"], SampleMessage().top_frames(0).function());
  EXPECT_EQ(frames[0]["rel_pc"], SampleMessage().top_frames(0).rel_pc());
  EXPECT_THAT(Keys(frames[1]), UnorderedElementsAre("function", "module", "rel_pc", "build_id",
                                                    "function_start", "file", "line", "inlined"));
  EXPECT_EQ(frames[1]["rel_pc"].get<uint64_t>(), 0xffff'ffff'ffff'fff0u);
}

TEST(ReportJson, IdentityHasTheGroupKeyOfItsReader) {
  const json identity = SampleJson()["identity"];
  EXPECT_EQ(identity["blamed_function"], SampleMessage().identity().blamed_function());
  EXPECT_EQ(identity["group_key"], GroupKeyOf(SampleMessage()).key);
  EXPECT_EQ(identity["group_version"], kGroupKeyVersion);
  EXPECT_EQ(identity["provisional"], false);
  EXPECT_EQ(ReportToJson(proto::Report())["identity"], nullptr) << "an older report";
}

TEST(ReportJson, KindNamesAreFixed) {
  EXPECT_EQ(KindName(proto::SLOW_MESSAGE), "slow_message");
  EXPECT_EQ(KindName(proto::JANK), "jank");
  EXPECT_EQ(KindName(proto::STARTUP), "startup");
  EXPECT_EQ(KindName(proto::ANR), "anr");
  EXPECT_EQ(KindName(proto::RECOVERED), "recovered");
  EXPECT_EQ(KindName(proto::MANUAL), "manual");
  EXPECT_EQ(KindName(proto::INPUT_LATENCY), "input_latency");
  EXPECT_EQ(KindName(static_cast<proto::Kind>(99)), "unknown");
}

}  // namespace
}  // namespace jankbox
