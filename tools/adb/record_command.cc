#include "tools/adb/record_command.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/file.h"
#include "report/report_file.h"
#include "report/report_json.h"
#include "sdk/api/option_set.h"
#include "sdk/api/options.h"
#include "tools/adb/app_recording.h"
#include "tools/run/interruption.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/output_file.h"
#include "tools/terminal/progress_line.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kLeastMs = 100;
constexpr uint64_t kMostMs = 600'000;  // the longest window of a report
constexpr size_t kMaxTraceBytes = size_t{2} << 30;
constexpr std::string_view kCompressedSuffix = ".zst";
// A restarted app with a longer window than the default gets a MiB of ring for each second.
constexpr uint64_t kDefaultWindowMs = 10'000;
constexpr uint64_t kMostRingMib = 128;

Status Invalid(const std::string& what) { return Status(StatusCode::kInvalidArgument, what); }

bool IsCompressed(const std::string& path) {
  return path.size() > kCompressedSuffix.size() &&
         path.compare(path.size() - kCompressedSuffix.size(), kCompressedSuffix.size(),
                      kCompressedSuffix) == 0;
}

std::string Named(const AdbDevice& device) {
  return device.serial + (device.model.empty() ? "" : " (" + device.model + ")");
}

// Adds NAME=VALUE to both, the second of which checks it.
Status AddSetting(const std::string& text, RecordingPlan* plan, OptionSet* checked) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  const OptionRow* row = FindOption(name);
  if (row == nullptr) return Invalid("--set " + text + ": " + NoSuchOption(name));
  if (!row->IsForDeveloper()) {
    return Invalid("--set " + text + ": only the app itself sets " + name);
  }
  const Status set = checked->Set(name, value);
  if (!set.ok()) return Invalid("--set " + text + ": " + set.message());
  if (!plan->restart && row->change == OptionChange::kAtStart) {
    return Invalid("--set " + text + ": an app reads this only when it starts: add --restart");
  }
  plan->options.emplace_back(name, value);
  return Status::Ok();
}

bool IsSet(const RecordingPlan& plan, const char* name) {
  return std::any_of(plan.options.begin(), plan.options.end(),
                     [&](const auto& option) { return option.first == name; });
}

Status MakePlan(const RecordOptions& options, RecordingPlan* plan) {
  const uint64_t duration_ms = ParseDurationMs(options.duration);
  plan->duration_ns = duration_ms * kNsPerMs;
  plan->patience_ns = options.wait_s * kNsPerSecond;
  plan->restart = options.restart;
  OptionSet checked;
  for (const std::string& setting : options.settings) {
    const Status status = AddSetting(setting, plan, &checked);
    if (!status.ok()) return status;
  }
  const Result<Options> valid = ValidateOptions(&checked.values());
  if (!valid.ok()) return Invalid("--set: " + valid.status().message());
  if (!plan->restart || duration_ms <= kDefaultWindowMs) return Status::Ok();
  if (!IsSet(*plan, "window_ms")) {
    plan->options.emplace_back("window_ms", std::to_string(std::min(duration_ms + 1000, kMostMs)));
  }
  if (!IsSet(*plan, "ring_bytes")) {
    const uint64_t mib = std::min(duration_ms / 1000 + 1, kMostRingMib);
    plan->options.emplace_back("ring_bytes", std::to_string(mib << 20));
  }
  return Status::Ok();
}

uint64_t WindowNs(const proto::Report& report) {
  const proto::Window& window = report.window();
  return window.to_ns() - std::min(window.from_ns(), window.to_ns());
}

Status WriteTrace(const RecordOptions& options, const std::string& file, uint64_t* bytes) {
  return WriteOutputFile(options.output, options.force, [&](int fd) {
    const auto write = [&](std::string_view piece) {
      *bytes += piece.size();
      return WriteFully(fd, piece);
    };
    return IsCompressed(options.output) ? write(file)
                                        : DecompressTrace(file, kMaxTraceBytes, write);
  });
}

