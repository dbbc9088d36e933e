// What puts reports of one cause together, and what does not.
#include "report/group_key.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

class GroupKeyTest : public testing::Test {
 protected:
  GroupKeyTest() {
    report_.set_fingerprint("00112233445566778899aabbccddeeff");
    proto::Identity* identity = report_.mutable_identity();
    identity->set_app("gallery");
    identity->set_cause("running");
    identity->set_message("Feed.bind");
    identity->set_basis("stack");
    Add("Image::Decode(int) const");
    Add("Feed::Bind(Item&)");
  }
  void Add(const std::string& function, const std::string& module = "libgallery.so.1.2") {
    proto::Frame* frame = report_.mutable_identity()->add_own_frames();
    frame->set_function(function);
    frame->set_module(module);
    frame->set_build_id("b" + std::to_string(++frames_));
    frame->set_rel_pc(0x1000);
    frame->set_function_start(0xf00);
  }
  std::string Key() const { return GroupKeyOf(report_).key; }

  proto::Report report_;
  int frames_ = 0;
};

TEST_F(GroupKeyTest, OlderReportHasItsFingerprint) {
  report_.clear_identity();
  const GroupKey group = GroupKeyOf(report_);
  EXPECT_EQ(group.key, report_.fingerprint());
  EXPECT_EQ(group.version, 0u);
  EXPECT_FALSE(group.provisional);
}

// The key of a format never changes: a collector's groups rest on it.
TEST_F(GroupKeyTest, KeyOfTheFormatIsGolden) {
  EXPECT_EQ(Key(), "b5d43682f86e2bcfc39b052b17d00b2f");
  report_.mutable_identity()->mutable_own_frames(1)->clear_function();
  EXPECT_EQ(Key(), "d71a998400d67b40bfdd5aba523aac53");
}

TEST_F(GroupKeyTest, AnotherBuildIsTheSameGroup) {
  const std::string key = Key();
  report_.set_fingerprint("of another build");
  report_.set_app_version("2.0");
  proto::Frame* frame = report_.mutable_identity()->mutable_own_frames(0);
  frame->set_build_id("another");
  frame->set_rel_pc(0x2000);
  frame->set_function_start(0x1f00);
  frame->set_function("Image::Decode(long, int) const [clone .cold]");
  EXPECT_EQ(Key(), key);
}

TEST_F(GroupKeyTest, EachInputMakesAnotherGroup) {
  const std::string key = Key();
  proto::Identity* identity = report_.mutable_identity();
  identity->set_app("viewer");
  EXPECT_NE(Key(), key);
  identity->set_app("gallery");
  identity->set_cause("lock");
  EXPECT_NE(Key(), key);
  identity->set_cause("running");
  identity->set_message("Feed.scroll");
  EXPECT_NE(Key(), key);
  identity->set_message("Feed.bind");
  identity->mutable_own_frames(0)->set_function("Image::Scale(int)");
  EXPECT_NE(Key(), key);
}

TEST_F(GroupKeyTest, EightNamesCount) {
  for (int i = 2; i < 8; ++i) Add("caller");
  const std::string key = Key();
  Add("main");
  EXPECT_EQ(Key(), key);
}

TEST_F(GroupKeyTest, NamelessFunctionMakesItProvisional) {
  report_.mutable_identity()->mutable_own_frames(1)->clear_function();
  const GroupKey group = GroupKeyOf(report_);
  EXPECT_TRUE(group.provisional);
  report_.mutable_identity()->mutable_own_frames(0)->set_function("Image::Scale(int)");
  report_.mutable_identity()->mutable_own_frames(0)->set_module("libgallery.so.1.3");
  EXPECT_EQ(Key(), group.key) << "module without version, cause and message";
  report_.mutable_identity()->mutable_own_frames(0)->set_module("libother.so");
  EXPECT_NE(Key(), group.key);
}

TEST(LastingFunctionName, HasNoParametersAndNoCloneSuffix) {
  const std::pair<const char*, const char*> kNames[] = {
      {"main", "main"},
      {"decode.constprop.0", "decode"},
      {"decode.part.0.cold", "decode"},
      {"__poll@GLIBC_2.2.5", "__poll"},
      {"Feed::Bind(Item&, int) const", "Feed::Bind"},
      {"Feed::Bind(int) [clone .isra.0]", "Feed::Bind"},
      {"void Sort<Row, Less<Row> >(Row*, Row*)", "Sort<Row, Less<Row> >"},
      {"(anonymous namespace)::Decode(int)", "(anonymous namespace)::Decode"},
      {"Main::{lambda(int)#1}::operator()(int) const", "Main::{lambda(int)#1}::operator()"},
      {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>"},
      {"Point::operator==(Point const&) const", "Point::operator=="},
      {"Smart::operator->() const", "Smart::operator->"},
      {"operator new(unsigned long)", "operator new"},
      {"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
      {"com.example.Feed.bind", "com.example.Feed.bind"},
      {"com.example.coldStart.run", "com.example.coldStart.run"},
      {"", ""},
  };
  for (const auto& [name, lasting] : kNames) EXPECT_EQ(LastingFunctionName(name), lasting) << name;
  EXPECT_EQ(LastingFunctionName("draw view.js:10", true), "draw view.js");
  EXPECT_EQ(LastingFunctionName("(anonymous) view.js:10", true), "(anonymous) view.js");
  EXPECT_EQ(LastingFunctionName("(anonymous)", true), "(anonymous)");
}

TEST(LastingModuleName, HasNoVersion) {
  EXPECT_EQ(LastingModuleName("libgallery.so.1.2.3"), "libgallery.so");
  EXPECT_EQ(LastingModuleName("libgallery.so"), "libgallery.so");
  EXPECT_EQ(LastingModuleName("gallery-1.2"), "gallery");
  EXPECT_EQ(LastingModuleName("python3.11"), "python");
  EXPECT_EQ(LastingModuleName("gallery"), "gallery");
  EXPECT_EQ(LastingModuleName("123"), "123");
  EXPECT_EQ(LastingModuleName(""), "");
}

}  // namespace
}  // namespace jankbox
