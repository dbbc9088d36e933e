// What tracer/ring offers to others for the ring's header: texts in words, loop names, slots of
// watched threads and notes of incidents.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

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
