// What tracer/ring offers to others for the ring's header: texts in words, loop names, slots of
// watched threads and notes of incidents.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "base/uuid.h"
#include "tracer/ring/incident_note.h"
#include "tracer/ring/ring_file.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

std::unique_ptr<RingFile> RingInMemory() {
  RingOptions options;
  options.bytes = 1 << 20;
  return RingFile::Create(options).value();
}

TEST(WordText, TextIsCutAndPaddedSoThatAZeroEndsIt) {
  std::atomic<uint64_t> words[2];
  for (const std::string text :
       {"", "a", "eightfit", "fifteen letters", "sixteen letters!", "more than 16 letters"}) {
    for (std::atomic<uint64_t>& word : words) word = UINT64_MAX;
    StoreWordText(&words, text);
    EXPECT_EQ(ReadWordText(words), text.substr(0, 15));
    char bytes[16];
    memcpy(bytes, words, sizeof(bytes));
    for (size_t i = text.size(); i < sizeof(bytes); ++i) EXPECT_EQ(bytes[i], '\0') << i;
    EXPECT_EQ(bytes[15], '\0');
  }
}

TEST(WordText, ReaderOfAFileStopsAtTheTextsEnd) {
  std::atomic<uint64_t> words[2];
  for (std::atomic<uint64_t>& word : words) word = UINT64_MAX;  // no zero: damaged
  EXPECT_EQ(ReadWordText(words).size(), 16u);
}

TEST(RingFileHeader, FirstGuessOfTheLoopsNameIsKept) {
  const std::unique_ptr<RingFile> ring = RingInMemory();
  EXPECT_EQ(ReadWordText(ring->header()->loop_name), "api");
  ring->GuessLoopName("glib");
  ring->GuessLoopName("sdl");
  EXPECT_EQ(ReadWordText(ring->header()->loop_name), "glib");
}

TEST(IncidentNote, OnlyTheIncidentItIsAboutClearsIt) {
  const std::unique_ptr<RingFile> ring = RingInMemory();
  const RingIncident& noted = ring->header()->incidents[2];
  const auto state = [&noted] { return static_cast<RingIncidentState>(noted.state.load()); };
  const std::string first = "0190a2b4-0000-7000-8000-000000000001";
  const std::string second = "0190a2b4-0000-7000-8000-000000000002";
  ring->incident_note(2).Write({.id = first, .kind = 5, .begin_ticks = 10});
  ring->incident_note(2).SetSealedRevision(3);
  EXPECT_EQ(state(), RingIncidentState::kGrowing);
  EXPECT_EQ(ReadWordText(noted.id), first);

  ring->incident_note(2).Write({.id = first, .kind = 5, .begin_ticks = 10, .end_ticks = 20});
  EXPECT_EQ(state(), RingIncidentState::kFinished);
  EXPECT_EQ(noted.sealed_revision.load(), 3u);

  ring->incident_note(2).Write({.id = second, .kind = 1, .begin_ticks = 30});
  EXPECT_EQ(noted.sealed_revision.load(), 0u);
  ring->incident_note(2).Clear(first);  // sealed only now
  EXPECT_EQ(state(), RingIncidentState::kGrowing);
  ring->incident_note(2).Clear(second);
  EXPECT_EQ(state(), RingIncidentState::kNone);
  EXPECT_EQ(static_cast<RingIncidentState>(ring->header()->incidents[1].state.load()),
            RingIncidentState::kNone);
}

UncountedIncident Uncounted(const std::string& id, uint64_t ns = 100) {
  return {.id = id,
          .kind = 1,
          .tid = 7,
          .begin_ns = 50,
          .end_ns = 50 + ns,
          .what = "tap",
          .total_ns = ns,
          .max_ns = ns};
}

