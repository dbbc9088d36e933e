#include "tools/adb/pull_command.h"

#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/sealed_file.h"
#include "report/report_file.h"
#include "report/report_json.h"
#include "tools/adb/device_app.h"
#include "tools/reports/list_command.h"
#include "tools/run/interruption.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/progress_line.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

class Pull {
 public:
  Pull(const PullOptions& options, const DeviceApp& app)
      : app_(app),
        directory_(options.directory.empty() ? app.package() : options.directory),
        json_(options.json) {}

  // Copies; the first error that ends it.
  Status Run();
  // Prints the result, also of an incomplete pull. False if stdout is closed.
  bool Tell(const AdbDevice& device) const;
  bool complete() const { return failed_.empty(); }

 private:
  // Whether the file of that name here is the one there.
  bool IsHere(const RemoteReport& remote) const;
  Status Copy(const RemoteReport& remote);

  const DeviceApp& app_;
  const std::string directory_;
  const bool json_;
  nlohmann::json pulled_ = nlohmann::json::array();
  nlohmann::json system_traces_ = nlohmann::json::array();   // names
  std::vector<std::string> skipped_;                         // names
  std::vector<std::pair<std::string, std::string>> failed_;  // name, why
};

bool Pull::IsHere(const RemoteReport& remote) const {
  if (!remote.known) return false;
  const Result<std::string> file = ReadFile(JoinPath(directory_, remote.name), kMaxReportFileBytes);
  return file.ok() && file->size() == remote.bytes && PosixChecksum(file.value()) == remote.crc;
}

Status Pull::Copy(const RemoteReport& remote) {
  const Result<std::string> file = app_.Fetch(remote);
  if (file.status().code() == StatusCode::kNotFound) return Status::Ok();  // sent meanwhile
  const bool is_of_the_file = file.status().code() == StatusCode::kIo ||
                              file.status().code() == StatusCode::kInvalidArgument;
  if (!file.ok() && !is_of_the_file) return file.status();
  const Result<proto::Report> report = !file.ok()               ? file.status()
                                       : remote.is_system_trace ? proto::Report()
                                                                : ParseReport(file.value());
  if (!report.ok()) {
    failed_.emplace_back(remote.name, report.status().message());
    return Status::Ok();
  }
  Result<SealedFile> sealed = SealedFile::Create(directory_, remote.name);
  if (!sealed.ok()) return sealed.status();
  Status status = sealed->Write(file.value());
  if (status.ok()) status = sealed->Seal();
  if (!status.ok()) return Status(status.code(), directory_ + ": " + status.message());
  if (remote.is_system_trace) {
    system_traces_.push_back(remote.name);
  } else {
    pulled_.push_back(ReportToJson(report.value()));
  }
  return status;
}

Status Pull::Run() {
  Result<std::map<std::string, RemoteReport>> reports = app_.Reports();
  if (!reports.ok()) return reports.status();
  Result<std::map<std::string, RemoteReport>> traces = app_.SystemTraces();
  if (!traces.ok()) return traces.status();
  reports->merge(traces.value());
  if (reports->empty()) return Status::Ok();
  const Status made = MakeDirectories(directory_, 0777);
  if (!made.ok()) return made;
  (void)SealedFile::SweepOrphans(directory_);  // of a pull that was killed
  ProgressLine progress;
  double seen = 0;
  for (const auto& [name, remote] : reports.value()) {
    progress.Show("pulling " + std::to_string(reports->size()) + " reports of " + app_.package(),
                  seen++ / static_cast<double>(reports->size()));
    if (IsHere(remote)) {
      skipped_.push_back(name);
      continue;
    }
    const Status status = Copy(remote);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

bool Pull::Tell(const AdbDevice& device) const {
  for (const auto& [name, why] : failed_) PrintError("skipped " + name + ": " + why);
  if (json_) {
    nlohmann::json failed = nlohmann::json::array();
    for (const auto& [name, why] : failed_) failed.push_back({{"name", name}, {"error", why}});
    return WriteText(STDOUT_FILENO,
                     JsonText({{"device", {{"serial", device.serial}, {"model", device.model}}},
                               {"app", app_.process()},
                               {"dir", directory_},
                               {"pulled", pulled_},
                               {"system_traces", system_traces_},
                               {"skipped", skipped_},
                               {"failed", failed}}));
  }
  if (pulled_.empty() && system_traces_.empty() && skipped_.empty() && failed_.empty()) {
    PrintError("no reports of " + app_.package() + " on " + device.serial);
    return true;
  }
  std::string text;
  if (!pulled_.empty()) {
    std::vector<ReportView> views;
    for (const nlohmann::json& report : pulled_) views.push_back(ViewReport(report));
    text = RenderList(DetectTextStyle(STDOUT_FILENO), views) + "\n";
  }
  text += std::to_string(pulled_.size()) + " pulled into " + Printable(directory_) + ", " +
          std::to_string(skipped_.size()) + " already there\n";
  for (const nlohmann::json& name : system_traces_) {
    text += name.get<std::string>() + ": a trace of the system, for jankbox merge --system\n";
  }
  return WriteText(STDOUT_FILENO, text);
}

}  // namespace

int RunPull(const PullOptions& options) {
  const Result<std::unique_ptr<Interruption>> interruption = Interruption::Open();
  if (!interruption.ok()) {
    PrintError(interruption.status().message());
    return kExitFailed;
  }
  AdbClient adb(options.adb, interruption.value()->source());
  DeviceApp app(&adb, options.app);
  Status status = adb.Connect(options.serial);
  if (status.ok()) status = app.Open();
  if (!status.ok()) {
    PrintError(status.message());
    return interruption.value()->End(kExitFailed);
  }
  Pull pull(options, app);
  status = pull.Run();
  const bool told = pull.Tell(adb.device());
  if (!status.ok()) PrintError(status.message());
  return interruption.value()->End(status.ok() && told && pull.complete() ? kExitOk : kExitFailed);
}

}  // namespace jankbox::tools
