#include "tools/adb/adb_client.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/clock.h"

namespace jankbox::tools {
namespace {

// exec-out, and the service after it, came with adb 1.0.32 and Android 5.0. What came later (exit
// statuses and a stderr of its own: "shell v2", Android 7) is done without.
constexpr int kLeastVersion = 32;

// After the output of each script: its exit status, and that nothing is missing.
constexpr char kTrailer[] = "\njankbox-end:";
constexpr size_t kTrailerRoom = 32;

std::string LastLine(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  const size_t newline = text.rfind('\n');
  if (newline != text.npos) text.remove_prefix(newline + 1);
  return std::string(text);
}

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// "adb: error: …" and "error: …" without that.
std::string WithoutPrefix(std::string line) {
  for (const std::string_view prefix : {"adb: ", "error: "}) {
    if (line.rfind(prefix, 0) == 0) line.erase(0, prefix.size());
  }
  return line;
}

Status Unavailable(std::string message) {
  return Status(StatusCode::kUnavailable, std::move(message));
}

// Takes the trailer off; nullopt if it is not there.
std::optional<ShellOutput> SplitTrailer(std::string out) {
  const size_t at = out.rfind(kTrailer);
  if (at == std::string::npos || out.back() != '\n') return std::nullopt;
  char* end = nullptr;
  const char* digits = out.c_str() + at + sizeof(kTrailer) - 1;
  const long status = strtol(digits, &end, 10);
  if (end == digits || end + 1 != out.c_str() + out.size()) return std::nullopt;
  out.resize(at);
  return ShellOutput{std::move(out), static_cast<int>(status)};
}

}  // namespace

AdbClient::AdbClient(std::string program, Interrupt interrupt, uint64_t patience_ns)
    : program_(std::move(program)), interrupt_(std::move(interrupt)), patience_ns_(patience_ns) {}

AdbClient AdbClient::Uninterrupted(uint64_t patience_ns) const {
  AdbClient client(program_, {}, patience_ns);
  client.device_ = device_;
  return client;
}

Result<std::string> AdbClient::Run(const std::vector<std::string>& arguments, size_t max_bytes,
                                   CapturedEnd* end) const {
  std::vector<std::string> argv = {program_};
  if (!device_.serial.empty()) argv.insert(argv.end(), {"-s", device_.serial});
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::string out;
  *end = RunCaptured(argv, patience_ns_, interrupt_, [&](std::string_view piece) {
    out.append(piece);
    return out.size() <= max_bytes + kTrailerRoom;
  });
  switch (end->how) {
    case CapturedEnd::How::kNotStarted:
      return end->status == ENOENT
                 ? Status(StatusCode::kNotFound,
                          program_ +
                              ": no such program: install adb (Debian: apt install adb), or name "
                              "it with --adb")
                 : Status::FromErrno(end->status, program_);
    case CapturedEnd::How::kInterrupted:
      return Status(StatusCode::kBusy, "interrupted");
    case CapturedEnd::How::kSilent:
      return Unavailable((device_.serial.empty() ? "adb" : device_.serial) +
                         " did not answer for " + std::to_string(patience_ns_ / kNsPerSecond) +
                         " s (try: adb kill-server, or plug the device in again)");
    case CapturedEnd::How::kRefused:
      return Status(StatusCode::kInvalidArgument,
                    "more than " + std::to_string(max_bytes) + " bytes came from the device");
    case CapturedEnd::How::kKilled:
      return Unavailable("adb was killed by signal " + std::to_string(end->status));
    case CapturedEnd::How::kExited:
      break;
  }
  return out;
}

Status AdbClient::CheckVersion() const {
  CapturedEnd end;
  const Result<std::string> out = Run({"version"}, 1 << 20, &end);
  if (!out.ok()) return out.status();
  int minor = 0;
  if (sscanf(out->c_str(), "Android Debug Bridge version 1.0.%d", &minor) != 1) {
    return Status(StatusCode::kUnsupported, program_ + " is not adb: `" + program_ +
                                                " version` says \"" +
                                                LastLine(out.value() + end.err) + "\"");
  }
  if (minor >= kLeastVersion) return Status::Ok();
  return Status(StatusCode::kUnsupported, program_ + " is version 1.0." + std::to_string(minor) +
                                              ", which has no exec-out: use 1.0.32 or newer");
}

Result<std::vector<AdbDevice>> AdbClient::Devices() const {
  CapturedEnd end;
  const Result<std::string> out = Run({"devices", "-l"}, 1 << 20, &end);
  if (!out.ok()) return out.status();
  if (end.status != 0) {
    return Unavailable("adb cannot reach its server: " + WithoutPrefix(LastLine(end.err)));
  }
  return ParseDevices(out.value());
}

Status AdbClient::Connect(const std::string& serial) {
  const Status version = CheckVersion();
  if (!version.ok()) return version;
  const Result<std::vector<AdbDevice>> devices = Devices();
  if (!devices.ok()) return devices.status();
  const char* preset = getenv("ANDROID_SERIAL");
  const Result<AdbDevice> chosen =
      ChooseDevice(devices.value(), serial.empty() && preset != nullptr ? preset : serial);
  if (chosen.ok()) device_ = chosen.value();
  return chosen.status();
}

Result<ShellOutput> AdbClient::Shell(const std::string& script, size_t max_bytes) const {
  CapturedEnd end;
  const Result<std::string> out =
      Run({"exec-out", "(" + script + ")\necho '" + kTrailer + "'$?"}, max_bytes, &end);
  if (!out.ok()) return out.status();
  std::optional<ShellOutput> output = SplitTrailer(std::move(out).value());
  if (!output || end.status != 0) return Lost(end);
  return std::move(*output);
}

// adb itself says least about the most frequent cause: the stream just ends.
Status AdbClient::Lost(const CapturedEnd& end) const {
  const std::string said = WithoutPrefix(LastLine(end.err));
  if (said == "closed") {
    return Status(StatusCode::kUnsupported,
                  device_.serial + " has no exec service: Android 5.0 or newer is required");
  }
  if (said.empty() || Contains(said, "not found") || Contains(said, "offline") ||
      Contains(said, "no devices")) {
    return Unavailable("the connection to " + device_.serial + " was lost" +
                       (said.empty() ? "" : " (adb: " + said + ")"));
  }
  return Unavailable("adb: " + said);
}

}  // namespace jankbox::tools
