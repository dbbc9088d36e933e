// Counts as devices send them: again, in another order, from copies, and from nobody's device.
#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "base/uuid.h"
#include "report/duration_buckets.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;

constexpr uint64_t kMs = 1'000'000;

void SetCounter(const std::string& key, uint64_t incidents, uint64_t each_ms, proto::Counts* counts,
                const std::string& version = "1.0") {
  proto::Counter* counter = counts->add_counters();
  counter->set_version(version);
  counter->set_key(key);
  counter->set_incidents(incidents);
  counter->set_total_ns(incidents * each_ms * kMs);
  counter->set_max_ns(each_ms * kMs);
  counter->set_kind(proto::SLOW_MESSAGE);
  counter->set_app("Gallery");
  counter->set_cause("lock");
  counter->set_message("MainLoop");
  counter->set_blamed_function("LoadThumbnails");
  proto::CounterBucket* bucket = counter->add_buckets();
  bucket->set_index(DurationBucket(each_ms * kMs));
  bucket->set_incidents(incidents);
}

proto::Counts NewCounts(uint64_t seq, const std::string& epoch = NewUuid(1)) {
  proto::Counts counts;
  counts.set_format(1);
  counts.set_epoch(epoch);
  counts.set_seq(seq);
  counts.set_begun("new");
  return counts;
}

class CountsTest : public CollectorTest {
 protected:
  httplib::Result Post(const std::string& body) const {
    return NewClient().Post("/api/v1/counts", body, "application/x-jankbox-counts");
  }
  proto::CountsReply Send(const proto::Counts& counts) const {
    const httplib::Result answer = Post(counts.SerializeAsString());
    proto::CountsReply reply;
    if (!answer || answer->status != 200) {
      ADD_FAILURE() << (answer ? std::to_string(answer->status) + " " + answer->body : "no answer");
      return reply;
    }
    EXPECT_TRUE(reply.ParseFromString(answer->body));
    EXPECT_EQ(reply.epoch(), counts.epoch());
    return reply;
  }
  // Status and error of a refusal.
  std::pair<int, std::string> Refusal(const proto::Counts& counts) const {
    const httplib::Result answer = Post(counts.SerializeAsString());
    return {answer->status, answer->body};
  }
  json CountOf(const std::string& key) const {
    const json counts = GetJson("/api/v1/counts").at("counts");
    for (const json& count : counts) {
      if (count.at("key") == key) return count;
    }
    return {{"incidents", 0}, {"total_ns", 0}};
  }
  uint64_t IncidentsOf(const std::string& key) const { return CountOf(key).at("incidents"); }
};

TEST_F(CountsTest, AreAddedOverEpochsAndVersions) {
  proto::Counts counts = NewCounts(3);
  SetCounter("a", 2, 100, &counts);
  SetCounter("a", 1, 400, &counts, "2.0");
  SetCounter("b", 7, 10, &counts);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::STORED);
  EXPECT_EQ(Send(counts).seq(), 3u);
  proto::Counts other = NewCounts(5);
  SetCounter("a", 10, 200, &other);
  EXPECT_EQ(Send(other).result(), proto::CountsReply::STORED);
  const json a = CountOf("a");
  EXPECT_EQ(a.at("incidents"), 13);
  EXPECT_EQ(a.at("total_ns"), (2 * 100 + 400 + 10 * 200) * kMs);
  EXPECT_EQ(a.at("worst_ms"), 400.0);
  EXPECT_NEAR(a.at("p50_ms").get<double>(), 200, 30);
  EXPECT_EQ(a.at("versions"), json({"1.0", "2.0"}));
  EXPECT_EQ(a.at("kind"), "slow_message");
  EXPECT_EQ(IncidentsOf("b"), 7u);
  EXPECT_EQ(GetJson("/api/v1/counts").at("epochs"), 2);
}

