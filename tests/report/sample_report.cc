#include "tests/report/sample_report.h"

#include <zstd.h>

#include "report/report.visit.h"
#include "report/report_encoder.h"

namespace jankbox {
namespace {

// Sets every field that it visits: numbers from `number` on, texts that hold the next number.
struct Filler {
  uint32_t number = 1001;

  void operator()(const char*, uint64_t* value) { *value = number++; }
  void operator()(const char*, std::optional<uint64_t>* value) { *value = number++; }
  void operator()(const char*, uint32_t* value) { *value = number++; }
  void operator()(const char*, int32_t* value) { *value = static_cast<int32_t>(number++); }
  void operator()(const char*, bool* value) { *value = true; }
  void operator()(const char*, ReportKind* value) { *value = ReportKind::kAnr; }
  void operator()(const char* name, std::string* value) {
    *value = std::string(name) + " " + std::to_string(number++);
  }
  template <typename Element>
  void operator()(const char* name, std::vector<Element>* list) {
    list->resize(2);
    for (Element& element : *list) (*this)(name, &element);
  }
  template <typename Struct>
  void operator()(const char*, Struct* nested) {
    VisitFields(nested, *this);
  }
};

}  // namespace

Report FilledReport() {
  Report report;
  VisitFields(&report, Filler());
  report.id = "01890a5d-ac96-774b-bcce-b302099a8057";
  report.revision = 3;
  report.fingerprint = "00112233445566778899aabbccddeeff";
  report.duration_ns = 5'912'345'678;
  report.verdict.lock_owner = "Größe";
  report.verdict.unknown_ns = uint64_t{1} << 63;
  report.top_frames[1].rel_pc = 0xffff'ffff'ffff'fff0;
  report.window = {20'000'000'001, 30'000'000'002, 1'772'366'400'123'456'789};
  for (ReportRecording& part : report.recording) part.from_ns += report.window.from_ns;
  for (ReportRecording& part : report.recording) part.to_ns += report.window.from_ns;
  return report;
}

ReportCountBook FilledCountBook() {
  ReportCountBook book;
  VisitFields(&book, Filler());
  return book;
}

std::string CompressedTrace(std::string_view content, int window_log) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

std::string SealedBytes(const Report& report, std::string_view trace) {
  return CompressedTrace(trace) + SkippableFrame(EncodeReport(report));
}

}  // namespace jankbox
