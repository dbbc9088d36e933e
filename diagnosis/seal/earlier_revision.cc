#include "diagnosis/seal/earlier_revision.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "report/proto_reader.h"
#include "report/report.h"
#include "report/report_encoder.h"
#include "uploader/spool/spool_folder.h"

namespace jankbox {
namespace {

// True for a whole Report message with that id.
bool IsReport(std::string_view message, std::string_view id) {
  ProtoReader reader(message);
  ProtoField field;
  bool same = false;
  while (reader.Next(&field)) same = same || (field.number == 1 && field.bytes == id);
  return reader.complete() && same;
}

// The end of the file, which contains the whole report's frame.
std::string TailOf(const std::string& path) {
  const Result<ScopedFd> fd = OpenRegularFile(path);
  struct stat st {};
  if (!fd.ok() || fstat(fd->get(), &st) != 0) return "";
  const size_t most = kMaxReportMessageBytes + SkippableFrame("").size();
  std::string tail(std::min<size_t>(static_cast<size_t>(st.st_size), most), '\0');
  const auto from = st.st_size - static_cast<off_t>(tail.size());
  const ssize_t got = pread(fd->get(), tail.data(), tail.size(), from);
  return got == static_cast<ssize_t>(tail.size()) ? tail : "";
}

}  // namespace

std::string EncodedReportOf(const std::string& folder, const std::string& id) {
  const std::string tail = TailOf(ReportPath(folder, id));
  const std::string magic = SkippableFrame("").substr(0, 4);
  // The frame's header says how long the rest of the file is: the trace before it need not be read.
  size_t at = tail.size() + 1;
  while (at != 0 && (at = tail.rfind(magic, at - 1)) != std::string::npos) {
    if (at + 8 > tail.size()) continue;
    uint32_t length;
    memcpy(&length, tail.data() + at + 4, sizeof(length));
    const std::string_view content = std::string_view(tail).substr(at + 8);
    if (length == content.size() && IsReport(content, id)) return std::string(content);
  }
  return "";
}

}  // namespace jankbox
