#include "tests/monitors/looper/sequences/recorded_run.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

// One run: a module, a site in it, a call, the terminal, a function, a wait with one changed word
// in it, its return, a stall's ends, the end.
std::string GoldenContent() {
  std::string records;
  records += std::string("m\x09libfoo.so", 11);
  records += std::string("s\x01\x90\x02\x81\x02", 6);      // at 272, in the function at 256
  records += std::string("c\x00\x01\x06\x02\x06\x08", 7);  // poll, at once, for 5 and 7
  records += "t\x01";
  records += std::string("f\x00\x41", 3);
  records += std::string("w\x0a\x03\x00\x28\x00\x00\x01\x20\x05\x00", 11);
  records += std::string("r\xe8\x07\x00", 4);
  records += std::string("[\x01\x00]\x02\x02z\x03", 8);
  return std::string(kWaitFileMagic) + "R\x04idle" + static_cast<char>(records.size()) + records;
}

TEST(RecordedRun, GoldenBytesAreRead) {
  Result<std::vector<RecordedRun>> runs = ParseRecordedRuns(GoldenContent(), "program");
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 1u);
  const RecordedRun& run = runs->front();
  EXPECT_EQ(run.name, "idle");
  ASSERT_EQ(run.sites.size(), 1u);
  EXPECT_EQ(run.sites[0].module, "libfoo.so");
  EXPECT_EQ(run.sites[0].offset, 272u);
  EXPECT_EQ(run.sites[0].function, 257u);
  ASSERT_EQ(run.calls.size(), 1u);
  EXPECT_TRUE(run.calls[0].returns_at_once);
  EXPECT_EQ(run.calls[0].fds, (std::vector<int>{5, 7}));
  ASSERT_EQ(run.events.size(), 6u);
  EXPECT_EQ(run.events[0].terminals, 1u);
  const RecordedEvent& wait = run.events[1];
  EXPECT_EQ(wait.at_us, 10u);
  EXPECT_EQ(wait.work_us, 3u);
  EXPECT_EQ(wait.depth, 40u);
  ASSERT_EQ(wait.words.size(), 1u);
  EXPECT_EQ(wait.words[0].depth, 32u);
  EXPECT_EQ(wait.words[0].value, 2u);
  ASSERT_EQ(wait.words[0].function, 1u);
  EXPECT_EQ(run.functions[0].module, "libfoo.so");
  EXPECT_EQ(run.functions[0].start, 65u);
  EXPECT_EQ(run.events[2].at_us, 1010u);
  EXPECT_EQ(run.events[4].kind, WaitRecord::kStallEnd);
  EXPECT_EQ(run.events[5].at_us, 1016u);
}

TEST(RecordedRun, TruncatedFileIsCorrupt) {
  const std::string content = GoldenContent();
  const size_t magic = sizeof(kWaitFileMagic) - 1;
  for (size_t size = 0; size < content.size(); ++size) {
    if (size == magic) continue;  // no run at all
    EXPECT_FALSE(ParseRecordedRuns(content.substr(0, size), "program").ok()) << size;
  }
}

TEST(RecordedRun, NumbersOutOfRangeAreCorrupt) {
  std::string content = GoldenContent();
  content[content.find('w') + 3] = 7;  // a site that there is not
  EXPECT_FALSE(ParseRecordedRuns(content, "program").ok());
  content = GoldenContent();
  content[content.find("jankbox waits 1") + 14] = '2';
  EXPECT_FALSE(ParseRecordedRuns(content, "program").ok());
}

}  // namespace
}  // namespace jankbox
