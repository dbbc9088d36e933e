#include "sdk/api/config_file.h"

#include <cstdint>
#include <cstdlib>

#include "base/file.h"
#include "sdk/api/thresholds.h"

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

Status ParseLine(std::string_view line, size_t number, jankbox_options* options) {
  line = Trim(line.substr(0, line.find('#')));
  if (line.empty()) return Status::Ok();
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return BadLine(number, "no \"=\"");
  const std::string name(Trim(line.substr(0, equals)));
  const std::string text(Trim(line.substr(equals + 1)));
  uint32_t* field = ThresholdField(name, options);
  if (field == nullptr) {
    return BadLine(number, "\"" + name + "\" is none of: " + ThresholdNames());
  }
  char* end = nullptr;
  const unsigned long long value = strtoull(text.c_str(), &end, 10);
  const bool number_read = !text.empty() && text[0] >= '0' && text[0] <= '9' && *end == '\0';
  if (!number_read || value == 0 || value > UINT32_MAX) {
    return BadLine(number, "\"" + text + "\" is no number above 0");
  }
  *field = static_cast<uint32_t>(value);
  return Status::Ok();
}

}  // namespace

Result<jankbox_options> ParseConfig(std::string_view text) {
  jankbox_options options{};
  options.size = sizeof(options);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Status status = ParseLine(text.substr(0, end), number, &options);
    if (!status.ok()) return status;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return options;
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
