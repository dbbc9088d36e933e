#include "tracer/unwind/shown_stack.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace jankbox {
namespace {

using ::testing::ElementsAre;

// Stacks of frames by name, innermost first. A frame "module!function" may lack either.
class ShownStackTest : public ::testing::Test {
 protected:
  void Frame(const std::string& text, const std::string& exported = "") {
    const size_t bang = text.find('!');
    const uint64_t address = 0x1000 + sample_.depth;
    frames_[address] = {
        .function = text.substr(bang + 1), .exported = exported, .module = text.substr(0, bang)};
    sample_.pcs[sample_.depth++] = address;
  }
  std::vector<std::string> Shown() const {
    uint64_t pcs[StackSample::kMaxDepth];
    std::vector<std::string> names;
    const uint32_t depth = ShownStack(sample_, &frames_, pcs);
    for (uint32_t i = 0; i < depth; ++i) {
      const auto frame = frames_.find(pcs[i]);
      names.push_back(frame == frames_.end() ? "?"
                                             : frame->second.module + "!" + frame->second.function);
    }
    return names;
  }

  StackSample sample_;
  FrameTable frames_;
};

TEST_F(ShownStackTest, EntryOfAProgramWithSymbolsIsCut) {
  Frame("prog!load");
  Frame("prog!main");
  Frame("libc.so.6!__libc_start_call_main");
  Frame("libc.so.6!__libc_start_main@@GLIBC_2.34", "__libc_start_main@@GLIBC_2.34");
  Frame("prog!_start");
  EXPECT_THAT(Shown(), ElementsAre("prog!load", "prog!main"));
}

// Nothing but the C library's own exports has a name: the entry is what calls __libc_start_main.
TEST_F(ShownStackTest, EntryOfAStrippedProgramIsCut) {
  Frame("prog!");
  Frame("prog!");
  Frame("libc.so.6!");
  Frame("libc.so.6!__libc_start_main", "__libc_start_main");
  Frame("prog!");
  EXPECT_THAT(Shown(), ElementsAre("prog!", "prog!"));
}

TEST_F(ShownStackTest, StartOfAThreadIsCut) {
  Frame("prog!work");
  Frame("libc.so.6!start_thread");
  Frame("libc.so.6!clone3@@GLIBC_2.34");
  EXPECT_THAT(Shown(), ElementsAre("prog!work"));
}

TEST_F(ShownStackTest, StartOfAThreadWithoutNamesIsCut) {
  Frame("libc.so.6!read");
  Frame("prog!work");
  Frame("libc.so.6!");
  Frame("libc.so.6!");
  EXPECT_THAT(Shown(), ElementsAre("libc.so.6!read", "prog!work"));
}

// What is outermost of a stack that was not unwound to its end started nothing.
TEST_F(ShownStackTest, NamelessEndOfATruncatedStackStays) {
  sample_.truncated = true;
  Frame("libc.so.6!read");
  Frame("libc.so.6!");
  EXPECT_THAT(Shown(), ElementsAre("libc.so.6!read", "libc.so.6!"));
}

TEST_F(ShownStackTest, ProxiesAreLeftOutAndFunctionsOfTheApiStay) {
  Frame("libc.so.6!poll");
  Frame("libjankbox_agent.so!");
  Frame("libjankbox.so.0.2!jankbox::PollProxy(pollfd*, unsigned long, int)");
  Frame("prog!wait");
  Frame("libjankbox.so.0.2!jankbox_flush");
  Frame("prog!main");
  EXPECT_THAT(Shown(), ElementsAre("libc.so.6!poll", "prog!wait", "libjankbox.so.0.2!jankbox_flush",
                                   "prog!main"));
}

TEST_F(ShownStackTest, InnermostFrameStaysIfNothingElseWould) {
  Frame("libc.so.6!clone3");
  EXPECT_THAT(Shown(), ElementsAre("libc.so.6!clone3"));
  sample_.depth = 0;
  Frame("libjankbox.so!");
  Frame("libc.so.6!__libc_start_main");
  EXPECT_THAT(Shown(), ElementsAre("libjankbox.so!"));
}

TEST_F(ShownStackTest, UnknownFramesStay) {
  Frame("prog!work");
  sample_.pcs[sample_.depth++] = 1;
  EXPECT_THAT(Shown(), ElementsAre("prog!work", "?"));
  uint64_t pcs[StackSample::kMaxDepth];
  EXPECT_EQ(ShownStack(sample_, nullptr, pcs), 2u);
  EXPECT_EQ(pcs[1], 1u);
}

TEST_F(ShownStackTest, EmptyStackIsEmpty) {
  uint64_t pcs[1];
  EXPECT_EQ(ShownStack(sample_, &frames_, pcs), 0u);
}

TEST(IsProcessEntry, ComparesWithoutTheVersion) {
  EXPECT_TRUE(IsProcessEntry("__libc_start_main@@GLIBC_2.34"));
  EXPECT_TRUE(IsProcessEntry("_start"));
  EXPECT_FALSE(IsProcessEntry("start_threads"));
  EXPECT_FALSE(IsProcessEntry(""));
}

}  // namespace
}  // namespace jankbox
