// Blame over windows that are written by hand, and over random ones against a model that asks each
// nanosecond who was open.
#include "diagnosis/blame/blame.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "diagnosis/blame/call_tree.h"
#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kUi = 7;
constexpr int32_t kOther = 8;
constexpr uint64_t kMs = kNsPerMs;

class BlameTest : public testing::Test {
 protected:
  BlameTest() {
    window_.to_ticks = 2000 * kMs;
    window_.threads.reserve(4);
    ui_.emplace(AddThread(&window_, kUi, "main"));
    for (const char* name : {"A", "B", "C", "D", "E"}) {
      methods_.Set(static_cast<uint32_t>(name[0]), name);
    }
  }
  Blame Find(uint64_t from_ms = 0, uint64_t to_ms = 2000) {
    return FindBlame(window_, kUi, from_ms * kMs, to_ms * kMs, samples_, frames_, methods_,
                     ns_per_tick_);
  }
  // `count` samples of one stack, innermost first.
  void Sampled(size_t count, std::initializer_list<uint64_t> pcs) {
    for (size_t i = 0; i < count; ++i) samples_.push_back(FakeSample(kUi, pcs));
  }
  // "A 2x 700" with a dot for each level.
  static std::vector<std::string> Lines(const Blame& blame) {
    std::vector<std::string> lines;
    for (const ReportMethod& method : blame.methods) {
      lines.push_back(std::string(method.depth, '.') + method.function +
                      (method.open ? "! " : " ") + std::to_string(method.count) + "x " +
                      std::to_string(method.duration_ns / kMs));
    }
    return lines;
  }
  static std::vector<std::string> Names(const std::vector<ReportFrame>& frames) {
    std::vector<std::string> names;
    for (const ReportFrame& frame : frames) names.push_back(frame.function);
    return names;
  }
  static std::vector<std::string> Functions(const Blame& blame) { return Names(blame.frames); }

  RingWindow window_;
  std::optional<FakeThread> ui_;
  std::vector<StackSample> samples_;
  FrameTable frames_;
  MethodNames methods_;
  double ns_per_tick_ = 1.0;
};

TEST_F(BlameTest, HeaviestPathOfMethodsIsBlamed) {
  ui_->Begin('A', 0).Begin('B', 100 * kMs).Begin('C', 150 * kMs);
  ui_->End('C', 750 * kMs).End('B', 800 * kMs);
  ui_->Begin('D', 800 * kMs).End('D', 900 * kMs).End('A', 1000 * kMs);
  const Blame blame = Find();
  EXPECT_THAT(Lines(blame), ElementsAre("A 1x 1000", ".B 1x 700", "..C 1x 600", ".D 1x 100"));
  EXPECT_THAT(Functions(blame), ElementsAre("C", "B", "A")) << "innermost first";
  EXPECT_EQ(blame.frames[0].module, "[method]");
  EXPECT_EQ(blame.place, "C");
  EXPECT_THAT(blame.key_path, ElementsAre("A", "B", "C")) << "outermost first";
  EXPECT_THAT(Names(blame.own), ElementsAre("C", "B", "A"));
}

TEST_F(BlameTest, MethodsThatSpreadThinBlameTheirCaller) {
  ui_->Begin('A', 0);
  for (uint64_t i = 0; i < 4; ++i) {
    const uint32_t method = 'B' + static_cast<uint32_t>(i);
    ui_->Begin(method, i * 250 * kMs).End(method, (i + 1) * 250 * kMs);
  }
  ui_->End('A', 1000 * kMs);
  EXPECT_EQ(Find().place, "A");
}

