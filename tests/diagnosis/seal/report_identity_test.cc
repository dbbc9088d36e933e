// What the exact key rests on, and what it does not.
#include "diagnosis/seal/report_identity.h"

#include <gmock/gmock.h>

#include "diagnosis/seal/message_name.h"

namespace jankbox {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReportIdentityTest : public testing::Test {
 protected:
  ReportIdentityTest() {
    report_.kind = ReportKind::kSlowMessage;
    report_.what = "Feed.bind 17";
    report_.process = "app";
    report_.tid = 7;
    blame_.place = "decode";
    blame_.own = {{"decode", "app", 0x15, "b1", 0x10}};
    blame_.key_path = {"b1+0x10"};
  }
  Report Identify() const {
    Report report = report_;
    SetIdentity(blame_, cause_, &report);
    return report;
  }
  std::string Key() const { return Identify().fingerprint; }

  Blame blame_;
  const char* cause_ = "running";
  Report report_;
};

TEST_F(ReportIdentityTest, InputsAreInTheReport) {
  const Report report = Identify();
  EXPECT_EQ(report.fingerprint.size(), 32u);
  EXPECT_EQ(report.identity.exact_version, kExactKeyVersion);
  EXPECT_EQ(report.identity.app, "app");
  EXPECT_EQ(report.identity.cause, "running");
  EXPECT_EQ(report.identity.message, "Feed.bind");
  EXPECT_EQ(report.identity.basis, "stack");
  EXPECT_EQ(report.identity.blamed_function, "decode");
  EXPECT_THAT(report.identity.own_frames, SizeIs(1));
  EXPECT_THAT(report.notes, IsEmpty());
}

// The key of a format never changes: counts on devices rest on it.
TEST_F(ReportIdentityTest, KeyOfTheFormatIsGolden) {
  EXPECT_EQ(Key(), "1f8066ebf658dc62288ea9d40e4a84c8");
}

TEST_F(ReportIdentityTest, EachInputMakesAnotherKey) {
  const std::string key = Key();
  report_.app_name = "Gallery";
  EXPECT_NE(Key(), key);
  report_.app_name.clear();
  report_.what = "Feed.scroll";
  EXPECT_NE(Key(), key);
  report_.what = "Feed.bind 18";
  EXPECT_EQ(Key(), key) << "a number is none";
  cause_ = "lock";
  EXPECT_NE(Key(), key);
  cause_ = "running";
  blame_.key_path.push_back("b1+0x20");
  EXPECT_NE(Key(), key);
}

TEST_F(ReportIdentityTest, NamesOfFunctionsMakeNone) {
  const std::string key = Key();
  blame_.place.clear();
  blame_.own[0].function.clear();
  EXPECT_EQ(Key(), key);
}

TEST_F(ReportIdentityTest, WithoutAStackTheMessageStandsInAndTheReportSaysSo) {
  blame_ = {};
  const Report report = Identify();
  EXPECT_EQ(report.identity.basis, "message");
  EXPECT_EQ(report.identity.blamed_function, "Feed.bind 17");
  EXPECT_THAT(report.notes, SizeIs(1));
  cause_ = "sleeping";
  EXPECT_NE(Key(), report.fingerprint);
}

TEST(NormalMessageName, NumbersAndHashesGo) {
  const std::pair<const char*, const char*> kNames[] = {
      {"", ""},
      {"Feed.bind", "Feed.bind"},
      {"click 3", "click"},
      {"3 clicks", "clicks"},
      {"load 0x7f3a12 of tab 17", "load of tab"},
      {"blob 9f86d081884c7d65 read", "blob read"},
      {"user 550e8400-e29b-41d4-a716-446655440000", "user"},
      {"facade deadbeef", "facade deadbeef"},  // no number: a word
      {"timer7", "timer"},
      {"Größe 12", "Größe"},
      {"17", ""},
  };
  for (const auto& [name, normal] : kNames) EXPECT_EQ(NormalMessageName(name), normal) << name;
}

}  // namespace
}  // namespace jankbox
