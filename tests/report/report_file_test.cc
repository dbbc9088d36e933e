#include "report/report_file.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <fstream>

#include "report/report_encoder.h"
#include "tests/report/sample_report.h"

namespace jankbox {
namespace {

// A sealed report, byte by byte as docs/formats/report.md describes it.
constexpr char kGoldenHex[] =
    // zstd frame: magic, single segment of 5 bytes, one raw last block, content "trace"
    "28b52ffd"
    "20"
    "05"
    "290000"
    "7472616365"
    // skippable frame: magic, length 49
    "502a4d18"
    "31000000"
    // id (36 bytes)
    "0a24"
    "30313839306135642d616339362d373734622d626363652d623330323039396138303537"
    // revision 1, kind SLOW_MESSAGE, duration_ns 912
    "1001"
    "1801"
    "209007"
    // verdict { blocked_ns: 5 }
    "6202"
    "4805";

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

StatusCode ParseCode(std::string_view file) { return ParseReport(file).status().code(); }

Result<std::string> Decompressed(std::string_view file, size_t max_bytes) {
  std::string trace;
  Status status = DecompressTrace(file, max_bytes, [&trace](std::string_view piece) {
    trace.append(piece);
    return Status::Ok();
  });
  if (!status.ok()) return status;
  return trace;
}

// `bytes` zeros as one zstd frame, made piece by piece as a streaming writer makes it.
std::string CompressedZeros(size_t bytes, int window_log) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  const std::string zeros(1 << 20, '\0');
  std::string out_piece(1 << 20, '\0');
  std::string frame;
  for (size_t done = 0; done <= bytes; done += zeros.size()) {
    const bool last = done + zeros.size() > bytes;
    ZSTD_inBuffer in{zeros.data(), last ? bytes - done : zeros.size(), 0};
    size_t left = 1;
    while (last ? left != 0 : in.pos < in.size) {
      ZSTD_outBuffer out{out_piece.data(), out_piece.size(), 0};
      left = ZSTD_compressStream2(context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      frame.append(out_piece.data(), out.pos);
    }
  }
  ZSTD_freeCCtx(context);
  return frame;
}

const std::string& ReportFrame() {
  static const std::string frame = SkippableFrame(EncodeReport(FilledReport()));
  return frame;
}

TEST(ReportFile, GoldenBytesAreRead) {
  const std::string file = FromHex(kGoldenHex);
  Result<proto::Report> report = ParseReport(file);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->id(), "01890a5d-ac96-774b-bcce-b302099a8057");
  EXPECT_EQ(report->revision(), 1u);
  EXPECT_EQ(report->kind(), proto::SLOW_MESSAGE);
  EXPECT_EQ(report->duration_ns(), 912u);
  EXPECT_EQ(report->verdict().blocked_ns(), 5u);
  EXPECT_EQ(Decompressed(file, 100).value(), "trace");
}

TEST(ReportFile, GoldenBytesAreWritten) {
  Report report;
  report.id = "01890a5d-ac96-774b-bcce-b302099a8057";
  report.revision = 1;
  report.kind = ReportKind::kSlowMessage;
  report.duration_ns = 912;
  report.verdict.blocked_ns = 5;
  const std::string golden = FromHex(kGoldenHex);
  EXPECT_EQ(SkippableFrame(EncodeReport(report)), golden.substr(14));
}

TEST(ReportFile, RoundTripKeepsTraceAndReport) {
  std::string trace;
  for (int i = 0; i < 400'000; ++i) trace += std::to_string(i * 2654435761u);
  const std::string file = SealedBytes(FilledReport(), trace);
  ASSERT_TRUE(ParseReport(file).ok());
  EXPECT_EQ(ParseReport(file)->sched_switches(), FilledReport().sched_switches);
  EXPECT_EQ(Decompressed(file, trace.size()).value(), trace);
  EXPECT_EQ(Decompressed(file, trace.size() - 1).status().code(), StatusCode::kInvalidArgument);
}

TEST(ReportFile, SeveralTraceFramesAreOneTrace) {
  const std::string file = CompressedTrace("one ") + CompressedTrace("two") + ReportFrame();
  EXPECT_EQ(Decompressed(file, 100).value(), "one two");
}

TEST(ReportFile, EarlierSkippableFramesAreIgnored) {
  const std::string file = CompressedTrace("t") + SkippableFrame("not a report") + ReportFrame();
  EXPECT_EQ(ParseReport(file)->revision(), 3u);
}

TEST(ReportFile, CutAtEveryByteIsRefused) {
  const std::string file = SealedBytes(FilledReport(), "a trace that is cut at every byte");
  ASSERT_EQ(ParseCode(file), StatusCode::kOk);
  for (size_t length = 0; length < file.size(); ++length) {
    EXPECT_EQ(ParseCode(file.substr(0, length)), StatusCode::kCorrupt) << length;
    EXPECT_EQ(Decompressed(file.substr(0, length), 1 << 20).status().code(), StatusCode::kCorrupt)
        << length;
  }
  for (size_t extra = 1; extra < 16; ++extra) {
    EXPECT_EQ(ParseCode(file + std::string(extra, '\0')), StatusCode::kCorrupt) << extra;
  }
}

TEST(ReportFile, EveryFlippedBitIsRefusedOrRead) {
  const std::string file = SealedBytes(FilledReport(), "a trace with flipped bits");
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const StatusCode parse = ParseCode(damaged);
    EXPECT_TRUE(parse == StatusCode::kOk || parse == StatusCode::kCorrupt) << bit;
    Result<std::string> trace = Decompressed(damaged, 1 << 20);
    EXPECT_TRUE(!trace.ok() || trace->size() <= 1u << 20) << bit;
  }
}

TEST(ReportFile, ReportFirstIsRefused) {
  EXPECT_EQ(ParseCode(ReportFrame() + CompressedTrace("t")), StatusCode::kCorrupt);
  EXPECT_EQ(ParseCode(ReportFrame() + CompressedTrace("t") + ReportFrame()), StatusCode::kCorrupt);
}

TEST(ReportFile, ReportWithoutTraceIsRefused) {
  EXPECT_EQ(ParseCode(ReportFrame()), StatusCode::kCorrupt);
}

TEST(ReportFile, TraceAfterTheReportIsRefused) {
  const std::string file = CompressedTrace("t") + ReportFrame() + CompressedTrace("t");
  EXPECT_EQ(ParseCode(file), StatusCode::kCorrupt);
  EXPECT_EQ(ParseCode(file + ReportFrame()), StatusCode::kCorrupt);
}

TEST(ReportFile, OtherSkippableMagicAtTheEndIsRefused) {
  std::string frame = ReportFrame();
  frame[0] = 0x51;
  EXPECT_EQ(ParseCode(CompressedTrace("t") + frame), StatusCode::kCorrupt);
}

TEST(ReportFile, ForeignContentIsRefused) {
  EXPECT_EQ(ParseCode(""), StatusCode::kCorrupt);
  EXPECT_EQ(ParseCode("<html>not a report</html>"), StatusCode::kCorrupt);
  EXPECT_EQ(ParseCode(CompressedTrace("t")), StatusCode::kCorrupt);
  EXPECT_EQ(ParseCode(CompressedTrace("t") + SkippableFrame("\xff\xff\xff")), StatusCode::kCorrupt);
}

TEST(ReportFile, IdThatIsNoUuidIsRefused) {
  for (const char* id : {"", "../../etc/passwd", "01890A5D-AC96-774B-BCCE-B302099A8057"}) {
    Report report = FilledReport();
    report.id = id;
    EXPECT_EQ(ParseCode(SealedBytes(report, "t")), StatusCode::kCorrupt) << id;
  }
}

TEST(ReportFile, ReportMessageAboveItsCapIsRefused) {
  // An unknown field of 1 MiB: well-formed, but nothing that we write.
  std::string message = EncodeReport(FilledReport()) + FromHex("fa07808040");
  message.append(1 << 20, 'x');
  proto::Report parsed;
  ASSERT_TRUE(parsed.ParseFromString(message));
  EXPECT_EQ(ParseCode(CompressedTrace("t") + SkippableFrame(message)), StatusCode::kCorrupt);
}

TEST(ReportFile, WindowAboveTheCapIsRefused) {
  // Larger than the window, so that the frame is no single segment; incompressible is not needed.
  const std::string allowed = CompressedZeros(4 << 20, 21) + ReportFrame();
  EXPECT_EQ(ParseCode(allowed), StatusCode::kOk);
  EXPECT_TRUE(Decompressed(allowed, 4 << 20).ok());
  for (int window_log : {22, 27}) {
    const std::string bomb = CompressedZeros(4 << 20, window_log) + ReportFrame();
    EXPECT_EQ(ParseCode(bomb), StatusCode::kCorrupt) << window_log;
    EXPECT_EQ(Decompressed(bomb, 64 << 20).status().code(), StatusCode::kCorrupt) << window_log;
  }
}

TEST(ReportFile, SingleSegmentWithAHugeSizeIsRefused) {
  // Single segment, eight-byte content size of 2^40, one empty last block.
  const std::string frame = FromHex(
      "28b52ffd"
      "e0"
      "0000000000010000"
      "010000");
  EXPECT_EQ(ParseCode(frame + ReportFrame()), StatusCode::kCorrupt);
}

TEST(ReportFile, FrameThatWantsADictionaryIsRefused) {
  const std::string frame = FromHex(
      "28b52ffd"
      "21"
      "77"
      "05"
      "290000"
      "7472616365");
  EXPECT_EQ(ParseCode(frame + ReportFrame()), StatusCode::kCorrupt);
}

TEST(ReportFile, BombStopsAtTheCap) {
  const std::string bomb = CompressedZeros(size_t{1} << 30, 21) + ReportFrame();
  ASSERT_LT(bomb.size(), 200'000u);
  size_t passed = 0;
  Status status = DecompressTrace(bomb, 1 << 20, [&passed](std::string_view piece) {
    passed += piece.size();
    return Status::Ok();
  });
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_LE(passed, 1u << 20);
}

TEST(ReportFile, TooManyFramesAreRefused) {
  std::string file;
  for (int i = 0; i < 100'000; ++i)
    file += FromHex(
        "28b52ffd"
        "20"
        "00"
        "010000");
  EXPECT_EQ(ParseCode(file + ReportFrame()), StatusCode::kCorrupt);
}

TEST(ReportFile, WriterThatRefusesEndsTheDecompression) {
  int calls = 0;
  Status status = DecompressTrace(CompressedZeros(8 << 20, 20) + ReportFrame(), 64 << 20,
                                  [&calls](std::string_view) {
                                    ++calls;
                                    return Status(StatusCode::kUnavailable, "enough");
                                  });
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(calls, 1);
}

TEST(ReportFile, IsReadFromDisk) {
  char path[] = "/tmp/jankbox-report-file-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  close(fd);
  std::ofstream(path, std::ios::binary) << SealedBytes(FilledReport(), "trace");
  EXPECT_EQ(ReadReportFile(path)->fingerprint(), "00112233445566778899aabbccddeeff");
  std::ofstream(path, std::ios::binary) << "short";
  const Status damaged = ReadReportFile(path).status();
  EXPECT_EQ(damaged.code(), StatusCode::kCorrupt);
  EXPECT_NE(damaged.message().find(path), std::string::npos);
  unlink(path);
  EXPECT_EQ(ReadReportFile(path).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace jankbox