TEST_F(BlameTest, OnlyTheIncidentsTimeCounts) {
  ui_->Begin('A', 0).Begin('B', 0).End('B', 900 * kMs);
  ui_->Begin('C', 900 * kMs).End('C', 1100 * kMs).End('A', 1100 * kMs);
  EXPECT_EQ(Find(0, 2000).place, "B");
  const Blame blame = Find(850, 1050);
  EXPECT_THAT(Lines(blame), ElementsAre("A! 1x 200", ".B 1x 50", ".C! 1x 150"))
      << "its last 50 ms, and what had not ended at the end of it";
  EXPECT_EQ(blame.place, "C");
}

TEST_F(BlameTest, CallsThatEndedBeforeTheIncidentAreNotListed) {
  ui_->Begin('A', 0);
  ui_->Begin('B', 10 * kMs).Begin('C', 20 * kMs).End('C', 30 * kMs).End('B', 40 * kMs);
  ui_->Begin('D', 1000 * kMs).End('D', 1000 * kMs);  // at its very start
  ui_->Begin('B', 1200 * kMs).End('B', 1300 * kMs);
  EXPECT_THAT(Lines(Find(1000, 2000)), ElementsAre("A! 1x 1000", ".B 1x 100"))
      << "nor is their count";
}

TEST_F(BlameTest, OtherThreadsMethodsAreNotBlamed) {
  AddThread(&window_, kOther, "worker").Begin('D', 0).End('D', 2000 * kMs);
  ui_->Begin('A', 0).End('A', 10 * kMs);
  EXPECT_THAT(Lines(Find()), ElementsAre("A 1x 10"));
}

TEST_F(BlameTest, TicksBecomeNanoseconds) {
  ns_per_tick_ = 0.5;
  ui_->Begin('A', 0).End('A', 1000 * kMs);
  EXPECT_THAT(Lines(Find()), ElementsAre("A 1x 500"));
}

TEST_F(BlameTest, CallsThatWereOpenWhenTheWindowBeganAreCarriedIn) {
  ui_->thread().chunks.clear();
  ui_->NewChunk(100 * kMs).Open('A', 1).Open('B', 2);
  ui_->End('B', 600 * kMs).End('A', 700 * kMs);
  EXPECT_THAT(Lines(Find(100, 2000)), ElementsAre("A 1x 600", ".B 1x 500"));
}

TEST_F(BlameTest, GapEndsWhatWasOpenAndOpensWhatTheNextChunkCarries) {
  ui_->Begin('A', 0).Begin('B', 10 * kMs);
  ui_->NewChunk(500 * kMs, true).Open('A', 0);  // B's end is among the lost events
  ui_->End('A', 800 * kMs);
  const Blame blame = Find();
  EXPECT_THAT(Lines(blame), ElementsAre("A! 2x 800", ".B! 1x 490"));
}

TEST_F(BlameTest, ChunkWithoutAGapGoesOnWithTheOpenCalls) {
  ui_->Begin('A', 0).Begin('B', 10 * kMs);
  ui_->NewChunk(500 * kMs).Open('A', 0).Open('B', 10 * kMs);
  ui_->End('B', 600 * kMs).End('A', 800 * kMs);
  EXPECT_THAT(Lines(Find()), ElementsAre("A 1x 800", ".B 1x 590"));
}

TEST_F(BlameTest, MethodWithoutANameHasItsNumber) {
  ui_->Begin(900, 0).End(900, 100 * kMs);
  EXPECT_EQ(Find().place, "method #900");
}

TEST_F(BlameTest, SampledStackIsBlamedWhereThereAreNoMethods) {
  frames_[1] = {.function = "decode", .module = "app", .build_id = "b1", .function_start = 0x10};
  Sampled(8, {1});
  const Blame blame = Find();
  EXPECT_THAT(Functions(blame), ElementsAre("decode"));
  EXPECT_EQ(blame.place, "decode");
  EXPECT_THAT(blame.key_path, ElementsAre("b1+0x10"));
  EXPECT_THAT(Names(blame.own), ElementsAre("decode"));
}

