#include "tools/adb/app_recording.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/uuid.h"
#include "report/report_file.h"
#include "sdk/api/desktop_requests.h"
#include "tools/adb/device_properties.h"

namespace jankbox::tools {
namespace {

constexpr int kSliceMs = 100;
constexpr uint64_t kLeastFreeMib = 64;  // that Jankbox leaves on the disk by default

Status Interrupted() { return Status(StatusCode::kBusy, "interrupted"); }

class Recording {
 public:
  Recording(const AdbClient& adb, const DeviceApp& app, const RecordingPlan& plan)
      : adb_(adb), app_(app), plan_(plan), properties_(&adb) {}

  Result<RecordedApp> Run();
  Status Restore() { return properties_.Restore(); }

 private:
  Status Prepare();
  Status SetOptions();
  Status Wait(uint64_t duration_ns, const std::string& what);
  // The reports that are new since the start, read; the one that was asked for, if it is there.
  Status LookForReport();
  Status WaitForReport();
  // Why there is none.
  Status Diagnose() const;

  const AdbClient& adb_;
  const DeviceApp& app_;
  const RecordingPlan& plan_;
  DeviceProperties properties_;
  std::set<std::string> known_;  // reports that existed before
  size_t others_ = 0;
  int pid_ = 0;
  std::string reason_;
  std::optional<RecordedApp> found_;
};

Status Recording::SetOptions() {
  Status status = properties_.Set(std::string(kDesktopAppProperty), app_.process());
  for (const auto& [name, value] : plan_.options) {
    if (!status.ok()) return status;
    status = properties_.Set(std::string(kDesktopPrefix) + name, value);
  }
  return status;
}

Status Recording::Prepare() {
  const Result<int> pid = app_.Pid();
  if (!pid.ok()) return pid.status();
  if (pid.value() == 0 && !plan_.restart) {
    return Status(StatusCode::kNotFound, app_.process() + " does not run on " +
                                             adb_.device().serial + ": start it, or use --restart");
  }
  const Result<std::map<std::string, RemoteReport>> before = app_.Reports();
  if (!before.ok()) return before.status();
  for (const auto& [name, report] : before.value()) known_.insert(name);
  const Status set = SetOptions();
  if (!set.ok()) return set;
  pid_ = pid.value();
  if (!plan_.restart) return Status::Ok();
  const Status restarted = app_.Restart();
  if (!restarted.ok()) return restarted;
  const Result<int> new_pid = app_.Pid();
  if (new_pid.ok()) pid_ = new_pid.value();
  return new_pid.status();
}

Status Recording::Wait(uint64_t duration_ns, const std::string& what) {
  const uint64_t begin_ns = MonotonicNs();
  while (true) {
    if (plan_.interrupt.asked()) return Interrupted();
    const uint64_t elapsed_ns = MonotonicNs() - begin_ns;
    if (elapsed_ns >= duration_ns) return Status::Ok();
    plan_.progress(what, static_cast<double>(elapsed_ns) / static_cast<double>(duration_ns));
    pollfd wait{plan_.interrupt.fd, POLLIN, 0};
    const uint64_t left_ms = (duration_ns - elapsed_ns) / kNsPerMs;
    poll(&wait, 1, static_cast<int>(std::min<uint64_t>(left_ms + 1, kSliceMs)));
  }
}

Status Recording::LookForReport() {
  const Result<std::map<std::string, RemoteReport>> reports = app_.Reports();
  if (!reports.ok()) return reports.status();
  for (const auto& [name, remote] : reports.value()) {
    if (known_.count(name) != 0) continue;
    Result<std::string> file = app_.Fetch(remote);
    if (!file.ok() && file.status().code() != StatusCode::kNotFound) return file.status();
    if (!file.ok()) continue;
    known_.insert(name);
    const Result<proto::Report> report = ParseReport(file.value());
    if (report.ok() && report->kind() == proto::MANUAL && report->what() == reason_) {
      found_ = RecordedApp{std::move(file.value()), report.value(), 0};
    } else {
      ++others_;
    }
  }
  return Status::Ok();
}

Status Recording::WaitForReport() {
  const uint64_t begin_ns = MonotonicNs();
  while (true) {
    Status status = LookForReport();
    if (!status.ok() || found_) return status;
    if (MonotonicNs() - begin_ns > plan_.patience_ns) return Diagnose();
    status = Wait(2 * kSliceMs * kNsPerMs, "waiting for the report of " + app_.process());
    if (!status.ok()) return status;
  }
}

Status Recording::Diagnose() const {
  const std::string within =
      " wrote no report within " + std::to_string(plan_.patience_ns / kNsPerSecond) + " s";
  const Result<int> pid = app_.Pid();
  if (!pid.ok()) return pid.status();
  if (pid.value() != pid_) {
    return Status(StatusCode::kUnavailable,
                  app_.process() +
                      (pid.value() == 0 ? " ended while it was recorded"
                                        : " was restarted while "
                                          "it was recorded") +
                      "; if it crashed, its next start recovers a report: jankbox pull");
  }
  const std::optional<uint64_t> free_mib = app_.FreeMib();
  if (free_mib && *free_mib < kLeastFreeMib) {
    return Status(StatusCode::kNoSpace, app_.process() + within + ": the device's disk is full (" +
                                            std::to_string(*free_mib) +
                                            " MiB are free, Jankbox leaves " +
                                            std::to_string(kLeastFreeMib) + ")");
  }
  return Status(StatusCode::kUnavailable,
                app_.process() + within +
                    ": check that it starts Jankbox, that it is debuggable or profileable, and "
                    "that it has not used up its reports of the day");
}

Result<RecordedApp> Recording::Run() {
  Status status = Prepare();
  if (status.ok()) status = Wait(plan_.duration_ns, "recording " + app_.process());
  // Without its last part, it is no token to those who clean texts (docs/privacy.md).
  const std::string nonce = NewUuid(RealtimeNs() / kNsPerMs).substr(0, 23);
  reason_ = std::string(kDesktopSnapshotReason) + nonce;
  if (status.ok()) status = properties_.Set(std::string(kDesktopSnapshotProperty), nonce);
  if (status.ok()) status = WaitForReport();
  if (!status.ok()) return status;
  found_->other_reports = others_;
  return std::move(*found_);
}

}  // namespace

Result<RecordedApp> RecordApp(const AdbClient& adb, const DeviceApp& app, const RecordingPlan& plan,
                              Status* restored) {
  Recording recording(adb, app, plan);
  Result<RecordedApp> recorded = recording.Run();
  *restored = recording.Restore();
  return recorded;
}

}  // namespace jankbox::tools
