// Paths of sampled stacks, written by hand: a stripped program has those of an unstripped one.
#include "diagnosis/blame/blamed_stack.h"

#include <gmock/gmock.h>

#include "diagnosis/blame/passed_over.h"
#include "tests/fakes/fake_window.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kUi = 7;

class BlamedStackTest : public testing::Test {
 protected:
  // The address of a function of "app" that starts at 0x10 * address.
  void Function(uint64_t address, const std::string& name, const std::string& module = "app") {
    frames_[address] = {.function = name,
                        .module = module,
                        .build_id = module + "-id",
                        .rel_pc = 0x10 * address + 5,
                        .function_start = 0x10 * address};
  }
  void Exported(uint64_t address, const std::string& name, const std::string& module) {
    Function(address, name, module);
    frames_[address].exported = name;
  }
  void Sampled(size_t count, std::initializer_list<uint64_t> pcs) {
    for (size_t i = 0; i < count; ++i) samples_.push_back(FakeSample(kUi, pcs));
  }
  // main() calls Decode() first, then Wait().
  void SampledInTurn(size_t decodes, size_t waits) {
    Function(1, "main");
    Function(2, "Decode");
    Function(3, "Wait");
    Sampled(decodes, {2, 1});
    Sampled(waits, {3, 1});
  }
  BlamedStack Find() const { return FindBlamedStack(samples_, frames_, 100); }
  // As strip leaves it.
  void Strip() {
    for (auto& [address, frame] : frames_) frame.function = frame.exported;
  }
  static std::vector<std::string> Names(const std::vector<ReportFrame>& frames) {
    std::vector<std::string> names;
    for (const ReportFrame& frame : frames) names.push_back(frame.function);
    return names;
  }

  std::vector<StackSample> samples_;
  FrameTable frames_;
};

TEST_F(BlamedStackTest, SampleCountsForTheTimeUntilTheNextOne) {
  SampledInTurn(60, 20);
  for (size_t i = 0; i < samples_.size(); ++i) {
    samples_[i].time_ns = i < 60 ? 5 * i : 300 + 50 * (i - 60);
  }
  EXPECT_EQ(Find().where, "Wait") << "300 of 1300";
  EXPECT_THAT(Names(Find().own), ElementsAre("Wait", "main"));
}

