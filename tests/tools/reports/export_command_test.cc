#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "tests/tools/sealed_report.h"
#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using testing::HasSubstr;

// Larger than any buffer on the way, and hardly compressible.
std::string LargeTrace() {
  std::mt19937 random(3);
  std::string trace(3 << 20, '\0');
  for (char& byte : trace) byte = static_cast<char>(random() % 23);
  return trace;
}

TEST(Export, WritesTheTraceByteForByte) {
  TemporaryFolder folder;
  const std::string trace = LargeTrace();
  const std::string file = SealReportFile(folder.path(), SampleReport(), trace);
  const Finished finished =
      RunToEnd({JANKBOX_BINARY, "export", file, "-o", folder / "out.pftrace"});
  EXPECT_EQ(finished.exit_status(), 0) << finished.err;
  EXPECT_EQ(finished.out + finished.err, "");
  EXPECT_EQ(FileBytes(folder / "out.pftrace"), trace);
  struct stat st {};
  const mode_t mask = umask(0);
  umask(mask);
  ASSERT_EQ(stat((folder / "out.pftrace").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0666u & ~mask);
}

TEST(Export, DashAndPipesAreStreams) {
  TemporaryFolder folder;
  const std::string trace = LargeTrace();
  const std::string file = SealReportFile(folder.path(), SampleReport(), trace);
  EXPECT_EQ(RunToEnd({JANKBOX_BINARY, "export", file, "-o", "-"}).out, trace);
  EXPECT_EQ(RunToEnd({JANKBOX_BINARY, "export", file, "-o", "/dev/stdout"}).out, trace);
}

TEST(Export, ExistingFileIsReplacedOnlyByForce) {
  TemporaryFolder folder;
  SealReportFile(folder.path(), SampleReport());
  WriteFile(folder / "out", "precious");
  const std::vector<std::string> command = {JANKBOX_BINARY, "export", "01960000",    "--dir",
                                            folder.path(),  "-o",     folder / "out"};
  const Finished refused = RunToEnd(command);
  EXPECT_EQ(refused.exit_status(), 1);
  EXPECT_THAT(refused.err, HasSubstr("File exists"));
  EXPECT_EQ(FileBytes(folder / "out"), "precious");

  std::vector<std::string> forced = command;
  forced.push_back("--force");
  EXPECT_EQ(RunToEnd(forced).exit_status(), 0);
  EXPECT_EQ(FileBytes(folder / "out"), "perfetto trace");
}

TEST(Export, DamagedReportLeavesNoFile) {
  TemporaryFolder folder;
  std::string bytes = SealReport(SampleReport(), LargeTrace());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
  bytes[1000] = static_cast<char>(bytes[1000] ^ 0x55);
  WriteFile(folder / "bad.pftrace.zst", bytes.substr(0, bytes.size() / 2));
  const Finished finished =
      RunToEnd({JANKBOX_BINARY, "export", folder / "bad.pftrace.zst", "-o", folder / "out"});
  EXPECT_EQ(finished.exit_status(), 1);
  EXPECT_THAT(finished.err, HasSubstr("bad.pftrace.zst"));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path().filename(), "bad.pftrace.zst");
  }
}

TEST(Export, MissingFolderAndFullDiskAreNamed) {
  TemporaryFolder folder;
  const std::string file = SealReportFile(folder.path(), SampleReport());
  const Finished missing = RunToEnd({JANKBOX_BINARY, "export", file, "-o", folder / "no/out"});
  EXPECT_EQ(missing.exit_status(), 1);
  EXPECT_THAT(missing.err, HasSubstr("No such file or directory"));
  const Finished full = RunToEnd({JANKBOX_BINARY, "export", file, "-o", "/dev/full"});
  EXPECT_EQ(full.exit_status(), 1);
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace jankbox::tools
