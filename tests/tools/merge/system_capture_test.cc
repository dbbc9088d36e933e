#include "tools/merge/system_capture.h"

#include <gmock/gmock.h>
#include <zstd.h>

#include "tests/tools/merge/capture_texts.h"
#include "tests/tools/subprocess.h"

namespace jankbox::tools {
namespace {

using ::testing::HasSubstr;

class SystemCaptureTest : public ::testing::Test {
 protected:
  std::string File(const std::string& bytes) {
    WriteFile(folder_ / "capture", bytes);
    return folder_ / "capture";
  }
  std::string Refusal(const std::string& bytes) {
    const Result<CaptureKind> kind = DetectCapture(File(bytes));
    return kind.ok() ? "taken" : kind.status().message();
  }
  std::vector<traceproto::CapturedEvent> ReadText(const std::string& text) {
    std::vector<traceproto::CapturedEvent> events;
    reading_ = {};
    const Status status = ReadTextCapture(
        File(text),
        [&](traceproto::CapturedEvent* event) {
          events.push_back(*event);
          return Status::Ok();
        },
        &reading_);
    EXPECT_TRUE(status.ok()) << status.message();
    return events;
  }

  TemporaryFolder folder_;
  CaptureReading reading_;
};

TEST_F(SystemCaptureTest, FilesOfOtherKindsAreNamedWithTheFix) {
  EXPECT_THAT(Refusal(""), HasSubstr("empty"));
  EXPECT_THAT(Refusal("\x1f\x8b..."), HasSubstr("gunzip"));
  EXPECT_THAT(Refusal("{\"traceEvents\":[]}"), HasSubstr("JSON"));
  EXPECT_THAT(Refusal("<!DOCTYPE html>"), HasSubstr("systrace HTML"));
  EXPECT_THAT(Refusal("JBXRING1...."), HasSubstr("ring"));
  EXPECT_THAT(Refusal("hello\nworld\n"), HasSubstr("expected a Perfetto trace"));
  EXPECT_THAT(Refusal("\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff"), HasSubstr("zstd"));
  EXPECT_FALSE(DetectCapture(folder_ / "missing").ok());
  EXPECT_FALSE(DetectCapture(folder_.path()).ok());
}

TEST_F(SystemCaptureTest, TextAndPerfettoAreRecognizedCompressedOrNot) {
  const std::string text = Line("a-1", 1, "tracing_mark_write: E");
  const std::string trace = PerfettoCapture().SerializeAsString();
  for (const auto& [bytes, kind] :
       {std::pair(text, CaptureKind::kText), std::pair(trace, CaptureKind::kPerfetto)}) {
    std::string packed(ZSTD_compressBound(bytes.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1));
    for (const std::string& file : {bytes, packed}) {
      const Result<CaptureKind> found = DetectCapture(File(file));
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_EQ(found.value(), kind);
    }
  }
}

TEST_F(SystemCaptureTest, TextWithLossesLineBreaksAndACutEnd) {
  const auto events = ReadText("# tracer: nop\nCPU:0 [LOST 5 EVENTS]\n" +
                               Line("a-1", 1, "tracing_mark_write: I|1|one") + "two\n" +
                               Line("a-1", 2, "irq_handler_entry: irq=1") +
                               Line("a-1", 3, "tracing_mark_write: E") +
                               "odd\0"
                               "\n" +
                               Line("a-1", 4, "tracing_mark_write: E|1").substr(0, 30));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].event().print().buf(), "I|1|one\ntwo\n");
  EXPECT_EQ(reading_.lost_events, 5u);
  EXPECT_EQ(reading_.left_out["irq_handler_entry"], 1u);
  EXPECT_TRUE(reading_.cut_off);
}

TEST_F(SystemCaptureTest, TextCutAnywhereNeverInventsAnEvent) {
  std::string text = "# tracer: nop\n";
  for (int i = 0; i < 5; ++i) {
    text += Line("odd (x) - name-4001", i,
                 "sched_switch: prev_comm=a prev_pid=4001 prev_prio=120 prev_state=S ==> "
                 "next_comm=b next_pid=12 next_prio=120");
  }
  const auto whole = ReadText(text);
  ASSERT_EQ(whole.size(), 5u);
  for (size_t size = 0; size < text.size(); ++size) {
    const auto events = ReadText(text.substr(0, size));
    ASSERT_LE(events.size(), whole.size());
    for (size_t i = 0; i < events.size(); ++i) {
      ASSERT_EQ(events[i].SerializeAsString(), whole[i].SerializeAsString()) << size;
    }
  }
}

TEST_F(SystemCaptureTest, DamagedTraceDatIsAnErrorAndNoCrash) {
  const std::string head("\x17\x08\x44tracing", 10);
  for (const std::string& rest :
       {std::string(), std::string("6\0", 2), std::string("7\0\0\x08\0\x10\0\0none\0\0", 14),
        std::string(5000, '\xff'),
        std::string("6\0\0\x08\0\x10\0\0header_page\0\xff\xff\xff\x7f", 24)}) {
    CaptureReading reading;
    const Status status = ReadTraceCmdCapture(
        File(head + rest), [](traceproto::CapturedEvent*) { return Status::Ok(); }, &reading);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message(), "");
  }
}

}  // namespace
}  // namespace jankbox::tools