TEST_F(BlameTest, MethodsComeBeforeTheStackAndMakeTheKeysAlone) {
  frames_[1] = {.function = "decode", .module = "app", .build_id = "b1", .function_start = 0x10};
  Sampled(10, {1});
  ui_->Begin('A', 0).End('A', 1000 * kMs);
  const Blame blame = Find();
  EXPECT_THAT(Functions(blame), ElementsAre("A", "decode"));
  EXPECT_EQ(blame.place, "A");
  EXPECT_THAT(blame.key_path, ElementsAre("A"));
  EXPECT_THAT(Names(blame.own), ElementsAre("A"));
}

TEST_F(BlameTest, WithoutAnyPathThereIsNothing) {
  const Blame blame = Find();
  EXPECT_THAT(blame.frames, IsEmpty());
  EXPECT_EQ(blame.place, "");
  EXPECT_THAT(blame.key_path, IsEmpty());
}

TEST_F(BlameTest, ListIsTrimmedAndSaysHowMuchWasLeftOut) {
  ui_->Begin('A', 0);
  for (uint32_t i = 0; i < 100; ++i) {
    ui_->Begin(1000 + i, i * 10 * kMs).End(1000 + i, (i * 10 + 1 + i / 10) * kMs);
  }
  ui_->End('A', 1000 * kMs);
  const Blame blame = Find();
  EXPECT_LE(blame.methods.size(), 30u);
  EXPECT_EQ(blame.methods.size() + blame.methods_left_out, 101u);
  EXPECT_EQ(blame.methods[0].function, "A");
}

TEST_F(BlameTest, RenderWorkOfEveryThreadIsListedTheLongestFirst) {
  methods_.Set(1, "render/upload texture");
  methods_.Set(2, "render/draw list");
  ui_->Begin(1, 0).End(1, 10 * kMs);
  AddThread(&window_, kOther, "render").Begin(2, 0).End(2, 300 * kMs);
  const Blame blame = Find();
  ASSERT_THAT(blame.render_work, SizeIs(2));
  EXPECT_EQ(blame.render_work[0].name, "draw list");
  EXPECT_EQ(blame.render_work[0].tid, kOther);
  EXPECT_EQ(blame.render_work[0].duration_ns, 300 * kMs);
  EXPECT_EQ(blame.render_work[1].name, "upload texture");
}

TEST_F(BlameTest, AtMostTenRenderWorksAreListed) {
  for (uint32_t i = 0; i < 15; ++i) {
    methods_.Set(100 + i, "render/work " + std::to_string(i));
    ui_->Begin(100 + i, i * 20 * kMs).End(100 + i, (i * 20 + 1 + i) * kMs);
  }
  const Blame blame = Find();
  ASSERT_THAT(blame.render_work, SizeIs(10));
  EXPECT_EQ(blame.render_work[0].name, "work 14");
  EXPECT_EQ(blame.render_work[9].name, "work 5");
}

TEST_F(BlameTest, TidThatWasGivenAgainIsListedOnce) {
  methods_.Set(1, "render/draw");
  AddThread(&window_, kOther, "old").Begin(1, 0).End(1, 10 * kMs);
  AddThread(&window_, kOther, "new").Begin(1, 20 * kMs).End(1, 50 * kMs);
  const Blame blame = Find();
  ASSERT_THAT(blame.render_work, SizeIs(1));
  EXPECT_EQ(blame.render_work[0].count, 2u);
  EXPECT_EQ(blame.render_work[0].duration_ns, 40 * kMs);
}

class SamplesOfTest : public testing::Test {
 protected:
  std::vector<uint64_t> Ticks(int32_t tid) {
    std::vector<uint64_t> ticks;
    for (const StackSample& sample : SamplesOf(window_, tid)) ticks.push_back(sample.time_ns);
    return ticks;
  }
  RingWindow window_;
};

