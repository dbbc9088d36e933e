#include "tracer/event/marker_text.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace jankbox {
namespace {

void Expect(std::string_view text, MarkerKind kind, std::string_view name,
            std::string_view track = "", int64_t value = 0) {
  const MarkerParts parts = ParseMarker(text);
  EXPECT_EQ(parts.kind, kind) << text;
  EXPECT_EQ(parts.name, name) << text;
  EXPECT_EQ(parts.track, track) << text;
  EXPECT_EQ(parts.value, value) << text;
}

TEST(MarkerText, EveryKindIsTakenApart) {
  Expect("B|4242|Choreographer#doFrame", MarkerKind::kBegin, "Choreographer#doFrame");
  Expect("E|4242", MarkerKind::kEnd, "");
  Expect("E", MarkerKind::kEnd, "");
  Expect("E|", MarkerKind::kEnd, "");
  Expect("C|4242|VSYNC-app|1", MarkerKind::kCounter, "VSYNC-app", "", 1);
  Expect("C|4242|heap|-9223372036854775808", MarkerKind::kCounter, "heap", "", INT64_MIN);
  Expect("S|4242|download|77", MarkerKind::kAsyncBegin, "download", "", 77);
  Expect("F|4242|download|77", MarkerKind::kAsyncEnd, "download", "", 77);
  Expect("G|4242|net|GET|5", MarkerKind::kTrackBegin, "GET", "net", 5);
  Expect("H|4242|net|5", MarkerKind::kTrackEnd, "", "net", 5);
  Expect("I|4242|tap", MarkerKind::kInstant, "tap");
  Expect("N|4242|input|tap", MarkerKind::kTrackInstant, "tap", "input");
}

TEST(MarkerText, NamesMayHoldBarsLineEndsAreNoPartOfThem) {
  Expect("B|1|a|b|c\n", MarkerKind::kBegin, "a|b|c");
  Expect("C|1|a|b|7\n", MarkerKind::kCounter, "a|b", "", 7);
  Expect(std::string_view("E|1\n\0", 5), MarkerKind::kEnd, "");
  Expect("B|1|", MarkerKind::kBegin, "");
}

TEST(MarkerText, WhatIsNoneOfThemIsUnknown) {
  for (const char* text :
       {"", "B", "X|1|a", "trace_event_clock_sync: parent_ts=1", "Bad|1|a", "C|1|name",
        "C|1|name|x", "C|1|name|1x", "S|1|n|", "C|1|n|99999999999999999999"}) {
    EXPECT_EQ(ParseMarker(text).kind, MarkerKind::kUnknown) << text;
  }
}

TEST(MarkerText, AnyBytesAreSurvived) {
  std::mt19937 random(7);
  for (int round = 0; round < 100'000; ++round) {
    std::string text(random() % 24, ' ');
    for (char& byte : text) byte = "BECSFGHIN|||0123-\n\0\xff"[random() % 21];
    const MarkerParts parts = ParseMarker(text);
    EXPECT_LE(parts.name.size() + parts.track.size(), text.size());
  }
}

}  // namespace
}  // namespace jankbox
