#include "base/text/private_text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace jankbox {
namespace {

struct Example {
  std::string text;
  std::string cleaned;
};

void PrintTo(const Example& example, std::ostream* out) { *out << example.text; }

class CleanedTextTest : public testing::TestWithParam<Example> {};

TEST_P(CleanedTextTest, IsAsExpectedAndStaysSo) {
  EXPECT_EQ(CleanedText(GetParam().text), GetParam().cleaned);
  EXPECT_EQ(CleanedText(GetParam().cleaned), GetParam().cleaned) << "cleaned twice";
}

const Example kPaths[] = {
    {"open /home/ann/tax.pdf", "open tax.pdf"},
    {"open /home/ann/My tax files/2025.pdf now", "open 2025.pdf now"},
    {"open \"/home/ann/tax.pdf\" (3)", "open \"tax.pdf\" (3)"},
    {"~/letters/to ann/x.txt", "x.txt"},
    {"C:\\Users\\Ann\\tax.pdf", "tax.pdf"},
    {"\\\\server\\ann\\tax.pdf", "tax.pdf"},
    {"file=/data/user/0/com.bank/db/ann.db-wal", "file=ann.db-wal"},
    {"/data/app/~~k3f==/com.x-1/base.apk", "base.apk"},
    {"/storage/ann@x.org/4111111111111111.jpg", "<number>.jpg"},
    {"/media/ann/", "ann"},
    {"/proc", "/proc"},
    {"see /proc/pressure/cpu.", "see /proc/pressure/cpu."},
    {"/usr/lib/libfoo.so", "/usr/lib/libfoo.so"},
    {"a / b", "a / b"},
    {"1/2", "1/2"},
    {"com.x/.MainActivity", "com.x/.MainActivity"},
    {"kworker/0:1H", "kworker/0:1H"},
    {"res/layout/main.xml", "res/layout/main.xml"},
};
const Example kUrls[] = {
    {"GET https://api.x.org/v1/me?token=abc&q=1", "GET https://*/me"},
    {"https://ann:pw@x.org:8443/a/ann@x.org", "https://*/<mail>"},
    {"wss://10.0.0.7", "wss://*"},
    {"content://media/external/images/1234", "content://*/1234"},
    {"see (http://x.org/a/b.html).", "see (http://*/b.html)."},
    {"http://x.org/#ann", "http://*"},
};
const Example kMails[] = {
    {"to ann.lee+shop@mail.example.co.uk!", "to <mail>!"},
    {"mailto:ann@x.org", "mailto:<mail>"},
    {"ann%40x.org", "<mail>"},
    {"jörg@büro.de", "<mail>"},
    {"android.hardware.light@2.0::ILight", "android.hardware.light@2.0::ILight"},
    {"memcpy@plt", "memcpy@plt"},
    {"mail ann@exampl", "mail <mail>"},
    {"to zelda.quux@e", "to <mail>"},
    {"create thread zelda.quux@e [12]", "create thread <mail> [12]"},
    {"getty@tty1.service", "getty@tty1.service"},
    {"android.os.Handler@1a2b3c", "android.os.Handler@1a2b3c"},
    {"@Composable", "@Composable"},
};
const Example kNumbers[] = {
    {"call +49 (170) 123-45 67", "call <number>"},
    {"555-123-4567", "<number>"},
    {"card 4111 1111 1111 1111", "card <number>"},
    {"card 4111-1111-1111-1111", "card <number>"},
    {"user12345678", "user<number>"},
    {"192.168.178.21", "<number>"},
    {"IBAN DE89370400440532013000", "IBAN <token>"},
    {"IBAN GB29NWBK60161331926819", "IBAN GB29NWBK<number>"},
    {"std::ratio<1l, 1000000000l>", "std::ratio<1l, 1000000000l>"},
    {"rect 0 0 1080 1920", "rect 0 0 1080 1920"},
    {"pid 4194304", "pid 4194304"},
    {"version 1.2.3.4", "version 1.2.3.4"},
    {"0x7f1234567890", "0x7f1234567890"},
    {"Choreographer#doFrame 11096698", "Choreographer#doFrame 11096698"},
};
const Example kTokens[] = {
    {"id 123e4567-e89b-12d3-a456-426614174000", "id <token>"},
    {"sha d41d8cd98f00b204e9800998ecf8427e", "sha <token>"},
    {"AKIAIOSFODNN7EXAMPLE2K9Q", "<token>"},
    {"doFrameOnUiThread", "doFrameOnUiThread"},
    {"ghp_16C7e42F292c6912E7710c838347Ae178B4a", "<token>"},
    {"sk_live_4eC39HqLyjWDarjtT1zdp7dc", "<token>"},
    {"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
     "jwt <token>"},
    {"aGVsbG8gd29ybGQgdGhpcyBpcyBh+c2VjcmV0/IQ==", "<token>"},
    {"ghp_16C7e42F292", "<token>"},
    {"Authorization: Bearer abc.def", "Authorization: Bearer <removed>"},
    {"password=hunter2&next", "password=<removed>&next"},
    {"{\"access_token\":\"abc\",\"n\":1}", "{\"access_token\":\"<removed>\",\"n\":1}"},
    {"user=ann;mode=2", "user=<removed>;mode=2"},
    {"lastUser=ann", "lastUser=<removed>"},
    {"flat=1", "flat=1"},
    {"Token::Parse", "Token::Parse"},
    {"token == null", "token == null"},
    {"ConstraintLayout2MeasureHelper", "ConstraintLayout2MeasureHelper"},
    {"ACTION_MEDIA_BUTTON_2_PRESSED", "ACTION_MEDIA_BUTTON_2_PRESSED"},
    {"F636f6d6d616e642d65786563757465_command_execute_0",
     "F636f6d6d616e642d65786563757465_command_execute_0"},
    {"_ZN7android14SurfaceFlinger6commitEx", "_ZN7android14SurfaceFlinger6commitEx"},
};
const Example kStatements[] = {
    {"SELECT name FROM people WHERE mail = 'ann@x.org' AND age > 41",
     "SELECT name FROM people WHERE mail = ? AND age > ?"},
    {"insert into t values ('it''s', 1.5, \"x\")", "insert into t values (?, ?, ?)"},
    {"UPDATE t2 SET a='open", "UPDATE t2 SET a=?"},
    {"Select all", "Select all"},
    {"904 ms: 61 % disk, in SELECT a FROM t WHERE b = 'Zelda Q' and 20 % on the CPU",
     "904 ms: 61 % disk, in SELECT a FROM t WHERE b = ? and 20 % on the CPU"},
    {"the cause of 'draw' differs from that of 'load'",
     "the cause of 'draw' differs from that of 'load'"},
};

INSTANTIATE_TEST_SUITE_P(Paths, CleanedTextTest, testing::ValuesIn(kPaths));
INSTANTIATE_TEST_SUITE_P(Urls, CleanedTextTest, testing::ValuesIn(kUrls));
INSTANTIATE_TEST_SUITE_P(Mails, CleanedTextTest, testing::ValuesIn(kMails));
INSTANTIATE_TEST_SUITE_P(Numbers, CleanedTextTest, testing::ValuesIn(kNumbers));
INSTANTIATE_TEST_SUITE_P(Tokens, CleanedTextTest, testing::ValuesIn(kTokens));
INSTANTIATE_TEST_SUITE_P(Statements, CleanedTextTest, testing::ValuesIn(kStatements));

// Names of Android's own sections: what is removed of them helps nobody.
TEST(CleanedText, KeepsTheNamesOfAndroidsSections) {
  std::ifstream file(JANKBOX_TEST_SOURCE_DIR "/atrace_names.txt");
  size_t names = 0, changed = 0;
  for (std::string name; std::getline(file, name); ++names) {
    const std::string cleaned = CleanedText(name);
    if (cleaned == name) continue;
    ++changed;
    RecordProperty("changed" + std::to_string(changed), name + " -> " + cleaned);
  }
  EXPECT_GE(names, 200u);
  EXPECT_LE(changed * 20, names);
}

TEST(CleanedText, AnyBytesAreTaken) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_FALSE(CleanedText(all + all).empty());
  EXPECT_EQ(CleanedText(""), "");
  const std::vector<std::string> pieces = {"/", "://", "@", "%40", "'",    "=",        "a",
                                           "9", "+",   "(", "~/",  "\\\\", "C:\\",     "_",
                                           "-", "\"",  " ", "..",  "\xc3", "password", "select "};
  uint64_t random = 1;
  for (int round = 0; round < 4'000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      text += pieces[(random >> 33) % pieces.size()];
    }
    EXPECT_LE(CleanedText(text).size(), 8 * text.size() + 16) << text;
  }
}