std::string Summary(const RecordOptions& options, const AdbDevice& device,
                    const RecordedApp& recorded, uint64_t bytes) {
  const uint64_t window_ns = WindowNs(recorded.report);
  const double window_s = static_cast<double>(window_ns) / kNsPerSecond;
  char line[128];
  snprintf(line, sizeof(line), ": %.1f s of ", window_s);
  std::string text =
      options.output + line + options.app + " (pid " + std::to_string(recorded.report.pid());
  snprintf(line, sizeof(line), ", %.1f MiB", static_cast<double>(bytes) / (1 << 20));
  text = Printable(text + ") on " + Named(device) + line) + "\n";
  // The report looks back from a moment after the recording's end.
  if (window_ns + kNsPerSecond / 2 < ParseDurationMs(options.duration) * kNsPerMs) {
    text += Printable(options.duration) + " were requested, the app keeps less" +
            (options.restart ? "\n" : ": --restart restarts it with a longer window\n");
  }
  if (recorded.other_reports != 0) {
    text += std::to_string(recorded.other_reports) +
            (recorded.other_reports == 1 ? " more report was" : " more reports were") +
            " written meanwhile: jankbox pull -a " + Printable(options.app) + "\n";
  }
  return text;
}

nlohmann::json SummaryJson(const RecordOptions& options, const AdbDevice& device,
                           const RecordedApp& recorded, uint64_t bytes) {
  return {{"output", options.output},
          {"bytes", bytes},
          {"device", {{"serial", device.serial}, {"model", device.model}}},
          {"app", options.app},
          {"pid", recorded.report.pid()},
          {"asked_ms", ParseDurationMs(options.duration)},
          {"window_ms", WindowNs(recorded.report) / kNsPerMs},
          {"other_reports", recorded.other_reports},
          {"report", ReportToJson(recorded.report)}};
}

Status Both(const Status& first, const Status& second) {
  if (first.ok()) return second;
  return second.ok() ? first : Status(first.code(), first.message() + "; " + second.message());
}

Status Record(const RecordOptions& options, RecordingPlan plan, std::string* text) {
  ProgressLine progress;
  plan.progress = [&](const std::string& what, double done) { progress.Show(what, done); };
  AdbClient adb(options.adb, plan.interrupt);
  const Status connected = adb.Connect(options.serial);
  if (!connected.ok()) return connected;
  DeviceApp app(&adb, options.app);
  const Status opened = app.Open();
  if (!opened.ok()) return opened;
  Status restored;
  const Result<RecordedApp> recorded = RecordApp(adb, app, plan, &restored);
  if (!recorded.ok()) return Both(recorded.status(), restored);
  uint64_t bytes = 0;
  const Status written = WriteTrace(options, recorded->file, &bytes);
  if (!written.ok()) return Both(written, restored);
  *text = options.json ? JsonText(SummaryJson(options, adb.device(), recorded.value(), bytes))
                       : Summary(options, adb.device(), recorded.value(), bytes);
  return restored;
}

}  // namespace

uint64_t ParseDurationMs(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > kMostMs) return 0;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit != "" && unit != "s" && unit != "ms" && unit != "m") return 0;
  const uint64_t ms = number * (unit == "ms" ? 1 : unit == "m" ? 60'000 : 1000);
  return ms >= kLeastMs && ms <= kMostMs ? ms : 0;
}

int RunRecord(const RecordOptions& options) {
  if (options.json && IsStdout(options.output)) {
    PrintError("record: --json and the trace cannot both go to stdout");
    return kExitUsage;
  }
  RecordingPlan plan;
  Status status = MakePlan(options, &plan);
  if (!status.ok()) {
    PrintError("record: " + status.message());
    return kExitUsage;
  }
  const Result<std::unique_ptr<Interruption>> interruption = Interruption::Open();
  status =
      interruption.ok() ? CheckOutputFile(options.output, options.force) : interruption.status();
  std::string text;
  if (status.ok()) {
    plan.interrupt = interruption.value()->source();
    status = Record(options, std::move(plan), &text);
  }
  if (!text.empty()) {
    const int fd = IsStdout(options.output) ? STDERR_FILENO : STDOUT_FILENO;
    if (!WriteText(fd, text)) return kExitFailed;
  }
  if (!status.ok()) PrintError(status.message());
  return interruption.ok() ? interruption.value()->End(status.ok() ? kExitOk : kExitFailed)
                           : kExitFailed;
}

}  // namespace jankbox::tools
