#include <gmock/gmock.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/tools/subprocess.h"
#include "tracer/ring/method_registry.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_checksums.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class RingDump : public testing::Test {
 protected:
  // Records into a ring of this process, which stays open until the test ends.
  void SetUp() override {
    RingOptions options;
    options.folder = folder_.path();
    options.bytes = 1 << 20;
    options.tick_source = ChooseTickSource();
    options.app_name = "dump-test";
    // A closed ring stays mapped for threads that are on their way out.
    static auto* rings = new std::vector<std::unique_ptr<RingFile>>();
    rings->push_back(RingFile::Create(options).value());
    ring_ = rings->back().get();
    ASSERT_TRUE(ring_->Grow().ok());
    MethodRegistry::Get().Attach(ring_);
    decode_ = MethodRegistry::Get().IdOfName("Decode");
    ASSERT_TRUE(Recorder::Open(ring_).ok());
    for (int i = 0; i < 5000; ++i) RecordEvent(EventKind::kInstant, decode_);
    RecordEvent(EventKind::kBegin, decode_);
    RecordValue(EventKind::kCounter, decode_, static_cast<uint64_t>(-5));
    const uint64_t name[1] = {0x6b726f77};  // "work"
    RecordEventAt(EventKind::kDispatchBegin, 4, UINT64_MAX, name);
  }
  void TearDown() override {
    Recorder::Close();
    MethodRegistry::Get().Detach();
  }
  Finished Dump(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {JANKBOX_BINARY, "ring", "dump"});
    return RunToEnd(arguments);
  }

  TemporaryFolder folder_;
  RingFile* ring_ = nullptr;
  uint32_t decode_ = 0;
};

TEST_F(RingDump, LiveRingIsShownWithThreadsChunksAndLosses) {
  const Finished dump = Dump({ring_->path()});
  EXPECT_EQ(dump.exit_status(), 0) << dump.err;
  EXPECT_EQ(dump.err, "");
  EXPECT_THAT(dump.out, HasSubstr("  live, 1.0 MiB, version 4\n"));
  EXPECT_THAT(dump.out, HasSubstr("(pid " + std::to_string(getpid()) + "), app dump-test"));
  EXPECT_THAT(dump.out, HasSubstr("Losses    nothing lost\n"));
  EXPECT_THAT(dump.out, HasSubstr("Decode > (dispatch)"));
  EXPECT_THAT(dump.out, testing::Not(HasSubstr("instant")));
  EXPECT_THAT(dump.out, testing::Not(HasSubstr("\x1b")));
}

TEST_F(RingDump, EventsAreTheLastOnesOfEachThread) {
  const Finished dump = Dump({ring_->path(), "--events", "4"});
  EXPECT_THAT(dump.out, HasSubstr("the last 4 of 5003 events"));
  EXPECT_THAT(dump.out, HasSubstr("counter         Decode = -5\n"));
  EXPECT_THAT(dump.out, HasSubstr("0.000000 ms  dispatch_begin  work\n"));
  EXPECT_THAT(Dump({ring_->path(), "--events"}).out, HasSubstr("the last 20 of 5003 events"));
}

TEST_F(RingDump, JsonHasEverythingAndEventsOnlyIfAskedFor) {
  ChecksumClosedChunks(ring_, NowTicks());
  const json ring = json::parse(Dump({ring_->path(), "--json"}).out);
  EXPECT_EQ(ring["state"], "live");
  EXPECT_EQ(ring["process"]["pid"], getpid());
  ASSERT_EQ(ring["threads"].size(), 1u);
  const json& thread = ring["threads"][0];
  EXPECT_EQ(thread["event_count"], 5003);
  EXPECT_EQ(thread["words"], 5000 + 1 + 3 + 2);
  EXPECT_EQ(thread["open_calls"].size(), 2u);
  EXPECT_EQ(thread["open_calls"][0]["name"], "Decode");
  EXPECT_FALSE(thread.contains("events"));
  ASSERT_EQ(ring["chunks"].size(), thread["chunks"]);
  for (const json& chunk : ring["chunks"]) {
    EXPECT_EQ(chunk["checksum"], chunk["state"] == "open" ? "none" : "right");
  }
  const json with_events = json::parse(Dump({ring_->path(), "--json", "--events", "9999"}).out);
  ASSERT_EQ(with_events["threads"][0]["events"].size(), 5003u);
  EXPECT_EQ(with_events["threads"][0]["events"][5001]["value"], -5);
  EXPECT_EQ(with_events["threads"][0]["events"][5002]["name"], "work");
}

TEST_F(RingDump, DamageIsNamed) {
  std::string bytes = FileBytes(ring_->path());
  WriteFile(folder_ / "text", "hello");
  EXPECT_EQ(Dump({folder_ / "text"}).exit_status(), 1);
  EXPECT_EQ(Dump({folder_ / "text"}).err,
            "jankbox: " + (folder_ / "text") +
                ": not a ring file (ring files are named ring-PID-START.jbxring)\n");
  bytes[8] = 9;
  WriteFile(folder_ / "newer", bytes);
  EXPECT_THAT(Dump({folder_ / "newer"}).err, HasSubstr("ring version 9, this command reads"));
  EXPECT_THAT(Dump({folder_ / "absent"}).err, HasSubstr("absent: No such file"));
  EXPECT_EQ(Dump({}).exit_status(), 2);
  EXPECT_EQ(Dump({ring_->path(), "--events", "many"}).exit_status(), 2);
  EXPECT_EQ(RunToEnd({JANKBOX_BINARY, "ring"}).exit_status(), 2);
}

TEST_F(RingDump, AnyBytesAfterTheHeaderAreSurvived) {
  std::string bytes = FileBytes(ring_->path());
  uint64_t random = 1;
  for (size_t at = offsetof(RingHeader, tick_source); at < bytes.size(); at += 1 + random % 400) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    bytes[at] = static_cast<char>(random >> 56);
  }
  reinterpret_cast<RingHeader*>(bytes.data())->ready.store(1);
  WriteFile(folder_ / "damaged", bytes);
  for (const char* option : {"--json", "--events=100"}) {
    const Finished dump = Dump({folder_ / "damaged", option});
    EXPECT_EQ(dump.exit_status(), 0) << dump.err;
  }
}

}  // namespace
}  // namespace jankbox::tools