class SealedTextTest : public testing::Test {
 protected:
  void TearDown() override {
    SetTextFilter(nullptr, nullptr);
    CleanTexts(true);
  }
};

TEST_F(SealedTextTest, IsAsWrittenIfTheAppWantsThat) {
  EXPECT_EQ(SealedText("to ann@x.org"), "to <mail>");
  CleanTexts(false);
  EXPECT_EQ(SealedText("to ann@x.org"), "to ann@x.org");
  EXPECT_EQ(SealedText("a\xff"), "a\xEF\xBF\xBD");
}

size_t Shout(void* context, const char* text, size_t text_bytes, char* out, size_t capacity) {
  ++*static_cast<int*>(context);
  if (std::string(text, text_bytes) == "long") return capacity + 1;
  for (size_t i = 0; i < text_bytes && i < capacity; ++i) {
    out[i] = text[i] >= 'a' && text[i] <= 'z' ? static_cast<char>(text[i] - 'a' + 'A') : text[i];
  }
  return text_bytes;
}

TEST_F(SealedTextTest, PassesTheAppsFilterAfterOurRules) {
  int calls = 0;
  SetTextFilter(Shout, &calls);
  EXPECT_EQ(SealedText("to ann@x.org"), "TO <MAIL>");
  CleanTexts(false);
  EXPECT_EQ(SealedText("to ann@x.org"), "TO ANN@X.ORG");
  CleanTexts(true);
  EXPECT_EQ(SealedText("long"), "<removed>");
  EXPECT_EQ(calls, 3);
}

TEST_F(SealedTextTest, IsCutAtWholeCharacters) { EXPECT_EQ(SealedText("für", 2), "f"); }

}  // namespace
}  // namespace jankbox
