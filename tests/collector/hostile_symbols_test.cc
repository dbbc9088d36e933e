// Debug files and mappings that are made to take much memory or space. The names that they give are
// bounded, the others still get theirs, and the collector goes on.
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/file.h"
#include "report/report.h"
#include "symbolize/debug_files.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/named_program.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;

class HostileSymbolsTest : public CollectorTest {
 protected:
  // Debug files of others are read after it, too.
  void ExpectOthersAreNamed() {
    const NamedProgram program(2);
    const proto::Report report = program.Report("decode_image");
    ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
    ASSERT_EQ(SymbolsResult(program.Bytes()), "stored");
    WaitUntilNamed();
    EXPECT_EQ(GetJson("/api/v1/reports/" + report.id()).at("top_frames")[1].at("function"),
              "decode_image");
    EXPECT_EQ(NewClient().Get("/healthz")->body, "ok");
  }
};

proto::Report JavaReport() {
  proto::Report report = SampleReport();
  report.set_app_name("com.example");
  report.set_app_version("1");
  return report;
}

constexpr char kQuery[] = "?app=com.example&version=1";

TEST_F(HostileSymbolsTest, CallsInlinedWithoutEndAreCut) {
  proto::Report report = JavaReport();
  proto::Attribute* stack = report.add_attributes();
  stack->set_key("java_stack_00");
  stack->set_value("a.b.c(SourceFile:7)");
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  std::string mapping = "com.example.Editor -> a.b:\n";
  for (int i = 0; i < 20'000; ++i) mapping += "    5:9:void save():100:104 -> c\n";
  ASSERT_EQ(SymbolsResult(mapping, kQuery), "stored");
  WaitUntilNamed();
  const json shown = GetJson("/api/v1/reports/" + report.id());
  EXPECT_EQ(shown.at("attributes")[0].at("value"), "com.example.Editor.save(Editor.java:102)");
  EXPECT_LE(shown.at("attributes").size(), 64u);
  ExpectOthersAreNamed();
}

TEST_F(HostileSymbolsTest, ReportThatWouldBeTooLargeStaysAsItWas) {
  proto::Report report = JavaReport();
  std::string calls;
  for (int i = 0; i < 150; ++i) calls += "a.b.c ";
  for (int i = 0; i < 300; ++i) {
    proto::Attribute* wait = report.add_attributes();
    wait->set_key("java_wait");
    wait->set_value(calls);
  }
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  const json before = GetJson("/api/v1/reports/" + report.id());
  const std::string mapping =
      "com.example." + std::string(1000, 'E') + " -> a.b:\n    void save() -> c\n";
  ASSERT_EQ(SymbolsResult(mapping, kQuery), "stored");
  WaitUntilNamed();
  EXPECT_EQ(GetJson("/api/v1/reports/" + report.id()), before);
  ExpectOthersAreNamed();
}

// 40 calls with names of 1,000 bytes at each address.
TEST_F(HostileSymbolsTest, FileWithHugeNamesGivesNone) {
  const auto name = [](int i) { return "f" + std::to_string(i) + "_" + std::string(1000, 'n'); };
  const std::string source = JoinPath(folder_.path(), "huge.c");
  const std::string library = JoinPath(folder_.path(), "huge.so");
  {
    std::ofstream text(source);
    text << "static volatile int sink;\n#define INLINE static inline "
            "__attribute__((always_inline)) void\n";
    text << "INLINE " << name(0)
         << "(int n) { for (int i = 0; i < n; ++i) sink = sink * 31 + i; }\n";
    for (int i = 1; i < 40; ++i) {
      text << "INLINE " << name(i) << "(int n) { " << name(i - 1) << "(n); }\n";
    }
    text << "void outer(void) { " << name(39) << "(7); }\n";
  }
  const std::string command =
      "cc -g -O1 -fPIC -shared -Wl,--build-id -o '" + library + "' '" + source + "'";
  ASSERT_EQ(system(command.c_str()), 0);
  std::vector<std::string> problems;
  const std::vector<ElfIdentity> identity = IdentifyElfFiles({library}, &problems);
  ASSERT_EQ(identity.size(), 1u);
  proto::Report report = SampleReport();
  report.clear_top_frames();
  FILE* const nm = popen(("nm '" + library + "' | grep ' T outer' | cut -c1-16").c_str(), "r");
  char text[17] = "";
  ASSERT_NE(fgets(text, sizeof(text), nm), nullptr);
  pclose(nm);
  const uint64_t start = strtoull(text, nullptr, 16);
  for (uint64_t i = 0; i < 64; ++i) {
    proto::Frame* frame = report.add_top_frames();
    frame->set_module("huge.so");
    frame->set_build_id(identity[0].build_id);
    frame->set_rel_pc(start + i);
  }
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  ASSERT_EQ(SymbolsResult(ReadFile(library, 64 << 20).value()), "stored");
  WaitUntilNamed();
  EXPECT_EQ(GetJson("/api/v1/symbols").at("symbols")[0].at("problem"),
            "its names take too much space");
  ASSERT_EQ(GetJson("/api/v1/reports/" + report.id()).at("top_frames").size(), 64u);
  ExpectOthersAreNamed();
}

// Sections that say they are terabytes when decompressed.
TEST_F(HostileSymbolsTest, CompressedSectionsWithoutEndEndOnlyTheirReader) {
  const NamedProgram program(1);
  const proto::Report report = program.Report("decode_image");
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  const std::string compressed = JoinPath(folder_.path(), "compressed");
  const std::string command =
      "objcopy --compress-debug-sections '" + program.path() + "' '" + compressed + "'";
  ASSERT_EQ(system(command.c_str()), 0);
  std::string bytes = ReadFile(compressed, 64 << 20).value();
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof(header));
  int changed = 0;
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    memcpy(&section, bytes.data() + header.e_shoff + static_cast<size_t>(i) * sizeof(section),
           sizeof(section));
    if ((section.sh_flags & SHF_COMPRESSED) == 0) continue;
    Elf64_Chdr told;
    memcpy(&told, bytes.data() + section.sh_offset, sizeof(told));
    told.ch_size = uint64_t{1} << 42;
    memcpy(bytes.data() + section.sh_offset, &told, sizeof(told));
    ++changed;
  }
  ASSERT_GT(changed, 0);
  ASSERT_EQ(SymbolsResult(bytes), "stored");
  WaitUntilNamed();
  EXPECT_EQ(GetJson("/api/v1/reports/" + report.id()).at("id"), report.id());
  ExpectOthersAreNamed();
}

}  // namespace
}  // namespace jankbox::collector
