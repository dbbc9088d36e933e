#include "diagnosis/seal/report_identity.h"

#include "base/short_key.h"
#include "base/text/private_text.h"
#include "diagnosis/seal/message_name.h"

namespace jankbox {
namespace {

// What a developer should look at first: the app's own function, else the message, else as much as
// is known of the stack.
std::string WhereOf(const Blame& blame, const std::string& what) {
  if (!blame.place.empty()) return blame.place;
  if (!what.empty()) return what;
  for (const ReportFrame& frame : blame.frames) {
    if (!frame.function.empty()) return frame.function;
  }
  return blame.frames.empty() ? "" : blame.frames.front().module;
}

}  // namespace

void SetIdentity(const Blame& blame, const char* cause, Report* report) {
  // The app knows what it found; the path is that of the calls which happened to be there. Of an
  // end, the UI thread need not be the one that crashed.
  const bool by_name = report->kind == ReportKind::kCustom || report->kind == ReportKind::kExit;
  const bool by_stack = !blame.key_path.empty() && !by_name;
  ReportIdentity& identity = report->identity;
  identity.exact_version = kExactKeyVersion;
  identity.app = report->app_name.empty() ? report->process : report->app_name;
  identity.cause = cause;
  identity.message =
      NormalMessageName(TextsAreCleaned() ? CleanedText(report->what) : report->what);
  identity.basis = by_stack ? "stack" : "message";
  identity.blamed_function = WhereOf(blame, report->what);
  identity.own_frames = blame.own;
  std::string inputs = "exact " + std::to_string(kExactKeyVersion);
  for (const std::string* part :
       {&identity.app, &identity.cause, &identity.message, &identity.basis}) {
    inputs += '\0' + *part;
  }
  if (by_stack) {
    for (const std::string& function : blame.key_path) inputs += '\0' + function;
  }
  report->fingerprint = ShortKey(inputs);
  if (by_stack || by_name || report->tid == 0) return;
  report->notes.push_back("No stack shows a function of the app: every '" + identity.cause +
                          "' of this message has the same fingerprint, whatever its function.");
}

}  // namespace jankbox
