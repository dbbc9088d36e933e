#include "tools/doctor/doctor_command.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/reports/report_folder.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"

namespace jankbox::tools {
namespace {

const char* StateName(CheckState state) {
  switch (state) {
    case CheckState::kOk:
      return "ok";
    case CheckState::kLimited:
      return "limited";
    case CheckState::kMissing:
      break;
  }
  return "missing";
}

Colour StateColour(CheckState state) {
  if (state == CheckState::kOk) return Colour::kGreen;
  return state == CheckState::kLimited ? Colour::kYellow : Colour::kRed;
}

bool IsFatal(const MachineCheck& check) {
  return check.essential && check.state == CheckState::kMissing;
}

nlohmann::json ChecksToJson(const std::vector<MachineCheck>& checks, const std::string& directory) {
  nlohmann::json list = nlohmann::json::array();
  for (const MachineCheck& check : checks) {
    list.push_back({{"name", check.name},
                    {"state", StateName(check.state)},
                    {"essential", check.essential},
                    {"found", check.found},
                    {"why", check.why},
                    {"fix", check.fix},
                    {"mend", check.fix}});
  }
  const bool ok = std::none_of(checks.begin(), checks.end(), IsFatal);
  return {{"ok", ok}, {"dir", directory}, {"checks", list}};
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string Verdict(const TextStyle& style, const std::vector<MachineCheck>& checks) {
  const auto fatal = std::count_if(checks.begin(), checks.end(), IsFatal);
  const auto flawed = std::count_if(checks.begin(), checks.end(), [](const MachineCheck& check) {
    return check.state != CheckState::kOk;
  });
  if (fatal > 0) {
    return Paint(style, Colour::kRed, "jankbox run cannot record here") +
           ": fix what is missing first.\n";
  }
  if (flawed == 0) return Paint(style, Colour::kGreen, "Everything works") + ".\n";
  return Paint(style, Colour::kGreen, "Everything essential works") + "; " +
         std::to_string(flawed) + (flawed == 1 ? " check is" : " checks are") + " limited.\n";
}

}  // namespace

std::string RenderChecks(const TextStyle& style, const std::vector<MachineCheck>& checks,
                         bool verbose) {
  constexpr size_t kStateWidth = 9;
  size_t name_width = 0;
  for (const MachineCheck& check : checks) name_width = std::max(name_width, check.name.size() + 2);
  const std::string indent(kStateWidth, ' ');
  std::string text;
  for (const MachineCheck& check : checks) {
    text += Paint(style, StateColour(check.state), Padded(StateName(check.state), kStateWidth)) +
            Paint(style, Colour::kBold, Padded(check.name, name_width)) + Printable(check.found) +
            "\n";
    const bool flawed = check.state != CheckState::kOk;
    if (flawed || verbose) {
      text += Paint(style, Colour::kDim, indent + Padded("why", name_width) + check.why) + "\n";
    }
    if (flawed) text += indent + Padded("fix", name_width) + check.fix + "\n";
  }
  return text + "\n" + Verdict(style, checks);
}

int RunDoctor(const DoctorOptions& options) {
  const std::string directory =
      options.directory.empty() ? DefaultReportDirectory() : options.directory;
  std::vector<MachineCheck> checks = CheckSystem();
  for (auto&& more : {CheckSampling(), CheckLibraries(), CheckStorage(directory)}) {
    checks.insert(checks.end(), more.begin(), more.end());
  }
  const bool ok = std::none_of(checks.begin(), checks.end(), IsFatal);
  const std::string text =
      options.json ? JsonText(ChecksToJson(checks, directory))
                   : RenderChecks(DetectTextStyle(STDOUT_FILENO), checks, options.verbose);
  return WriteText(STDOUT_FILENO, text) && ok ? kExitOk : kExitFailed;
}

}  // namespace jankbox::tools