TEST_F(SamplesOfTest, AreThoseOfTheThreadWhoeverRecordedThemOldestFirst) {
  window_.threads.reserve(2);
  FakeThread watcher = AddThread(&window_, 100, "jankbox-watch");
  FakeThread other = AddThread(&window_, 101, "other");
  watcher.Sample(FakeSample(kUi, {1}), 50).Sample(FakeSample(kOther, {1}), 60);
  watcher.Sample(FakeSample(kUi, {1}), 70);
  other.Sample(FakeSample(kUi, {1}), 10);
  EXPECT_THAT(Ticks(kUi), ElementsAre(10, 50, 70));
  EXPECT_THAT(Ticks(kOther), ElementsAre(60));
  EXPECT_THAT(Ticks(99), IsEmpty());
  EXPECT_THAT(Ticks(0), ElementsAre(10, 50, 60, 70)) << "0 is everybody";
}

TEST_F(SamplesOfTest, StacksOfThoseWhoCreatedThreadsAreNoneOfASeries) {
  FakeThread watcher = AddThread(&window_, 100, "jankbox-watch");
  StackSample creation = FakeSample(kUi, {1, 2});
  creation.source = SampleSource::kCreation;
  watcher.Sample(creation, 10).Sample(FakeSample(kUi, {1}), 20);
  EXPECT_THAT(Ticks(kUi), ElementsAre(20));
  EXPECT_THAT(Ticks(0), ElementsAre(10, 20));
}

TEST_F(SamplesOfTest, CarryWhatWasRecorded) {
  FakeThread watcher = AddThread(&window_, 100, "jankbox-watch");
  StackSample sample = FakeSample(kUi, {0xabc, 0xdef});
  sample.running = false;
  sample.state = 'D';
  sample.syscall = 17;
  sample.fd_class = StackSample::FdClass::kFile;
  sample.truncated = true;
  watcher.Sample(sample, 10);
  const std::vector<StackSample> samples = SamplesOf(window_, kUi);
  ASSERT_THAT(samples, SizeIs(1));
  EXPECT_FALSE(samples[0].running);
  EXPECT_EQ(samples[0].state, 'D');
  EXPECT_EQ(samples[0].syscall, 17);
  EXPECT_EQ(samples[0].fd_class, StackSample::FdClass::kFile);
  EXPECT_TRUE(samples[0].truncated);
  ASSERT_EQ(samples[0].depth, 2u);
  EXPECT_EQ(samples[0].pcs[1], 0xdefu);
}

// Random calls, well nested, cut into chunks, some with a gap before them, and any stretch of them:
// what the list says of each method is what a walk over every moment finds.
class RandomCalls : public testing::TestWithParam<uint32_t> {
 protected:
  using Path = std::vector<uint32_t>;

  // Up to 40 moments of a thread that calls and returns; what is open at each.
  void Run(std::mt19937* random) {
    const auto any = [&](uint32_t most) {
      return std::uniform_int_distribution<uint32_t>(0, most)(*random);
    };
    FakeThread ui = AddThread(&window_, kUi, "main");
    Path open;
    std::vector<uint64_t> since;
    for (uint64_t now = 1; now < kEnd; now += 1 + any(30)) {
      if (any(20) == 0) {
        const bool gap = any(2) == 0;
        ui.NewChunk(now, gap);
        for (size_t i = 0; i < open.size(); ++i) ui.Open(open[i], since[i]);
      }
      if (!open.empty() && any(2) == 0) {
        ui.End(open.back(), now);
        open.pop_back();
        since.pop_back();
      } else if (open.size() < 6) {
        open.push_back(1 + any(3));
        since.push_back(now);
        ui.Begin(open.back(), now);
      }
      open_at_[now] = open;
    }
  }
  const Path& OpenAt(uint64_t time) const {
    static const Path kNone;
    const auto after = open_at_.upper_bound(time);
    return after == open_at_.begin() ? kNone : std::prev(after)->second;
  }

  static constexpr uint64_t kEnd = 1000;
  RingWindow window_;
  std::map<uint64_t, Path> open_at_;  // from each moment on
};

