// Against AOSP's own trace-dev.cpp, built once importing write and once __write_chk (two programs,
// as two such libraries in one process would be each other's rivals): what its library computes,
// what happens to tags that are added under it, and what its markers look like in a real
// trace_marker.
#include "tests/tracer/atrace/real_cutils.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "tests/e2e/tracefs_instance.h"
#include "tracer/atrace/atrace_control.h"
#include "tracer/atrace/atrace_symbols.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;

class RealCutilsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cutils_ = LoadRealCutils(WriteImport::JANKBOX_TEST_WRITE_IMPORT);
    if (!cutils_.why_not.empty()) GTEST_SKIP() << cutils_.why_not;
    cutils_.set_tracing_enabled(true);
    cutils_.set_debuggable(false);
    for (const std::string_view name :
         {kEnableFlagsProperty, kAppNumberProperty, kDebuggableProperty}) {
      SetProperty(std::string(name), "");
    }
    cutils_.get_enabled_tags();
  }
  // The library would write to the system's own trace_marker else.
  void TearDown() override {
    if (cutils_.marker_fd != nullptr) *cutils_.marker_fd = -1;
  }

  void SetProperty(const std::string& name, const std::string& value) {
    ASSERT_EQ(cutils_.set_property(name.c_str(), value.c_str()), 0) << name;
    if (value.empty()) return;
    ASSERT_TRUE(properties_.Set(name, value)) << name;
  }

  std::string Cmdline() {
    const std::string all = ReadProcFile("/proc/self/cmdline");
    return all.substr(0, all.find('\0'));
  }

  AtraceSymbols Find() {
    const Result<AtraceSymbols> symbols = AtraceSearch().Find("");
    EXPECT_TRUE(symbols.ok()) << symbols.status().message();
    return symbols.ok() ? symbols.value() : AtraceSymbols();
  }

  RealCutils cutils_;
  PropertyValues properties_;
};

TEST_F(RealCutilsTest, ItsVariablesAreFound) {
  const AtraceSymbols symbols = Find();
  EXPECT_EQ(symbols.enabled_tags, cutils_.enabled_tags);
  EXPECT_EQ(symbols.marker_fd, cutils_.marker_fd);
  EXPECT_EQ(symbols.library, cutils_.path);
  EXPECT_NE(symbols.setup, nullptr);
  EXPECT_NE(symbols.refresh, nullptr);
}

const std::vector<std::string> kOddFlags = {"",
                                            "0",
                                            "0x496e",
                                            "18798",
                                            "044556",
                                            "-1",
                                            "-2",
                                            " 7",
                                            "7 ",
                                            "0x",
                                            "gfx",
                                            "0b1",
                                            "0X1f",
                                            "1e3",
                                            "0xffffffffffffffff",
                                            "0xfffffffffffffffe",
                                            "18446744073709551616",
                                            "0x8000000000000001",
                                            "+6",
                                            "--6"};
const std::vector<std::string> kOddNumbers = {"",
                                              "0",
                                              "1",
                                              "2",
                                              "3",
                                              "-1",
                                              "0x2",
                                              "02",
                                              " 1",
                                              "2x",
                                              "x",
                                              "2147483648",
                                              "-99999999999999999999"};

// Any mixture of odd values: both must come to the same tags.
TEST_F(RealCutilsTest, ComputesTheTagsThatWeCompute) {
  const std::string cmdline = Cmdline();
  const std::vector<std::string> apps = {"", "*", cmdline, "com.other", cmdline + "x", "* "};
  const std::vector<std::string> switches = {"",     "0",  "1",   "y", "n",    "yes",
                                             "true", "on", "off", "2", "True", " 1"};
  std::mt19937 random(20240607);
  const auto pick = [&](const std::vector<std::string>& values) {
    return values[random() % values.size()];
  };
  std::set<uint64_t> seen;
  for (int i = 0; i < 20'000; ++i) {
    properties_ = PropertyValues();
    SetProperty(std::string(kEnableFlagsProperty), pick(kOddFlags));
    SetProperty(std::string(kAppNumberProperty), pick(kOddNumbers));
    SetProperty(std::string(kDebuggableProperty), pick(switches));
    for (int app = 0; app < 3; ++app) SetProperty(AtraceAppProperty(app), pick(apps));
    AtraceFacts facts = {.properties = &properties_, .cmdline = cmdline};
    facts.app_debuggable = random() % 2 == 0;
    facts.tracing_enabled = random() % 8 != 0;
    cutils_.set_debuggable(facts.app_debuggable);
    cutils_.set_tracing_enabled(facts.tracing_enabled);
    cutils_.update_tags();
    ASSERT_EQ(*cutils_.enabled_tags, ComputeAtraceTags(facts))
        << "flags \"" << properties_.Get(kEnableFlagsProperty) << "\", number \""
        << properties_.Get(kAppNumberProperty) << "\", debuggable \""
        << properties_.Get(kDebuggableProperty) << "\"";
    seen.insert(*cutils_.enabled_tags);
  }
  EXPECT_GE(seen.size(), 12u) << "too much alike to tell anything";
}

