// The option table against the three places that repeat it for their readers: jankbox.h,
// docs/options.md and the Java API.
#include "tests/sdk/api/option_documents.h"

#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <sstream>

namespace jankbox {
namespace {

using ::testing::HasSubstr;

std::string SourceFile(const std::string& path) {
  std::ifstream file(JANKBOX_SOURCE_DIR "/" + path);
  EXPECT_TRUE(file.is_open()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The comment above a field, in one line; empty if there is none.
std::string CommentAbove(const std::string& header, const std::string& name) {
  const std::regex field("(?:uint32_t |const char\\* ?)" + name + ";");
  std::smatch match;
  if (!std::regex_search(header, match, field)) return "";
  const std::string before = match.prefix();
  const size_t begin = before.rfind("/*");
  const size_t end = before.rfind("*/");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "";
  if (before.find_first_not_of(" \n", end + 2) != std::string::npos) return "";
  std::string comment = before.substr(begin + 2, end - begin - 2);
  comment = std::regex_replace(comment, std::regex("\n +\\*"), "");
  comment = std::regex_replace(comment, std::regex(" +"), " ");
  return std::regex_replace(comment, std::regex("^ | $"), "");
}

TEST(OptionDocuments, HeaderHasEachOptionAsTheTableSays) {
  const std::string header = SourceFile("sdk/include/jankbox/jankbox.h");
  for (const OptionRow& row : OptionRows()) {
    EXPECT_EQ(CommentAbove(header, row.name), HeaderComment(row)) << row.name;
  }
}

// A field without a row would be ignored by every channel.
TEST(OptionDocuments, EachFieldHasARow) {
  const std::string header = SourceFile("sdk/include/jankbox/jankbox.h");
  const size_t begin = header.find("typedef struct jankbox_options {");
  const std::string fields = header.substr(begin, header.find("} jankbox_options;") - begin);
  const std::regex field("\n *(?:uint32_t |const char\\* ?)(\\w+);");
  std::vector<std::string> names;
  for (std::sregex_iterator at(fields.begin(), fields.end(), field), end; at != end; ++at) {
    names.push_back((*at)[1]);
  }
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names[0], "size");
  EXPECT_EQ(names.size(), OptionRows().size() + 1);
  for (size_t i = 1; i < names.size(); ++i) EXPECT_NE(FindOption(names[i]), nullptr) << names[i];
}

TEST(OptionDocuments, PageHasEachOptionAsTheTableSays) {
  const std::string page = SourceFile("docs/options.md");
  const std::string start = "<!-- the option table -->\n";
  const size_t begin = page.find(start);
  const size_t end = page.find("<!-- end of the option table -->");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const size_t list = begin + start.size();
  EXPECT_EQ(page.substr(list, end - list), DocumentList())
      << "docs/options.md must have this list:\n"
      << DocumentList();
}

TEST(OptionDocuments, JavaHasASetterForEachOption) {
  const std::string java = SourceFile("sdk/android/java/dev/jankbox/Options.java");
  for (const OptionRow& row : OptionRows()) {
    // window_ms is windowMs.
    std::string method;
    bool upper = false;
    for (const char* c = row.name; *c != '\0'; ++c) {
      if (*c != '_') method += static_cast<char>(upper ? toupper(*c) : *c);
      upper = *c == '_';
    }
    EXPECT_THAT(java, HasSubstr("public Options " + method + "(")) << row.name;
    EXPECT_THAT(java, HasSubstr("set(\"" + std::string(row.name) + "\", ")) << row.name;
  }
}

}  // namespace
}  // namespace jankbox