TEST_P(RandomCalls, EachMethodHasTheTimeInWhichItsPathWasOpen) {
  std::mt19937 random(GetParam());
  window_.to_ticks = kEnd;
  Run(&random);
  std::uniform_int_distribution<uint64_t> moment(1, kEnd);
  for (int round = 0; round < 20; ++round) {
    uint64_t from = moment(random), to = moment(random);
    if (from > to) std::swap(from, to);
    std::map<Path, uint64_t> expected;
    for (uint64_t time = from; time < to; ++time) {
      const Path& open = OpenAt(time);
      for (size_t depth = 1; depth <= open.size(); ++depth) {
        ++expected[Path(open.begin(), open.begin() + static_cast<ptrdiff_t>(depth))];
      }
    }
    const Blame blame = FindBlame(window_, kUi, from, to, {}, {}, {}, 1.0);
    std::map<Path, uint64_t> listed;
    std::map<Path, uint64_t> self;
    Path path;
    for (const ReportMethod& method : blame.methods) {
      const auto id = static_cast<uint32_t>(std::stoul(method.function.substr(8)));
      path.resize(method.depth);
      path.push_back(id);
      if (method.duration_ns == 0) continue;
      EXPECT_TRUE(listed.emplace(path, method.duration_ns).second) << "each path once";
      self[path] += method.duration_ns;
      if (method.depth == 0) continue;
      const Path caller(path.begin(), path.end() - 1);
      ASSERT_GE(self[caller], method.duration_ns) << "a caller has the time of what it called";
      self[caller] -= method.duration_ns;
    }
    if (blame.methods_left_out == 0) {
      EXPECT_EQ(listed, expected) << "seed " << GetParam() << ", " << from << " to " << to;
    } else {
      for (const auto& [kept, ns] : listed) EXPECT_EQ(expected[kept], ns);
    }
    uint64_t busy = 0, self_sum = 0;
    for (uint64_t time = from; time < to; ++time) busy += OpenAt(time).empty() ? 0 : 1;
    for (const auto& [of, ns] : self) self_sum += ns;
    if (blame.methods_left_out == 0) {
      EXPECT_EQ(self_sum, busy) << "self times sum to the busy time";
    }
  }
}

TEST_P(RandomCalls, BlamedPathIsHeaviestAtEachStep) {
  std::mt19937 random(GetParam());
  window_.to_ticks = kEnd;
  Run(&random);
  std::map<Path, uint64_t> weight;
  uint64_t total = 0;
  for (uint64_t time = 0; time < kEnd; ++time) {
    const Path& open = OpenAt(time);
    total += open.empty() ? 0 : 1;
    for (size_t depth = 1; depth <= open.size(); ++depth) {
      ++weight[Path(open.begin(), open.begin() + static_cast<ptrdiff_t>(depth))];
    }
  }
  const Blame blame = FindBlame(window_, kUi, 0, kEnd, {}, {}, {}, 1.0);
  Path path;
  for (auto frame = blame.frames.rbegin(); frame != blame.frames.rend(); ++frame) {
    path.push_back(static_cast<uint32_t>(std::stoul(frame->function.substr(8))));
    EXPECT_GE(static_cast<double>(weight[path]),
              CallTree::kBlameShare * static_cast<double>(total));
    for (uint32_t sibling = 1; sibling <= 4; ++sibling) {
      Path other = path;
      other.back() = sibling;
      EXPECT_LE(weight[other], weight[path]);
    }
  }
  for (uint32_t child = 1; child <= 4; ++child) {
    Path deeper = path;
    deeper.push_back(child);
    EXPECT_LT(static_cast<double>(weight[deeper]),
              CallTree::kBlameShare * static_cast<double>(total))
        << "the path goes on as long as a call is heavy enough";
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomCalls, testing::Range(1u, 13u));

}  // namespace
}  // namespace jankbox
