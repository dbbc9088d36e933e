#include "diagnosis/verdict/gc_pauses.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_window.h"
#include "tracer/event/gc_pause_name.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kUi = 7;
constexpr uint32_t kOther = 1, kPause = 3;

class GcPausesTest : public testing::Test {
 protected:
  GcPausesTest() {
    window_.to_ticks = 9'000;
    window_.threads.reserve(4);
    names_.Set(kOther, "another");
    names_.Set(kPause, kGcPauseName);
  }
  FakeThread Thread(int32_t tid) { return AddThread(&window_, tid, "VM Thread"); }
  // "from-to" of each, in ns.
  std::vector<std::string> Pauses() const {
    std::vector<std::string> lines;
    for (const GcPause& pause : GcPauses(window_, names_, kUi, FakeClock())) {
      lines.push_back(std::to_string(pause.from_ns) + "-" + std::to_string(pause.to_ns));
    }
    return lines;
  }

  RingWindow window_;
  MethodNames names_;
};

TEST_F(GcPausesTest, OfAnyThreadCount) {
  Thread(8).Begin(kPause, 100).End(kPause, 300).Begin(kOther, 350).End(kOther, 400);
  Thread(9).Begin(kPause, 500).NewChunk(600).End(kPause, 650).End(kPause, 700);
  EXPECT_THAT(Pauses(), ElementsAre("100-300", "500-650"));
}

TEST_F(GcPausesTest, WithoutTheirNameThereAreNone) {
  names_ = {};
  Thread(8).Begin(kPause, 100).End(kPause, 300);
  EXPECT_THAT(Pauses(), IsEmpty());
}

TEST_F(GcPausesTest, OpenOneLastsAsLongAsTheWindow) {
  Thread(8).Begin(kPause, 100);
  EXPECT_THAT(Pauses(), ElementsAre("100-9000"));
}

TEST_F(GcPausesTest, OneWhoseEndIsMissingIsNone) {
  Thread(8).Begin(kPause, 100).NewChunk(600, true).Begin(kPause, 700).End(kPause, 800);
  EXPECT_THAT(Pauses(), ElementsAre("700-800"));
}

TEST_F(GcPausesTest, OverlappingOnesAreOne) {
  Thread(8).Begin(kPause, 200).End(kPause, 400);
  Thread(9).Begin(kPause, 100).End(kPause, 300);
  EXPECT_THAT(Pauses(), ElementsAre("100-400"));
}

TEST_F(GcPausesTest, WaitThatArtMarkedIsTheThreadsOwn) {
  for (const int32_t tid : {kUi, 8}) {
    Thread(tid)
        .Marker("B|1|inflate", 100 + static_cast<uint64_t>(tid))
        .Marker("B|1|GC: Wait For Completion Alloc", 200 + static_cast<uint64_t>(tid))
        .Marker("B|1|inner", 250)
        .Marker("E|1", 260)
        .Marker("E|1", 400)
        .Marker("E|1", 500);
  }
  EXPECT_THAT(Pauses(), ElementsAre("207-400"));
}

}  // namespace
}  // namespace jankbox
