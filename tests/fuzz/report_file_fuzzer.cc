// Sealed reports as hostile input: whatever the bytes are, reading stays within them and within the
// cap on the output.
#include <cstdint>
#include <cstdlib>

#include "report/report_file.h"
#include "report/report_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  constexpr size_t kMaxTraceBytes = 1 << 20;
  const std::string_view file(reinterpret_cast<const char*>(bytes), size);

  jankbox::Result<jankbox::proto::Report> report = jankbox::ParseReport(file);
  if (report.ok() && jankbox::ReportToJson(report.value()).dump().empty()) abort();

  size_t written = 0;
  const jankbox::Status status =
      jankbox::DecompressTrace(file, kMaxTraceBytes, [&written](std::string_view piece) {
        written += piece.size();
        return jankbox::Status::Ok();
      });
  if (written > kMaxTraceBytes) abort();
  // A report that was read rests on frames that add up, so only its trace can be damaged.
  if (report.ok() && status.code() != jankbox::StatusCode::kOk &&
      status.code() != jankbox::StatusCode::kCorrupt &&
      status.code() != jankbox::StatusCode::kInvalidArgument) {
    abort();
  }
  return 0;
}