TEST_F(CountsTest, RetriesAndAnyOrderAreTheSameNumbers) {
  const std::string epoch = NewUuid(1);
  std::vector<std::string> sent;
  uint64_t acknowledged = 0;
  std::map<std::string, uint64_t> truth;
  std::map<std::string, uint64_t> changed;
  std::mt19937 random(3);
  for (uint64_t seq = 1; seq <= 60; ++seq) {
    const std::string key = "key " + std::to_string(random() % 7);
    ++truth[key];
    changed[key] = seq;
    proto::Counts counts = NewCounts(seq, epoch);
    counts.set_base_seq(acknowledged);
    for (const auto& [changed_key, at] : changed) {
      if (at > acknowledged) SetCounter(changed_key, truth[changed_key], 5, &counts);
    }
    sent.push_back(counts.SerializeAsString());
    if (random() % 4 == 0) acknowledged = seq;
  }
  std::shuffle(sent.begin(), sent.end(), random);
  const std::vector<std::string> again = sent;
  sent.insert(sent.end(), again.begin(), again.end());
  std::vector<std::thread> senders;
  for (size_t sender = 0; sender < 4; ++sender) {
    senders.emplace_back([&, sender] {
      for (size_t i = sender; i < sent.size(); i += 4) EXPECT_EQ(Post(sent[i])->status, 200);
    });
  }
  for (std::thread& sender : senders) sender.join();
  for (const auto& [key, incidents] : truth) {
    EXPECT_EQ(IncidentsOf(key), incidents) << key;
    EXPECT_EQ(CountOf(key).at("total_ns"), incidents * 5 * kMs) << key;
  }
}

TEST_F(CountsTest, SurviveAKill) {
  proto::Counts counts = NewCounts(1);
  SetCounter("a", 4, 100, &counts);
  Send(counts);
  collector_->End(SIGKILL);
  Start();
  EXPECT_EQ(IncidentsOf("a"), 4u);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::STORED);
  EXPECT_EQ(IncidentsOf("a"), 4u);
}

TEST_F(CountsTest, StoreThatMissesCountersAsksForAllOfThem) {
  proto::Counts counts = NewCounts(9);
  counts.set_base_seq(8);
  SetCounter("a", 4, 100, &counts);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::RESEND);
  EXPECT_EQ(IncidentsOf("a"), 4u) << "what came is stored";
  counts.set_seq(10);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::RESEND) << "the answer was lost";
  counts.set_base_seq(0);
  SetCounter("b", 2, 100, &counts);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::STORED);
  EXPECT_EQ(IncidentsOf("b"), 2u);
}

TEST_F(CountsTest, NumbersThatAnEpochCannotHaveTellACopy) {
  const std::string epoch = NewUuid(1);
  proto::Counts counts = NewCounts(5, epoch);
  SetCounter("a", 4, 100, &counts);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::STORED);
  for (const auto& [seq, incidents] : {std::pair(5, 5), {5, 3}, {6, 3}, {4, 5}}) {
    proto::Counts copy = NewCounts(static_cast<uint64_t>(seq), epoch);
    SetCounter("b", 1, 1, &copy);
    SetCounter("a", static_cast<uint64_t>(incidents), 100, &copy);
    const proto::CountsReply reply = Send(copy);
    EXPECT_EQ(reply.result(), proto::CountsReply::FORKED) << seq << " " << incidents;
    EXPECT_EQ(reply.seq(), 5u);
  }
  EXPECT_EQ(IncidentsOf("a"), 4u);
  EXPECT_EQ(IncidentsOf("b"), 0u) << "nothing of it is stored";
}

TEST_F(CountsTest, GroupHasTheIncidentsOfItsReports) {
  proto::Report report = SampleReport();
  report.set_counted(true);
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  json groups = GetJson("/api/v1/groups").at("groups");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].at("incidents"), 1) << "its counter did not come yet";
  EXPECT_EQ(groups[0].at("reports"), 1);
  proto::Counts counts = NewCounts(40);
  SetCounter(report.fingerprint(), 40, 6000, &counts);
  Send(counts);
  groups = GetJson("/api/v1/groups").at("groups");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].at("incidents"), 40);
  EXPECT_EQ(groups[0].at("reports"), 1);
  EXPECT_EQ(groups[0].at("total_ms"), 240'000.0);
  EXPECT_EQ(groups[0].at("worst_ms"), 6000.0);
  EXPECT_NEAR(groups[0].at("p50_ms").get<double>(), 6000, 750);
  EXPECT_EQ(groups[0].at("worst_id"), report.id());
  // Of an older device: beside the counters.
  proto::Report uncounted = SampleReport();
  ASSERT_EQ(UploadResult(Seal(uncounted)), proto::UploadReply::STORED);
  groups = GetJson("/api/v1/groups").at("groups");
  EXPECT_EQ(groups.at(0).at("incidents"), 41);
  EXPECT_EQ(groups.at(0).at("reports"), 2);
}

