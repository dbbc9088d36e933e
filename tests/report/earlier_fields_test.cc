// What a later revision of a report keeps of the earlier one.
#include "report/earlier_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "report/report.pb.h"

namespace jankbox {
namespace {

proto::Report Merged(const proto::Report& earlier, const proto::Report& later) {
  proto::Report merged;
  EXPECT_TRUE(merged.ParseFromString(
      WithEarlierFields(earlier.SerializeAsString(), later.SerializeAsString())));
  return merged;
}

proto::Report EarlierAnr() {
  proto::Report report;
  report.set_id("an id");
  report.set_revision(1);
  report.set_kind(proto::ANR);
  report.set_ongoing(true);
  report.set_held_ns(5);
  report.set_anr_limit_ns(5'000'000'000);
  report.add_threads()->set_name("main");
  report.add_threads()->set_name("worker");
  report.set_threads_without_stack(1);
  return report;
}

proto::Attribute* Add(const char* key, const char* value, proto::Report* report) {
  proto::Attribute* attribute = report->add_attributes();
  attribute->set_key(key);
  attribute->set_value(value);
  return attribute;
}

TEST(EarlierFields, ThreadsAndLimitOfAnAnrStay) {
  proto::Report later;
  later.set_revision(2);
  later.set_kind(proto::ANR);
  const proto::Report merged = Merged(EarlierAnr(), later);
  ASSERT_EQ(merged.threads_size(), 2);
  EXPECT_EQ(merged.threads(1).name(), "worker");
  EXPECT_EQ(merged.threads_without_stack(), 1u);
  EXPECT_EQ(merged.anr_limit_ns(), 5'000'000'000u);
  EXPECT_EQ(merged.revision(), 2u);
}

TEST(EarlierFields, StateOfTheEarlierRevisionDoesNot) {
  proto::Report later;
  later.set_revision(2);
  const proto::Report merged = Merged(EarlierAnr(), later);
  EXPECT_FALSE(merged.ongoing());
  EXPECT_EQ(merged.held_ns(), 0u);
}

TEST(EarlierFields, LaterOnesReplaceTheWholeList) {
  proto::Report later;
  later.add_threads()->set_name("main");
  EXPECT_EQ(Merged(EarlierAnr(), later).threads_size(), 1);
}

TEST(EarlierFields, AttributesStayEachByItsKey) {
  proto::Report earlier, later;
  Add("java_stack", "in 5 of 7 samples", &earlier);
  Add("seen", "1", &earlier);
  Add("seen", "2", &later);
  Add("exit_reason", "low memory", &later);
  const proto::Report merged = Merged(earlier, later);
  ASSERT_EQ(merged.attributes_size(), 3);
  EXPECT_EQ(merged.attributes(0).key(), "java_stack");
  EXPECT_EQ(merged.attributes(1).value(), "2");
  EXPECT_EQ(merged.attributes(2).key(), "exit_reason");
}

TEST(EarlierFields, NothingIsKeptOfADamagedMessage) {
  proto::Report later;
  later.set_revision(2);
  const std::string whole = EarlierAnr().SerializeAsString();
  const std::string encoded = later.SerializeAsString();
  EXPECT_EQ(WithEarlierFields(whole.substr(0, whole.size() - 1), encoded), encoded);
  EXPECT_EQ(WithEarlierFields("", encoded), encoded);
}

}  // namespace
}  // namespace jankbox
