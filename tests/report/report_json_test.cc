#include "report/report_json.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>

#include <set>

#include "report/report_encoder.h"
#include "tests/report/sample_report.h"

namespace jankbox {
namespace {

using nlohmann::json;
using testing::UnorderedElementsAre;

json SampleJson() {
  proto::Report report;
  EXPECT_TRUE(report.ParseFromString(EncodeReport(FilledReport())));
  return ReportToJson(report);
}

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
  EXPECT_DOUBLE_EQ(verdict["running_ms"].get<double>(), 0.001001);
  EXPECT_DOUBLE_EQ(verdict["blocked_ms"].get<double>(), 0.001009);
  EXPECT_EQ(verdict["summary"], "waited for a lock");
  EXPECT_EQ(verdict["sources"], json({"schedstat", "syscall samples"}));
  EXPECT_EQ(verdict["shares"], json::array({{{"name", "fault"},
                                             {"ms", 0.001011},
                                             {"source", "fault count"},
                                             {"estimate", true},
                                             {"detail", "in page faults"}}}));
  EXPECT_EQ(verdict["lock_owner"]["tid"], 4213);
  EXPECT_EQ(verdict["lock_owner"]["thread"], "worker-3");
  EXPECT_EQ(verdict["lock_owner"]["frames"][0]["function"], "ImageCache::Decode");
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
  const google::protobuf::Descriptor* descriptor = proto::Losses::descriptor();
  ASSERT_EQ(losses.size(), static_cast<size_t>(descriptor->field_count()));
  for (int i = 0; i < descriptor->field_count(); ++i) {
    EXPECT_EQ(losses[descriptor->field(i)->name()], 2001 + i);
  }
}

TEST(ReportJson, EveryFieldOfTheSchemaIsThere) {
  const json report = SampleJson();
  const google::protobuf::Descriptor* descriptor = proto::Report::descriptor();
  EXPECT_EQ(report.size(), static_cast<size_t>(descriptor->field_count()));
  for (int i = 0; i < descriptor->field_count(); ++i) {
    std::string name = descriptor->field(i)->name();
    if (name.ends_with("_ns")) name.replace(name.size() - 3, 3, "_ms");
    EXPECT_TRUE(report.contains(name)) << name;
  }
}

TEST(ReportJson, AtraceTagsAreHexadecimalAsItsPropertyHasThem) {
  const json atrace = SampleJson()["atrace"];
  EXPECT_EQ(atrace["tags"], "0xfa5");
  EXPECT_EQ(atrace["added_tags"], "0xfa6");
  EXPECT_EQ(atrace["state"], "on");
  EXPECT_TRUE(ReportToJson(proto::Report())["atrace"].is_null());
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
  EXPECT_EQ(frames[0]["function"], "pthread_mutex_lock");
  EXPECT_EQ(frames[0]["rel_pc"], 0x9a3f0);
  EXPECT_THAT(Keys(frames[1]), UnorderedElementsAre("function", "module", "rel_pc", "build_id"));
  EXPECT_EQ(frames[1]["rel_pc"].get<uint64_t>(), 0xffff'ffff'ffff'fff0u);
}

TEST(ReportJson, KindNamesAreFixed) {
  EXPECT_EQ(KindName(proto::SLOW_MESSAGE), "slow_message");
  EXPECT_EQ(KindName(proto::SLOW_METHOD), "slow_method");
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
