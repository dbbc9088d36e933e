// The recorder inside a program, to the judgement of what it recorded.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "base/file.h"
#include "base/process_runner.h"
#include "tests/monitors/looper/sequences/replay.h"

namespace jankbox {
namespace {

constexpr size_t kMaxRawBytes = 32 << 20;

void AppendNumber(uint64_t number, std::string* bytes) {
  for (; number >= 0x80; number >>= 7) *bytes += static_cast<char>(number | 0x80);
  *bytes += static_cast<char>(number);
}

// One run, as record_waits.py writes it before it is compressed.
std::string ContentOf(const std::string& raw) {
  RawWaitHeader header;
  if (raw.size() < sizeof(header)) return "";
  memcpy(&header, raw.data(), sizeof(header));
  std::string content = std::string(kWaitFileMagic) + kWaitRunTag + "\x04live";
  AppendNumber(header.bytes + 2, &content);
  return content + raw.substr(sizeof(header), header.bytes) + "z" + '\0';
}

TEST(WaitRecorder, PlantedStallOfARecordedProgramIsFound) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a library with a sanitizer cannot be preloaded into a program without";
#endif
  const std::string path = testing::TempDir() + "/waits." + std::to_string(getpid());
  unlink(path.c_str());
  ChildProcess program;
  ASSERT_EQ(program.Start({.argv = {WAIT_POLL_LOOP, "copies", "busy"},
                           .environment = {{"LD_PRELOAD", WAIT_RECORDER},
                                           {"RECORD_WAITS_FILE", path},
                                           {"RECORD_WAITS_PROGRAM", "wait_poll_loop"}}}),
            0);
  program.Wait();
  Result<std::string> raw = ReadFile(path, kMaxRawBytes);
  unlink(path.c_str());
  ASSERT_TRUE(raw.ok());
  Result<std::vector<RecordedRun>> runs = ParseRecordedRuns(ContentOf(raw.value()), "program");
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 1u);
  const RecordedRun& run = runs->front();
  EXPECT_EQ(run.sites.size(), 3u);  // of one poll() in the source
  const Judgement judgement = Judge(run, Replay(run));
  EXPECT_EQ(judgement.planted, 1u);
  EXPECT_EQ(judgement.found, 1u);
  EXPECT_TRUE(judgement.mistaken.empty());
}

}  // namespace
}  // namespace jankbox