TEST(UncountedIncidents, StayUntilTheyAreCounted) {
  const std::unique_ptr<RingFile> ring = RingInMemory();
  const UncountedIncidents uncounted = ring->uncounted();
  EXPECT_TRUE(uncounted.empty());
  const std::string first = "0190a2b4-0000-7000-8000-000000000001";
  const std::string second = "0190a2b4-0000-7000-8000-000000000002";
  uncounted.Add(Uncounted(first));
  uncounted.Add(Uncounted(second, 300));
  std::vector<UncountedIncident> found = UncountedIncidents::Of(*ring->header());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].id, second);
  EXPECT_EQ(found[1].end_ns, 350u);
  EXPECT_EQ(found[1].what, "tap");
  EXPECT_EQ(found[1].tid, 7);
  uncounted.Clear(first);
  found = UncountedIncidents::Of(*ring->header());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, second);
  uncounted.Clear(second);
  EXPECT_TRUE(uncounted.empty());
}

TEST(UncountedIncidents, ThoseWithoutALookAreAddedUp) {
  const std::unique_ptr<RingFile> ring = RingInMemory();
  const UncountedIncidents uncounted = ring->uncounted();
  const std::string id = "0190a2b4-0000-7000-8000-000000000001";
  const std::string next = "0190a2b4-0000-7000-8000-000000000002";
  const std::string moved = "0190a2b4-0000-7000-8000-000000000003";
  EXPECT_FALSE(uncounted.TakeTogether().has_value());
  uncounted.AddTogether({.id = id, .kind = 1, .incidents = 3, .total_ns = 900, .max_ns = 300});
  uncounted.Add(Uncounted(moved));
  uncounted.MoveTogether(moved);
  const std::optional<UncountedIncident> taken = uncounted.TakeTogether();
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->id, id);
  EXPECT_EQ(taken->incidents, 4u);
  EXPECT_EQ(taken->total_ns, 1000u);
  EXPECT_EQ(taken->max_ns, 300u);
  uncounted.AddTogether({.id = next, .kind = 1, .incidents = 1, .total_ns = 5, .max_ns = 5});
  EXPECT_EQ(UncountedIncidents::Of(*ring->header()).size(), 2u) << "being counted, and the next";
  uncounted.Clear(id);
  EXPECT_EQ(uncounted.TakeTogether()->id, next);
  uncounted.Clear(next);
  EXPECT_TRUE(uncounted.empty());
}

TEST(UncountedIncidents, HaveRoomForAllThatWait) {
  const std::unique_ptr<RingFile> ring = RingInMemory();
  const UncountedIncidents uncounted = ring->uncounted();
  for (size_t i = 0; i < kMaxUncounted + 5; ++i) {
    uncounted.Add(Uncounted(NewUuid(1)));
  }
  EXPECT_EQ(UncountedIncidents::Of(*ring->header()).size(), kMaxUncounted);
}

TEST(WatchedSlot, SlotThatWasReleasedIsClaimedWithoutItsPast) {
  const std::unique_ptr<RingFile> ring = RingInMemory();
  std::thread([&ring] {
    const WatchedSlot slot = WatchedSlot::OfThisThread(ring->header());
    ASSERT_TRUE(slot);
    slot.NameLoop("its own", /*by_app=*/true);
    slot.BeginDispatch(PaddedName("never ends"), 7);
  }).join();
  ring->watched(0).Release();
  std::thread([&ring] {
    const WatchedSlot slot = WatchedSlot::OfThisThread(ring->header());
    ASSERT_TRUE(slot);
    EXPECT_EQ(slot.index(), 0u);
    EXPECT_EQ(slot.dispatch_depth(), 0u);
    EXPECT_EQ(slot.RunningSinceNs(), 0u);
    EXPECT_EQ(ReadWordText(slot.thread().loop_name), "");
    slot.NameLoop("a guess", /*by_app=*/false);
    EXPECT_EQ(ReadWordText(slot.thread().loop_name), "a guess");
  }).join();
}

}  // namespace
}  // namespace jankbox