TEST_F(RealCutilsTest, TagsOutliveTheLibrarysOwnUpdatesAndAreRestored) {
  SetProperty(std::string(kEnableFlagsProperty), "0x8");
  const uint64_t before = cutils_.get_enabled_tags();
  ASSERT_EQ(before, kTagView | kTagAlways);
  AtraceControl control(Find());
  control.Start(kDefaultCaptureTags | kTagApp, before);
  EXPECT_EQ(cutils_.get_enabled_tags(), 0x596fu);
  // A system trace begins: from the next marker on the library has its tags, and ours are gone.
  SetProperty(std::string(kEnableFlagsProperty), "0x2002");
  EXPECT_EQ(cutils_.get_enabled_tags(), kTagResources | kTagGraphics | kTagAlways);
  const uint64_t system = ComputeAtraceTags({.properties = &properties_, .cmdline = Cmdline()});
  control.Update(kDefaultCaptureTags | kTagApp, system, MonotonicNs());
  EXPECT_EQ(cutils_.get_enabled_tags(), 0x596fu | kTagResources);
  // It ends, and this time our update comes before the library's.
  SetProperty(std::string(kEnableFlagsProperty), "0");
  control.Update(kDefaultCaptureTags | kTagApp, kTagAlways, MonotonicNs());
  EXPECT_EQ(cutils_.get_enabled_tags(), 0x596fu);
  control.Stop();
  EXPECT_EQ(cutils_.get_enabled_tags(), kTagAlways);
}

TEST_F(RealCutilsTest, AProcessThatIsNotToTraceIsLeftAlone) {
  cutils_.set_tracing_enabled(false);
  ASSERT_EQ(*cutils_.enabled_tags, kTagNotReady);
  AtraceControl control(Find());
  control.Start(kDefaultCaptureTags, kTagNotReady);
  control.Look(MonotonicNs());
  EXPECT_EQ(*cutils_.enabled_tags, kTagNotReady);
  cutils_.set_tracing_enabled(true);  // forked from the zygote
  control.Look(MonotonicNs());
  EXPECT_EQ(*cutils_.enabled_tags, kDefaultCaptureTags | kTagAlways);
  control.Stop();
  EXPECT_EQ(*cutils_.enabled_tags, kTagAlways);
}

// The library's inline functions: a marker is written if its tag is on.
class RealMarkers : public RealCutilsTest {
 protected:
  void SetUp() override {
    RealCutilsTest::SetUp();
    if (IsSkipped()) return;
    if (!instance_.missing().empty()) GTEST_SKIP() << "no tracefs: " << instance_.missing();
    marker_ = open(instance_.Path("trace_marker").c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(marker_, 0);
    *cutils_.marker_fd = marker_;
  }
  void TearDown() override {
    RealCutilsTest::TearDown();
    if (marker_ >= 0) close(marker_);
  }
  bool On(uint64_t tag) { return (cutils_.get_enabled_tags() & tag) != 0; }

  // The text of each marker that the kernel has, oldest first.
  std::vector<std::string> Markers() const {
    constexpr std::string_view kMark = "tracing_mark_write: ";
    std::vector<std::string> markers;
    std::istringstream trace(instance_.Trace());
    for (std::string line; std::getline(trace, line);) {
      const size_t at = line.find(kMark);
      if (at != std::string::npos) markers.push_back(line.substr(at + kMark.size()));
    }
    return markers;
  }

  TracefsInstance instance_;
  int marker_ = -1;
};

TEST_F(RealMarkers, AllKindsReachTheKernelWhileTheirTagIsOn) {
  const auto write_all = [this](const std::string& name) {
    if (!On(kTagView)) return;
    cutils_.begin(name.c_str());
    cutils_.end();
    cutils_.async_begin(name.c_str(), 7);
    cutils_.async_end(name.c_str(), 7);
    cutils_.counter(name.c_str(), -8);
    cutils_.counter64(name.c_str(), INT64_MIN);
  };
  const std::string pid = std::to_string(getpid());
  write_all("before");
  AtraceControl control(Find());
  control.Start(kDefaultCaptureTags, kTagAlways);
  write_all("during");
  control.Stop();
  write_all("after");
  EXPECT_THAT(Markers(), ElementsAre("B|" + pid + "|during", "E|" + pid, "S|" + pid + "|during|7",
                                     "F|" + pid + "|during|7", "C|" + pid + "|during|-8",
                                     "C|" + pid + "|during|-9223372036854775808"));
}

TEST_F(RealMarkers, ANameThatIsTooLongIsCutAt1023Bytes) {
  AtraceControl control(Find());
  control.Start(kTagView, kTagAlways);
  cutils_.begin(std::string(5000, 'x').c_str());
  const std::string head = "B|" + std::to_string(getpid()) + "|";
  EXPECT_THAT(Markers(), ElementsAre(head + std::string(1023 - head.size(), 'x')));
}

}  // namespace
}  // namespace jankbox
