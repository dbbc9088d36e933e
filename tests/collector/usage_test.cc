// Usage as devices send it, and the rates that come of it.
#include <algorithm>
#include <random>

#include "base/uuid.h"
#include "report/counts_format.h"
#include "report/duration_buckets.h"
#include "tests/collector/collector_process.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;

constexpr uint32_t kDay = 20'500;  // 2026-02-16
constexpr uint64_t kHourMs = 3'600'000;

class UsageTest : public CollectorTest {
 protected:
  static proto::Counts NewCounts(uint64_t seq, const std::string& epoch = NewUuid(1)) {
    proto::Counts counts;
    counts.set_format(1);
    counts.set_epoch(epoch);
    counts.set_seq(seq);
    counts.set_begun("new");
    counts.set_installation(NewUuid(1));
    return counts;
  }
  static proto::Usage* AddUsage(uint64_t hours, proto::Counts* counts,
                                const std::string& version = "1.0", uint32_t day = kDay) {
    proto::Usage* usage = counts->add_usage();
    usage->set_day(day);
    usage->set_app("Gallery");
    usage->set_version(version);
    usage->set_foreground_ms(hours * kHourMs);
    usage->set_sessions(10 * hours);
    usage->set_frames(100'000 * hours);
    usage->set_messages(50'000 * hours);
    counts->set_usage_seq(counts->seq());
    return usage;
  }
  static proto::Counter* AddCounter(const std::string& key, uint64_t incidents,
                                    proto::Counts* counts, const std::string& version = "1.0",
                                    proto::Kind kind = proto::SLOW_MESSAGE) {
    proto::Counter* counter = counts->add_counters();
    counter->set_version(version);
    counter->set_key(key);
    counter->set_incidents(incidents);
    counter->set_total_ns(incidents);
    counter->set_max_ns(1);
    counter->set_kind(kind);
    if (key != kOtherKey) counter->set_app("Gallery");
    counter->add_buckets()->set_incidents(incidents);
    return counter;
  }
  httplib::Result Post(const proto::Counts& counts) const {
    return NewClient().Post("/api/v1/counts", counts.SerializeAsString(),
                            "application/x-jankbox-counts");
  }
  proto::CountsReply Send(const proto::Counts& counts) const {
    const httplib::Result answer = Post(counts);
    proto::CountsReply reply;
    if (!answer || answer->status != 200) {
      ADD_FAILURE() << (answer ? std::to_string(answer->status) + " " + answer->body : "no answer");
      return reply;
    }
    EXPECT_TRUE(reply.ParseFromString(answer->body));
    return reply;
  }
  json Usage() const { return GetJson("/api/v1/usage"); }
  json VersionOf(const std::string& name) const {
    const json usage = Usage();
    for (const json& version : usage.at("versions")) {
      if (version.at("version") == name) return version;
    }
    return {{"messages", 0}, {"incidents", 0}};
  }
};

TEST_F(UsageTest, RatesAreOfEachVersion) {
  proto::Counts counts = NewCounts(9);
  AddUsage(2, &counts);
  AddUsage(3, &counts, "1.0", kDay + 1);
  AddUsage(10, &counts, "2.0", kDay + 1);
  AddCounter("a", 4, &counts);
  AddCounter("b", 1, &counts, "1.0", proto::ANR);
  AddCounter("a", 1, &counts, "2.0");
  const proto::CountsReply reply = Send(counts);
  EXPECT_EQ(reply.result(), proto::CountsReply::STORED);
  EXPECT_EQ(reply.usage_seq(), 9u);
  proto::Counts other = NewCounts(2);
  AddUsage(5, &other);
  AddCounter("a", 15, &other);
  Send(other);
  const json usage = Usage();
  ASSERT_EQ(usage.at("versions").size(), 2u);
  const json& first = usage.at("versions")[0];
  EXPECT_EQ(first.at("app"), "Gallery");
  EXPECT_EQ(first.at("version"), "1.0");
  EXPECT_EQ(first.at("installations"), 2);
  EXPECT_EQ(first.at("first_day"), "2026-02-16");
  EXPECT_EQ(first.at("last_day"), "2026-02-17");
  EXPECT_EQ(first.at("foreground_ms"), 10 * kHourMs);
  EXPECT_EQ(first.at("sessions"), 100);
  EXPECT_EQ(first.at("frames"), 1'000'000);
  EXPECT_EQ(first.at("messages"), 500'000);
  EXPECT_EQ(first.at("incidents"), 20);
  EXPECT_EQ(first.at("kinds"), json({{"slow_message", 19}, {"anr", 1}}));
  EXPECT_EQ(first.at("incidents_per_hour"), 2.0);
  EXPECT_EQ(first.at("incidents_per_10000_messages"), 0.4);
  EXPECT_EQ(first.at("incidents_per_1000_sessions"), 200.0);
  EXPECT_EQ(usage.at("versions")[1].at("incidents_per_hour"), 0.1);
  EXPECT_EQ(usage.at("incidents_without_usage"), 0);
  ASSERT_EQ(usage.at("days").size(), 3u);
  EXPECT_EQ(usage.at("days")[0].at("day"), "2026-02-17");
  EXPECT_EQ(usage.at("days")[2].at("day"), "2026-02-16");
  EXPECT_EQ(usage.at("days")[2].at("installations"), 2);
  EXPECT_EQ(usage.at("days")[2].at("messages"), 350'000);
}

TEST_F(UsageTest, IncidentsOfDevicesThatSendNoneAreInNoRate) {
  proto::Counts counts = NewCounts(1);
  AddUsage(1, &counts);
  AddCounter("a", 1, &counts);
  Send(counts);
  proto::Counts silent = NewCounts(1);
  AddCounter("a", 100, &silent);
  Send(silent);
  EXPECT_EQ(VersionOf("1.0").at("incidents"), 1);
  EXPECT_EQ(Usage().at("incidents_without_usage"), 100);
}

// Counters of incidents that were not looked at one by one name no app.
TEST_F(UsageTest, OtherIncidentsAreOfTheOnlyApp) {
  proto::Counts counts = NewCounts(1);
  AddUsage(1, &counts);
  AddCounter(kOtherKey, 3, &counts);
  Send(counts);
  EXPECT_EQ(VersionOf("1.0").at("incidents"), 3);
  proto::Counts two_apps = NewCounts(1);
  AddUsage(1, &two_apps)->set_app("Music");
  AddUsage(1, &two_apps);
  AddCounter(kOtherKey, 5, &two_apps);
  Send(two_apps);
  EXPECT_EQ(Usage().at("incidents_without_usage"), 5);
}

TEST_F(UsageTest, RateWithoutADenominatorIsNotKnown) {
  proto::Counts counts = NewCounts(1);
  proto::Usage* usage = AddUsage(1, &counts);
  usage->set_sessions(0);
  usage->set_foreground_ms(0);
  usage->set_day(0);
  AddCounter("a", 5, &counts);
  Send(counts);
  const json version = VersionOf("1.0");
  EXPECT_TRUE(version.at("incidents_per_hour").is_null());
  EXPECT_TRUE(version.at("incidents_per_1000_sessions").is_null());
  EXPECT_EQ(version.at("incidents_per_10000_messages"), 1.0);
  EXPECT_EQ(version.at("first_day"), "");
}

TEST_F(UsageTest, RetriesAndAnyOrderAreTheSameNumbers) {
  const std::string epoch = NewUuid(1);
  std::vector<proto::Counts> sent;
  uint64_t hours[2] = {};
  std::mt19937 random(3);
  for (uint64_t seq = 1; seq <= 40; ++seq) {
    const uint32_t day = random() % 2;
    ++hours[day];
    proto::Counts counts = NewCounts(seq, epoch);
    AddUsage(hours[day], &counts, "1.0", kDay + day);
    sent.push_back(counts);
  }
  std::vector<proto::Counts> again = sent;
  std::shuffle(again.begin(), again.end(), random);
  sent.insert(sent.end(), again.begin(), again.end());
  std::shuffle(sent.begin(), sent.end(), random);
  for (const proto::Counts& counts : sent) {
    EXPECT_NE(Send(counts).result(), proto::CountsReply::FORKED);
  }
  EXPECT_EQ(VersionOf("1.0").at("messages"), 40 * 50'000);
}

TEST_F(UsageTest, SurvivesAKill) {
  proto::Counts counts = NewCounts(1);
  AddUsage(4, &counts);
  Send(counts);
  collector_->End(SIGKILL);
  Start();
  EXPECT_EQ(VersionOf("1.0").at("messages"), 200'000);
  EXPECT_EQ(Send(counts).usage_seq(), 1u);
  EXPECT_EQ(VersionOf("1.0").at("messages"), 200'000);
}

TEST_F(UsageTest, StoreThatMissesUsageAsksForAllOfIt) {
  proto::Counts counts = NewCounts(9);
  counts.set_usage_base_seq(8);
  AddUsage(4, &counts);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::RESEND);
  EXPECT_EQ(VersionOf("1.0").at("messages"), 200'000) << "what came is stored";
  counts.set_seq(10);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::RESEND) << "the answer was lost";
  counts.set_usage_base_seq(0);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::STORED);
}

TEST_F(UsageTest, NumbersThatAnEpochCannotHaveTellACopy) {
  const std::string epoch = NewUuid(1);
  proto::Counts counts = NewCounts(5, epoch);
  AddUsage(4, &counts);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::STORED);
  for (const auto& [seq, hours] : {std::pair(5, 5), {5, 3}, {6, 3}, {4, 5}}) {
    proto::Counts copy = NewCounts(static_cast<uint64_t>(seq), epoch);
    AddUsage(static_cast<uint64_t>(hours), &copy);
    AddCounter("a", 1, &copy);
    EXPECT_EQ(Send(copy).result(), proto::CountsReply::FORKED) << seq << " " << hours;
  }
  EXPECT_EQ(VersionOf("1.0").at("messages"), 200'000);
  EXPECT_EQ(GetJson("/api/v1/counts").at("counts").size(), 0u) << "nothing of it is stored";
}

TEST_F(UsageTest, WhatCannotBeTrueIsRefused) {
  const auto refused = [&](const std::function<void(proto::Counts*)>& change) {
    proto::Counts counts = NewCounts(2);
    AddUsage(1, &counts);
    change(&counts);
    return Post(counts)->status == 400;
  };
  using Counts = proto::Counts;
  const auto number = kMaxUsageNumber + 1;
  EXPECT_TRUE(refused([](Counts* counts) { counts->set_installation("../../etc"); }));
  EXPECT_TRUE(refused([](Counts* counts) { counts->clear_installation(); }));
  EXPECT_TRUE(refused([](Counts* counts) { counts->set_usage_seq(3); }));
  EXPECT_TRUE(refused([](Counts* counts) { counts->set_usage_base_seq(3); }));
  EXPECT_TRUE(refused([](Counts* counts) { *counts->add_usage() = counts->usage(0); }));
  EXPECT_TRUE(refused([](Counts* counts) { counts->mutable_usage(0)->set_day(kMaxUsageDay + 1); }));
  EXPECT_TRUE(refused([&](Counts* counts) { counts->mutable_usage(0)->set_frames(number); }));
  EXPECT_TRUE(refused([&](Counts* counts) { counts->mutable_usage(0)->set_sessions(number); }));
  EXPECT_TRUE(refused([&](Counts* counts) { counts->mutable_usage(0)->set_messages(number); }));
  EXPECT_TRUE(
      refused([&](Counts* counts) { counts->mutable_usage(0)->set_foreground_ms(number); }));
  EXPECT_TRUE(
      refused([](Counts* counts) { counts->mutable_usage(0)->set_app(std::string(300, 'a')); }));
  EXPECT_TRUE(refused([](Counts* counts) {
    for (uint32_t day = 0; day <= kMaxUsage; ++day) AddUsage(1, counts, "1.0", kDay + 1 + day);
  }));
  EXPECT_EQ(Usage().at("versions").size(), 0u);
}

TEST_F(UsageTest, EpochHasAtMostSoManyDays) {
  const std::string epoch = NewUuid(1);
  proto::Counts counts = NewCounts(1, epoch);
  for (uint32_t day = 0; day <= kMaxUsage; ++day) AddUsage(1, &counts, "1.0", kDay + day);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::STORED);
  proto::Counts more = NewCounts(2, epoch);
  AddUsage(1, &more, "1.0", 5);
  EXPECT_EQ(Post(more)->status, 400);
  EXPECT_EQ(VersionOf("1.0").at("messages"), 50'000 * (kMaxUsage + 1));
}

// As far as the numbers of hostile devices may go.
TEST_F(UsageTest, SumsDoNotOverflow) {
  for (int device = 0; device < 20; ++device) {
    proto::Counts counts = NewCounts(1);
    AddUsage(1, &counts)->set_messages(kMaxUsageNumber);
    Send(counts);
  }
  EXPECT_EQ(VersionOf("1.0").at("messages"), 20 * kMaxUsageNumber);
}

}  // namespace
}  // namespace jankbox::collector
