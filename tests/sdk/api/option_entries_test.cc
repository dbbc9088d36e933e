#include "sdk/api/option_entries.h"

#include <gtest/gtest.h>

#include <vector>

namespace jankbox {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries Read(std::string_view text) {
  Entries entries;
  OptionEntries reader(text);
  OptionEntry entry;
  while (reader.Next(&entry)) {
    entries.emplace_back(std::string(entry.name) + (entry.weak ? "?" : ""),
                         Unquoted(entry.raw_value));
  }
  return entries;
}

TEST(OptionEntries, CommasSeparate) {
  EXPECT_EQ(Read("sample_interval_ms=2,watch_threads=io-*"),
            (Entries{{"sample_interval_ms", "2"}, {"watch_threads", "io-*"}}));
  EXPECT_EQ(Read(" a = 1 ,,\n b=2, "), (Entries{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(Read(""), Entries{});
  EXPECT_EQ(Read("a,b=,=c"), (Entries{{"a", ""}, {"b", ""}, {"", "c"}}));
}

TEST(OptionEntries, QuotesHoldCommas) {
  EXPECT_EQ(Read("watch_threads='render,io-*',atrace=\"gfx,view\""),
            (Entries{{"watch_threads", "render,io-*"}, {"atrace", "gfx,view"}}));
  EXPECT_EQ(Read("dir=' a'' b ', x=1"), (Entries{{"dir", " a' b "}, {"x", "1"}}));
}

TEST(OptionEntries, QuotesInsideAValueAreOrdinary) {
  EXPECT_EQ(Read("app_name=Bob's,anr_ms=100"), (Entries{{"app_name", "Bob's"}, {"anr_ms", "100"}}));
  EXPECT_EQ(Read("it's,anr_ms=100"), (Entries{{"it's", ""}, {"anr_ms", "100"}}));
}

TEST(OptionEntries, AQuoteThatIsLeftOpenTakesTheRest) {
  EXPECT_EQ(Read("dir='a,b=c"), (Entries{{"dir", "'a,b=c"}}));
}

TEST(OptionEntries, WeakEntriesAreMarked) {
  EXPECT_EQ(Read("slow_message_ms?=100"), (Entries{{"slow_message_ms?", "100"}}));
}

TEST(OptionEntries, WhatIsQuotedIsReadBack) {
  for (const std::string value :
       {"", "a", "'", "''", "a,b", " x ", "\"'\"", "=", "it's, \"is\"", "''',b=1"}) {
    EXPECT_EQ(Read("dir=" + Quoted(value) + ",b=2"), (Entries{{"dir", value}, {"b", "2"}}));
  }
}

TEST(OptionEntries, ACutValueStaysInItsBuffer) {
  char value[3];
  EXPECT_EQ(CopyUnquoted("'abcdef'", value), 3u);
  EXPECT_EQ(std::string(value, 3), "abc");
}

}  // namespace
}  // namespace jankbox
