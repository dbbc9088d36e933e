#include "tracer/snapshot/zstd_stream.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/perfetto/trace_reader.h"
#include "tests/tracer/snapshot/random_trace.h"
#include "tests/uploader/temporary_folder.h"

namespace jankbox::testing {
namespace {

using Matches = ZstdStream::Matches;

constexpr size_t kMaxWindowBytes = 2 << 20;  // docs/formats/report.md
constexpr const char* kWithoutSequences = "JANKBOX_TEST_ZSTD_WITHOUT_SEQUENCES";

struct Compressed {
  std::string file;
  size_t frames = 0;
};

Compressed Compress(std::string_view trace, Matches matches,
                    size_t piece_bytes = ZstdStream::kMaxPieceBytes) {
  Compressed result;
  const SnapshotSink sink = [&](std::string_view frame) {
    result.file += frame;
    ++result.frames;
    return Status::Ok();
  };
  ZstdStream stream(sink, matches);
  for (; !trace.empty(); trace.remove_prefix(std::min(piece_bytes, trace.size()))) {
    EXPECT_TRUE(stream.Write(trace.substr(0, piece_bytes)).ok());
  }
  EXPECT_TRUE(stream.Finish().ok());
  return result;
}

// By the streaming decoder, in pieces of output that are no multiple of a block, and in one go.
void ExpectDecodesTo(const std::string& file, const std::string& trace) {
  std::string error;
  EXPECT_TRUE(DecompressTrace(file, &error) == trace) << error;
  std::string whole(trace.size() + 1, '\0');
  const size_t bytes = ZSTD_decompress(whole.data(), whole.size(), file.data(), file.size());
  ASSERT_FALSE(ZSTD_isError(bytes)) << ZSTD_getErrorName(bytes);
  whole.resize(bytes);
  EXPECT_TRUE(whole == trace);
}

std::string ReadWhole(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void WriteWhole(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(ZstdStream, NamesMatchesWithTheLibzstdOfThisSystem) {
  if (std::getenv(kWithoutSequences) != nullptr) {
    EXPECT_EQ(ZstdStream::BestMatches(), Matches::kFoundByZstd);
    return;
  }
  if (ZSTD_versionNumber() < 10504 || ZSTD_versionNumber() >= 10600) GTEST_SKIP() << "not zstd 1.5";
  EXPECT_EQ(ZstdStream::BestMatches(), Matches::kNamed);
}

TEST(ZstdStream, RoundTripOfTracesInPiecesOfAnySize) {
  Random random(11);
  for (int i = 0; i < 24; ++i) {
    const size_t bytes = random() % (i % 3 == 0 ? 3000 : 900'000);
    const std::string trace = i % 2 == 0 ? SliceTrace(&random, bytes) : MixedTrace(&random, bytes);
    const size_t piece = i % 4 == 0 ? 1 + random() % 5000 : ZstdStream::kMaxPieceBytes;
    for (Matches matches : {ZstdStream::BestMatches(), Matches::kFoundByZstd}) {
      ExpectDecodesTo(Compress(trace, matches, piece).file, trace);
    }
  }
}

TEST(ZstdStream, RoundTripOfEverySmallSize) {
  Random random(12);
  const std::string trace = SliceTrace(&random, 700);
  for (size_t size = 0; size <= trace.size(); ++size) {
    const std::string part = trace.substr(trace.size() - size);
    ExpectDecodesTo(Compress(part, ZstdStream::BestMatches()).file, part);
  }
}

TEST(ZstdStream, FramesHaveChecksumsAndSmallWindows) {
  Random random(13);
  const std::string trace = SliceTrace(&random, 600'000);
  const Compressed compressed = Compress(trace, ZstdStream::BestMatches());
  EXPECT_EQ(compressed.frames, 3u);
  std::string_view rest = compressed.file;
  size_t frames = 0;
  for (; !rest.empty(); ++frames) {
    const size_t frame = ZSTD_findFrameCompressedSize(rest.data(), rest.size());
    ASSERT_FALSE(ZSTD_isError(frame));
    EXPECT_LE(ZSTD_getFrameContentSize(rest.data(), rest.size()), kMaxWindowBytes);
    std::string damaged(rest.substr(0, frame)), error;
    EXPECT_TRUE((damaged[4] & 4) != 0) << "no checksum";
    damaged.back() ^= 1;
    DecompressTrace(damaged, &error);
    EXPECT_NE(error, "");
    rest.remove_prefix(frame);
  }
  EXPECT_EQ(frames, 3u);
}

TEST(ZstdStream, EmptyTraceIsAnEmptyFrame) {
  const Compressed compressed = Compress("", ZstdStream::BestMatches());
  EXPECT_EQ(compressed.frames, 1u);
  EXPECT_GT(compressed.file.size(), 0u);
  ExpectDecodesTo(compressed.file, "");
}

// What naming matches costs in size against zstd's own search.
TEST(ZstdStream, NamedMatchesCompressAboutAsWell) {
  Random random(14);
  for (const std::string& trace :
       {SliceTrace(&random, 900'000), MixedTrace(&random, 900'000), TextTrace(&random, 900'000)}) {
    EXPECT_LE(Compress(trace, ZstdStream::BestMatches()).file.size(),
              Compress(trace, Matches::kFoundByZstd).file.size() * 1.15);
  }
}

TEST(ZstdStream, CommandOfZstdReadsTheFile) {
  TemporaryFolder folder;
  Random random(15);
  const std::string trace = SliceTrace(&random, 1'500'000) + TextTrace(&random, 300'000);
  const std::string path = folder.path() + "/trace.zst";
  WriteWhole(path, Compress(trace, ZstdStream::BestMatches()).file);
  ASSERT_EQ(std::system(("zstd -qt " + path).c_str()), 0);
  ASSERT_EQ(std::system(("zstd -qd " + path).c_str()), 0);
  EXPECT_TRUE(ReadWhole(folder.path() + "/trace") == trace);
}

TEST(ZstdStream, FirstErrorSticks) {
  int calls = 0;
  const SnapshotSink sink = [&](std::string_view) {
    ++calls;
    return Status(StatusCode::kNoSpace, "full");
  };
  ZstdStream stream(sink);
  EXPECT_EQ(stream.Write("x").code(), StatusCode::kNoSpace);
  EXPECT_EQ(stream.Write("y").code(), StatusCode::kNoSpace);
  EXPECT_EQ(stream.Finish().code(), StatusCode::kNoSpace);
  EXPECT_EQ(calls, 1);
}

// The machine's libzstd with the symbol's name spoilt: programs load and compress all the same.
TEST(ZstdStream, LibzstdThatTakesNoMatchesIsEnough) {
  if (std::getenv(kWithoutSequences) != nullptr) GTEST_SKIP() << "runs without them";
  Dl_info libzstd;
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "ZSTD_versionNumber"), &libzstd), 0);
  std::string library = ReadWhole(libzstd.dli_fname);
  const std::string symbol("ZSTD_compressSequences\0", 23);
  const size_t at = library.find(symbol);
  ASSERT_NE(at, std::string::npos) << libzstd.dli_fname;
  library[at] = 'X';
  TemporaryFolder folder;
  WriteWhole(folder.path() + "/libzstd.so.1", library);
  char self[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
  const std::string command = std::string(kWithoutSequences) +
                              "=1 LD_LIBRARY_PATH=" + folder.path() + " " + self +
                              " --gtest_filter='ZstdStream.*' >" + folder.path() + "/log 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << ReadWhole(folder.path() + "/log");
}

}  // namespace
}  // namespace jankbox::testing
