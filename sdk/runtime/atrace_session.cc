#include "sdk/runtime/atrace_session.h"

#include <sys/prctl.h>

#include "base/file.h"
#include "base/files/fd_table.h"
#include "base/last_error.h"
#include "tracer/atrace/atrace_categories.h"
#include "tracer/atrace/atrace_symbols.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

std::string FirstArgument() {
  const std::string all = ReadProcFile("/proc/self/cmdline", 4096);
  return all.substr(0, all.find('\0'));
}

// Android lets the app's own user look into a process if the app says that it is debuggable or
// profileable; whether it says so cannot be asked from here.
bool IsDebuggable() { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1; }

const char* StateText(const AtraceControl& control) {
  if (control.not_ready()) return "not ready";
  if (control.tags() == UINT64_MAX) return "in use by another tool";
  return control.has_marker() ? "on" : "on without marker file";
}

}  // namespace

AtraceSession::AtraceSession(const Options& options)
    : tags_(options.markers == MarkerMode::kOff ? std::nullopt : options.atrace_tags),
      load_library_(options.atrace_library),
      properties_(options.properties_file) {}

AtraceSession::Tags AtraceSession::Compute() const {
  const std::string first_argument = FirstArgument();
  const uint64_t by_properties = ComputeAtraceTags({.properties = &properties_.values(),
                                                    .cmdline = first_argument,
                                                    .app_debuggable = IsDebuggable()});
  const uint64_t wanted = *tags_ | kTagAlways;
  if (PropertySource::LibraryReadsThem()) return {wanted, by_properties};
  return {wanted | by_properties, 0};
}

bool AtraceSession::RefreshProperties() {
  const Result<bool> changed = properties_.Refresh();
  if (!changed.ok() && !properties_failed_) {
    SetLastError("properties are unchanged: " + changed.status().message());
  }
  properties_failed_ = !changed.ok();
  return changed.ok() && changed.value();
}

void AtraceSession::FollowModules() {
  if (!tags_ || found_) return;
  Result<AtraceSymbols> symbols = search_.Find(load_library_);
  if (!symbols.ok()) return;  // most programs have none
  found_ = true;
  if (FdTable::OfThisThread() != FdTable::kOfTheApp) {
    // They open the marker file, which must be one of the app's. Its own first marker calls them.
    symbols->setup = nullptr;
    symbols->refresh = nullptr;
  }
  RefreshProperties();
  const Tags tags = Compute();
  MutexLock lock(&mutex_);
  if (stopped_) return;
  control_.emplace(symbols.value());
  state_.start_ns = control_->Start(tags.wanted, tags.library);
  NoteState();
}

void AtraceSession::Look(uint64_t now_ns) {
  if (!found_) return;
  const bool changed = RefreshProperties();
  const Tags tags = changed ? Compute() : Tags{};
  MutexLock lock(&mutex_);
  if (stopped_) return;
  if (changed) {
    control_->Update(tags.wanted, tags.library, now_ns);
  } else {
    control_->Look(now_ns);
  }
  NoteState();
}

void AtraceSession::Stop() {
  MutexLock lock(&mutex_);
  stopped_ = true;
  if (control_) control_->Stop();
}

void AtraceSession::NoteState() {
  state_.state = StateText(*control_);
  state_.tags = control_->tags();
  state_.added_tags = control_->added();
  state_.categories = AtraceTagNames(state_.tags);
  state_.library = BaseName(control_->symbols().library);
}

ReportAtrace AtraceSession::state() const {
  MutexLock lock(&mutex_);
  return state_;
}

}  // namespace jankbox