TEST_F(BlamedStackTest, PauseWithoutSamplesIsNotTheLastSamples) {
  SampledInTurn(10, 60);
  for (size_t i = 0; i < samples_.size(); ++i) samples_[i].time_ns = 5 * i + (i < 10 ? 0 : 10'000);
  EXPECT_EQ(Find().where, "Wait");
}

TEST_F(BlamedStackTest, HeaviestPathIsNamedInnermostFirst) {
  Function(1, "decode");
  Function(2, "bind");
  Function(3, "loop");
  Sampled(8, {1, 2, 3});
  Sampled(2, {2, 3});
  const BlamedStack blamed = Find();
  EXPECT_THAT(Names(blamed.frames), ElementsAre("decode", "bind", "loop"));
  EXPECT_EQ(blamed.frames[0].module, "app");
  EXPECT_EQ(blamed.frames[0].build_id, "app-id");
  EXPECT_EQ(blamed.frames[0].rel_pc, 0x15u) << "the real one";
  EXPECT_EQ(blamed.frames[0].function_start, 0x10u);
  EXPECT_EQ(blamed.where, "decode");
  EXPECT_THAT(Names(blamed.own), ElementsAre("decode", "bind", "loop"));
  EXPECT_THAT(blamed.key_path, ElementsAre("app-id+0x30", "app-id+0x20", "app-id+0x10"));
}

TEST_F(BlamedStackTest, AddressesOfOneFunctionAreOneFunction) {
  Function(1, "decode");
  Function(2, "decode");
  frames_[2].function_start = frames_[1].function_start;
  Function(3, "other");
  Function(9, "loop");
  Sampled(2, {1, 9});
  Sampled(2, {2, 9});
  Sampled(3, {3, 9});
  EXPECT_EQ(Find().where, "decode") << "four of seven, though each address has fewer than `other`";
}

// Debug files say what is inlined at an address: a rare one would give the function another name in
// each run.
TEST_F(BlamedStackTest, FunctionHasTheAddressThatMostOfItsSamplesHave) {
  Function(1, "decode");
  Function(2, "decode");
  Function(3, "loop");
  Function(4, "loop");
  Function(5, "other");
  frames_[2].function_start = frames_[1].function_start;
  frames_[4].function_start = frames_[3].function_start;
  Sampled(1, {1, 3});
  Sampled(5, {2, 3});
  Sampled(2, {5, 4});
  const BlamedStack blamed = Find();
  EXPECT_THAT(Names(blamed.own), ElementsAre("decode", "loop"));
  EXPECT_EQ(blamed.own[0].rel_pc, frames_[2].rel_pc);
  EXPECT_EQ(blamed.frames[0].rel_pc, frames_[2].rel_pc);
  EXPECT_EQ(blamed.own[1].rel_pc, frames_[3].rel_pc) << "where decode is called, not other";
}

TEST_F(BlamedStackTest, KeyOfAStrippedProgramIsTheSameAndItsFunctionsDiffer) {
  Exported(1, "clock_nanosleep", "libc.so.6");
  Function(2, "wait_for_light");
  Function(3, "wait_for_sound");
  Function(4, "main");
  Exported(5, "__libc_start_main", "libc.so.6");
  Function(6, "_start");
  Sampled(5, {1, 2, 4, 5, 6});
  const std::vector<std::string> key = Find().key_path;
  EXPECT_THAT(key, ElementsAre("app-id+0x40", "app-id+0x20"));
  EXPECT_EQ(Find().where, "wait_for_light");
  Strip();
  EXPECT_EQ(Find().key_path, key);
  EXPECT_EQ(Find().where, "app+0x20");
  EXPECT_THAT(Names(Find().own), ElementsAre("", "")) << "no entry point of the program";
  samples_.clear();
  Sampled(5, {1, 3, 4, 5, 6});
  EXPECT_NE(Find().key_path, key);
  EXPECT_EQ(Find().where, "app+0x30");
  EXPECT_EQ(Find().frames[1].rel_pc, 0x35u);
}

TEST_F(BlamedStackTest, UnsureEndOfTheStackIsNoPartOfTheKey) {
  Function(1, "leaf one");
  Function(2, "leaf two");
  Function(9, "caller");
  Sampled(6, {1, 9});
  Sampled(4, {2, 9});
  const BlamedStack blamed = Find();
  EXPECT_EQ(blamed.where, "leaf one") << "60 % is enough to look at";
  EXPECT_THAT(blamed.key_path, ElementsAre("app-id+0x90")) << "and too little to tell causes apart";
  EXPECT_THAT(Names(blamed.own), ElementsAre("caller"));
}

TEST_F(BlamedStackTest, NamesOfDebugFilesDoNotDecideOnTheKey) {
  Function(1, "malloc");  // the program's own, by .symtab only
  Function(2, "parse");
  Sampled(5, {1, 2});
  EXPECT_EQ(Find().where, "parse") << "for readers it is an allocator";
  EXPECT_THAT(Find().key_path, ElementsAre("app-id+0x20", "app-id+0x10"));
}

TEST_F(BlamedStackTest, OnlyPassedOverFunctionsAreNoAnswer) {
  Exported(1, "__poll", "libc.so.6");
  Sampled(5, {1});
  const BlamedStack blamed = Find();
  EXPECT_THAT(Names(blamed.frames), ElementsAre("__poll"));
  EXPECT_EQ(blamed.where, "");
  EXPECT_THAT(blamed.key_path, IsEmpty());
  EXPECT_THAT(blamed.own, IsEmpty());
}

TEST_F(BlamedStackTest, ThreadsStartAndTheAgentAreNoPartOfTheStack) {
  Function(1, "work");
  Function(2, "start_thread", "libc.so.6");
  Function(3, "", "libc.so.6");
  Function(4, "poll", "libjankbox_agent.so");
  Sampled(5, {4, 1, 2, 3});
  EXPECT_THAT(Names(Find().frames), ElementsAre("work"));
}

TEST_F(BlamedStackTest, CodeWithoutUnwindTableIsKnownByItsCalls) {
  for (const uint64_t address : {1, 2, 3, 4}) {
    Function(address, "");
    frames_[address].function_start = 0;
  }
  Sampled(5, {1, 3});
  Sampled(5, {2, 3});  // another instruction of the leaf
  const std::vector<std::string> key = Find().key_path;
  EXPECT_THAT(key, ElementsAre("call app-id+0x35")) << "of the leaf only the caller is known";
  EXPECT_EQ(Find().where, "app+0x15") << "a real address";
  samples_.clear();
  Sampled(5, {1, 4});
  EXPECT_NE(Find().key_path, key);
}

TEST_F(BlamedStackTest, ModuleWithoutABuildIdIsKnownByItsText) {
  Function(1, "work");
  frames_[1].build_id.clear();
  Sampled(5, {1});
  EXPECT_THAT(Find().key_path, ElementsAre("app+0x10"));
  frames_[1].text_key = "0123";
  EXPECT_THAT(Find().key_path, ElementsAre("0123+0x10"));
}

TEST_F(BlamedStackTest, JitCodeIsKnownByItsName) {
  frames_[1] = {.function = "draw view.js:10", .rel_pc = 0x7001, .function_start = 0x7000};
  frames_[2] = {.rel_pc = 0x7101};
  Function(3, "main");
  Sampled(5, {1, 2, 3});
  EXPECT_THAT(Find().key_path, ElementsAre("app-id+0x30", "draw view.js:10"));
  EXPECT_EQ(Find().where, "draw view.js:10");
  frames_[1].function.clear();
  EXPECT_EQ(Find().where, "main") << "an address of JIT code is another one in each run";
}

TEST_F(BlamedStackTest, NamelessFunctionOfALibraryHasTheInterfaceThatItServes) {
  Function(1, "", "libpaint.so.2");
  Exported(2, "paint_page", "libpaint.so.2");
  Function(3, "main");
  Sampled(5, {1, 2, 3});
  EXPECT_EQ(Find().where, "paint_page > libpaint.so.2+0x10");
}

TEST_F(BlamedStackTest, NamelessFunctionOfADispatcherIsPassedOverIfThereIsAnother) {
  Function(1, "", "libglib-2.0.so.0");
  Exported(2, "g_main_loop_run", "libglib-2.0.so.0");
  Function(3, "on_click");
  Sampled(5, {1, 2, 3});
  EXPECT_EQ(Find().where, "on_click");
  EXPECT_THAT(Names(Find().own), ElementsAre("on_click"));
  samples_.clear();
  Sampled(5, {1, 2});
  EXPECT_EQ(Find().where, "libglib-2.0.so.0+0x10");
  EXPECT_THAT(Names(Find().own), ElementsAre(""));
}

TEST_F(BlamedStackTest, AddressesThatAreNotInTheTableAreLeftOut) {
  Function(1, "work");
  Sampled(5, {99, 1, 98});
  EXPECT_THAT(Names(Find().frames), ElementsAre("work"));
}

TEST(PassedOver, IsWhatOnlyCarriesOutItsCallersWish) {
  for (const char* function :
       {"g_closure_invoke", "PyObject_Vectorcall", "operator new(unsigned long)",
        "Builtins_InterpreterEntryTrampoline", "clock_gettime", "malloc",
        "QMetaObject::activate(QObject*, int, int, void**)", "g_signal_emit_by_name"}) {
    EXPECT_TRUE(IsPassedOver("app", function)) << function;
  }
  for (const char* function : {"", "main", "poll_devices", "mallocate", "Feed::Bind(int)", "sleepy",
                               "PyInit_feed", "gtk_builder_new", "QPainter::drawText"}) {
    EXPECT_FALSE(IsPassedOver("app", function)) << function;
  }
  for (const char* module : {"libc.so.6", "libc-2.31.so", "ld-linux-x86-64.so.2", "[vdso]",
                             "libstdc++.so.6", "libjankbox.so.0.2", "libgobject-2.0.so.0"}) {
    EXPECT_TRUE(IsPassedOver(module, "")) << module;
  }
  for (const char* module :
       {"", "libc-client.so", "libapp.so", "libgtk-3.so.0", "libQt5Gui.so.5"}) {
    EXPECT_FALSE(IsPassedOver(module, "")) << module;
  }
}

}  // namespace
}  // namespace jankbox
