#include "tools/ring/clean_command.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "diagnosis/seal/recovery.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

std::string Rings(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " ring" : " rings");
}

std::string Text(const CollectedRings& collected) {
  const uint64_t gone = collected.reports.size() + collected.removed + collected.dropped;
  char freed[32];
  snprintf(freed, sizeof(freed), "%.1f MiB", static_cast<double>(collected.bytes) / (1 << 20));
  std::string text = "removed " + Rings(gone) + " of dead processes" +
                     (gone != 0 ? " (" + std::string(freed) + ")" : "") + "\n";
  for (const std::string& report : collected.reports) {
    text += "wrote " + Printable(report) + ", about a process that died\n";
  }
  if (collected.dropped != 0) {
    text += Rings(collected.dropped) +
            " among them could not be recovered for 7 days: the folder of their reports is gone\n";
  }
  if (collected.kept != 0) {
    text += "kept " + Rings(collected.kept) +
            " of dead processes whose reports folder is gone or not writable, for 7 days\n";
  }
  if (collected.living != 0) text += Rings(collected.living) + " in use\n";
  return text;
}

}  // namespace

int RunClean(const CleanOptions& options) {
  const CollectedRings collected = CollectDeadRings();
  const nlohmann::json json = {{"reports", collected.reports}, {"removed", collected.removed},
                               {"dropped", collected.dropped}, {"bytes", collected.bytes},
                               {"kept", collected.kept},       {"in_use", collected.living}};
  return WriteText(STDOUT_FILENO, options.json ? JsonText(json) : Text(collected)) ? kExitOk
                                                                                   : kExitFailed;
}

}  // namespace jankbox::tools
