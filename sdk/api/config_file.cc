#include "sdk/api/config_file.h"

#include <algorithm>
#include <string>

#include "base/file.h"
#include "sdk/api/option_set.h"
#include "sdk/api/threshold_layers.h"

namespace jankbox {
namespace {

constexpr size_t kMaxBytes = 64 << 10;

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Status BadLine(size_t number, const std::string& why) {
  return Status(StatusCode::kInvalidArgument, "line " + std::to_string(number) + ": " + why);
}

Status ParseLine(std::string_view line, size_t number, OptionSet* options) {
  line = Trim(line.substr(0, line.find('#')));
  if (line.empty()) return Status::Ok();
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return BadLine(number, "no \"=\"");
  const std::string name(Trim(line.substr(0, equals)));
  const OptionRow* row = FindOption(name);
  if (row == nullptr) return BadLine(number, NoSuchOption(name));
  if (row->change != OptionChange::kAnyTime) {
    return BadLine(number,
                   name + " cannot change while Jankbox records; these can: " + ThresholdNames());
  }
  const Status status = options->Set(name, Trim(line.substr(equals + 1)));
  return status.ok() ? status : BadLine(number, status.message());
}

}  // namespace

Result<jankbox_options> ParseConfig(std::string_view text) {
  OptionSet options;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Status status = ParseLine(text.substr(0, end), number, &options);
    if (!status.ok()) return status;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return OnlyThresholds(options.values());
}

std::optional<Result<jankbox_options>> ConfigFile::Look() {
  FileIdentity file;
  if (!exists() || !IdentifyFile(path_, &file) || file == seen_) return std::nullopt;
  seen_ = file;
  const Result<std::string> text = ReadFile(path_, kMaxBytes);
  if (!text.ok()) return Result<jankbox_options>(text.status());
  Result<jankbox_options> options = ParseConfig(text.value());
  if (options.ok()) return options;
  return Result<jankbox_options>(
      Status(options.status().code(), path_ + ", " + options.status().message()));
}

}  // namespace jankbox