TEST_F(CountsTest, IncidentsWithoutAReportAreAGroupUntilOneComes) {
  proto::Counts counts = NewCounts(2);
  SetCounter(SampleReport().fingerprint(), 3, 100, &counts);
  SetCounter("other", 5, 10, &counts);
  Send(counts);
  json groups = GetJson("/api/v1/groups").at("groups");
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].at("title"), "LoadThumbnails");
  EXPECT_EQ(groups[0].at("kind"), "slow_message");
  EXPECT_EQ(groups[0].at("reports"), 0);
  EXPECT_EQ(groups[0].at("worst_id"), "");
  EXPECT_EQ(groups[0].at("processes"), json({"Gallery"}));
  EXPECT_EQ(groups[1].at("incidents"), 5);
  proto::Report report = SampleReport();
  report.set_counted(true);
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  groups = GetJson("/api/v1/groups").at("groups");
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].at("incidents"), 3);
  EXPECT_EQ(groups[0].at("reports"), 1);
  EXPECT_EQ(groups[0].at("worst_id"), report.id());
}

TEST_F(CountsTest, WhatCannotBeTrueIsRefused) {
  const auto refused = [&](const std::function<void(proto::Counts*)>& change) {
    proto::Counts counts = NewCounts(2);
    SetCounter("a", 3, 100, &counts);
    change(&counts);
    return Refusal(counts);
  };
  using Counts = proto::Counts;
  EXPECT_EQ(refused([](Counts* counts) { counts->set_format(2); }).first, 400);
  EXPECT_EQ(refused([](Counts* counts) { counts->set_epoch("../../etc"); }).first, 400);
  EXPECT_EQ(refused([](Counts* counts) { counts->set_seq(0); }).first, 400);
  EXPECT_EQ(refused([](Counts* counts) { counts->set_base_seq(3); }).first, 400);
  EXPECT_EQ(refused([](Counts* counts) { *counts->add_counters() = counts->counters(0); }).first,
            400);
  for (const auto& change : std::vector<std::function<void(proto::Counter*)>>{
           [](auto* counter) { counter->clear_key(); },
           [](auto* counter) { counter->set_key(std::string(300, 'k')); },
           [](auto* counter) { counter->set_incidents(0); },
           [](auto* counter) { counter->set_incidents(4); },
           [](auto* counter) { counter->set_total_ns(~uint64_t{0}); },
           [](auto* counter) { counter->set_max_ns(counter->total_ns() + 1); },
           [](auto* counter) { counter->mutable_buckets(0)->set_index(kDurationBuckets); },
           [](auto* counter) { *counter->add_buckets() = counter->buckets(0); },
           [](auto* counter) { counter->mutable_buckets(0)->set_incidents(~uint64_t{0}); }}) {
    const auto answer = refused([&](Counts* counts) { change(counts->mutable_counters(0)); });
    EXPECT_EQ(answer.first, 400) << answer.second;
  }
  EXPECT_EQ(Post("nothing of the kind")->status, 400);
  EXPECT_EQ(Post(std::string(3u << 20, 'x'))->status, 413);
  EXPECT_EQ(NewClient().Post("/api/v1/counts", "", "text/plain")->status, 415);
  EXPECT_EQ(GetJson("/api/v1/counts").at("counts").size(), 0u);
  EXPECT_EQ(GetJson("/api/v1/groups").at("groups").size(), 0u);
}

TEST_F(CountsTest, EpochHasFiveHundredAndOneCounters) {
  const std::string epoch = NewUuid(1);
  proto::Counts counts = NewCounts(1, epoch);
  for (int i = 0; i < 501; ++i) SetCounter("key " + std::to_string(i), 1, 1, &counts);
  EXPECT_EQ(Send(counts).result(), proto::CountsReply::STORED);
  proto::Counts more = NewCounts(2, epoch);
  SetCounter("one more", 1, 1, &more);
  EXPECT_EQ(Refusal(more).first, 400);
  EXPECT_EQ(GetJson("/api/v1/counts").at("counts").size(), 501u);
  SetCounter("one too many", 1, 1, &counts);
  EXPECT_EQ(Refusal(counts).first, 400);
}

}  // namespace
}  // namespace jankbox::collector
