// The incident above all processes of a trace, read back by the strict reader.
#include "tracer/snapshot/incident_tracks.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = SnapshotFact::Kind;

constexpr int32_t kUi = 11;

SnapshotIncident SlowMessage() {
  SnapshotIncident incident;
  incident.title = "slow message 904 ms: 61 % disk, in SavePreferences";
  incident.description = "61 % in fdatasync on a regular file, in SavePreferences";
  incident.kind = "slow_message";
  incident.report_id = "id-1";
  incident.tid = kUi;
  incident.from_ns = kBoottimeOffsetNs + 1200;
  incident.to_ns = kBoottimeOffsetNs + 1900;
  return incident;
}

// A trace with this incident of thread kUi, beside thread 12.
TraceContent TraceOf(const SnapshotIncident& incident) {
  const RingWindow window =
      MakeWindow(1000, 2000, {MakeThread(12, {MakeChunk({Begin(1, 1100)})}), MakeThread(kUi, {})});
  const MethodNames names = TestNames();
  SnapshotInput input = MakeInput(window, names);
  input.incident = incident;
  return Snapshot(input).trace;
}

std::vector<ReadSlice> SlicesOf(const TraceContent& trace, const std::string& track) {
  std::vector<ReadSlice> slices;
  std::copy_if(trace.slices.begin(), trace.slices.end(), std::back_inserter(slices),
               [&](const ReadSlice& slice) { return slice.track == track; });
  return slices;
}

std::vector<std::string> Lines(const std::vector<ReadSlice>& slices) {
  std::vector<std::string> lines;
  for (const ReadSlice& slice : slices) lines.push_back(Describe(slice));
  return lines;
}

TEST(IncidentTracks, IncidentIsTheFirstTrackAndAboveTheProcesses) {
  const TraceContent trace = TraceOf(SlowMessage());
  const ReadTrack& first = trace.tracks.at(trace.tracks_in_order.front());
  EXPECT_EQ(first.name, "Jankbox incident");
  EXPECT_EQ(first.parent_uuid, 0u);
  EXPECT_TRUE(first.ranks_children);
  EXPECT_EQ(first.description, SlowMessage().description);
  EXPECT_THAT(Lines(SlicesOf(trace, "Jankbox incident")),
              ElementsAre("1200+700 0 slow message 904 ms: 61 % disk, in SavePreferences"));
}

TEST(IncidentTracks, ProcessAndThreadOfTheIncidentComeBeforeOthers) {
  const TraceContent trace = TraceOf(SlowMessage());
  EXPECT_TRUE(trace.ranked);
  for (const auto& [uuid, track] : trace.tracks) {
    const bool first = track.process || track.tid == kUi;
    EXPECT_EQ(track.rank < 0, first) << track.name << track.tid;
  }
}

TEST(IncidentTracks, SliceAndTriggerAreOnASequenceWithoutThreads) {
  const TraceContent trace = TraceOf(SlowMessage());
  const std::vector<ReadSlice> slices = SlicesOf(trace, "Jankbox incident");
  ASSERT_EQ(slices.size(), 1u);
  ASSERT_EQ(trace.triggers.size(), 1u);
  EXPECT_EQ(trace.triggers[0].name, "jankbox.slow_message");
  EXPECT_EQ(trace.triggers[0].producer, "jankbox");
  EXPECT_EQ(trace.triggers[0].ts, kBoottimeOffsetNs + 1900);
  EXPECT_EQ(trace.triggers[0].sequence, slices[0].sequence);
}

TEST(IncidentTracks, FactsAndStackAreAnnotations) {
  SnapshotIncident incident = SlowMessage();
  incident.facts = {{"", "fingerprint", Kind::kText, "0a1b"},
                    {"verdict", "disk_ms", Kind::kMs, "", 551'500'000},
                    {"verdict", "summary", Kind::kText, "61 % \xff"},
                    {"losses", "overwritten_chunks", Kind::kNumber, "", 7}};
  incident.blamed_stack = {"fdatasync", "SavePreferences"};
  const std::vector<ReadSlice> slices = SlicesOf(TraceOf(incident), "Jankbox incident");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].annotations,
            (std::map<std::string, std::string>{{"kind", "slow_message"},
                                                {"report_id", "id-1"},
                                                {"tid", "11"},
                                                {"fingerprint", "0a1b"},
                                                {"verdict.disk_ms", "551.500000"},
                                                {"verdict.summary", "61 % \xef\xbf\xbd"},
                                                {"losses.overwritten_chunks", "7"},
                                                {"blamed_stack[0]", "fdatasync"},
                                                {"blamed_stack[1]", "SavePreferences"}}));
}

TEST(IncidentTracks, StretchesOfTheVerdictAreBelow) {
  SnapshotIncident incident = SlowMessage();
  const uint64_t at = incident.from_ns;
  incident.stretches = {
      {at, at + 100, "running", "", {}},
      {at + 100,
       at + 700,
       "disk",
       "in fdatasync on a regular file",
       {{"time", "disk_ms", Kind::kMs, "", 500}, {"time", "running_ms", Kind::kMs, "", 100}}}};
  const TraceContent trace = TraceOf(incident);
  const std::vector<ReadSlice> slices = SlicesOf(trace, "Jankbox verdict");
  EXPECT_THAT(Lines(slices), ElementsAre("1200+100 0 running", "1300+600 0 disk"));
  EXPECT_THAT(slices[0].annotations, IsEmpty());
  EXPECT_EQ(slices[1].annotations.at("detail"), "in fdatasync on a regular file");
  EXPECT_EQ(slices[1].annotations.at("time.disk_ms"), "0.000500");
  EXPECT_EQ(trace.tracks.at(trace.tracks.at(slices[0].track_uuid).parent_uuid).name,
            "Jankbox incident");
}

TEST(IncidentTracks, IncidentWithoutAVerdictSaysSoBelow) {
  EXPECT_THAT(Lines(SlicesOf(TraceOf(SlowMessage()), "Jankbox verdict")),
              ElementsAre("1200+700 0 no verdict"));
}

TEST(IncidentTracks, TimesWithoutCallsAreSlices) {
  SnapshotIncident incident = SlowMessage();
  incident.gaps = {{incident.from_ns, incident.from_ns + 690, "overwritten"}};
  const TraceContent trace = TraceOf(incident);
  const std::vector<ReadSlice> slices = SlicesOf(trace, "Jankbox coverage");
  EXPECT_THAT(Lines(slices), ElementsAre("1200+690 0 calls not recorded"));
  EXPECT_EQ(slices[0].annotations.at("reason"), "overwritten");
  EXPECT_THAT(SlicesOf(TraceOf(SlowMessage()), "Jankbox coverage"), IsEmpty());
}

TEST(IncidentTracks, TimesThatImportersRefuseAreMoved) {
  SnapshotIncident incident = SlowMessage();
  incident.from_ns = UINT64_MAX;
  incident.to_ns = 5;
  const std::vector<ReadSlice> slices = SlicesOf(TraceOf(incident), "Jankbox incident");
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].ts, uint64_t{1} << 61);
  EXPECT_EQ(slices[0].dur, 0u);
}

TEST(IncidentTracks, WithoutAnIncidentThereIsNoTrackOfIt) {
  const TraceContent trace = TraceOf({});
  EXPECT_FALSE(trace.ranked);
  EXPECT_THAT(trace.triggers, IsEmpty());
  for (const auto& [uuid, track] : trace.tracks) EXPECT_NE(track.name, "Jankbox incident");
}

}  // namespace
}  // namespace jankbox::testing
