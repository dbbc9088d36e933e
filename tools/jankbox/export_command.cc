#include "tools/jankbox/export_command.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "base/sealed_file.h"
#include "tools/jankbox/exit_code.h"
#include "tools/jankbox/report_source.h"
#include "tools/jankbox/terminal.h"
#include "uploader/report/report_file.h"

namespace jankbox::tools {
namespace {

// The window is 10 s or 8 MiB of ring by default; a trace of more than this is no report's.
constexpr size_t kMaxTraceBytes = size_t{2} << 30;

Status WriteTrace(std::string_view file, int fd, const std::string& name) {
  return DecompressTrace(file, kMaxTraceBytes, [&](std::string_view piece) {
    Status status = WriteFully(fd, piece);
    return status.ok() ? status : Status(status.code(), name + ": " + status.message());
  });
}

Status WriteSealed(std::string_view file, const std::string& output) {
  Result<SealedFile> sealed =
      SealedFile::Create(std::string(DirName(output)), std::string(BaseName(output)));
  if (!sealed.ok()) return sealed.status();
  Status status = WriteTrace(file, sealed->fd(), output);
  if (!status.ok()) return status;
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(sealed->fd(), 0666 & ~mask) != 0) return Status::FromErrno(errno, output);
  return sealed->Seal();
}

Status WriteOutput(std::string_view file, const ExportOptions& options) {
  if (options.output == "-") return WriteTrace(file, STDOUT_FILENO, "stdout");
  struct stat st {};
  const char* path = options.output.c_str();
  const bool is_stream = stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
  if (is_stream) {  // /dev/stdout, /dev/null, a pipe: nothing to replace
    const ScopedFd fd(open(path, O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) return Status::FromErrno(errno, options.output);
    return WriteTrace(file, fd.get(), options.output);
  }
  if (lstat(path, &st) == 0 && !options.force) {
    return Status(StatusCode::kInvalidArgument,
                  options.output + ": File exists (--force replaces it)");
  }
  return WriteSealed(file, options.output);
}

}  // namespace

int RunExport(const ExportOptions& options) {
  const std::string place = options.place.empty() ? DefaultReportDirectory() : options.place;
  const Result<SourcedReport> sourced = FindReport(options.file_or_id, place);
  Result<std::string> file =
      sourced.ok() ? ReportSource::Fetch(sourced->location) : sourced.status();
  const Status status = file.ok() ? WriteOutput(file.value(), options) : file.status();
  if (!status.ok()) PrintError(status.message());
  return status.ok() ? kExitOk : kExitFailed;
}

}  // namespace jankbox::tools
