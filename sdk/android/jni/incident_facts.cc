#include "sdk/android/jni/incident_facts.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/mutex.h"

namespace jankbox {
namespace {

constexpr size_t kMaxValueBytes = 256;  // of an attribute

void Add(const jankbox_incident* incident, const char* key, const std::string& value) {
  jankbox_incident_attribute(incident, key, value.substr(0, kMaxValueBytes).c_str());
}

}  // namespace

IncidentFacts& IncidentFacts::Get() {
  return MakeOnce([] { return new IncidentFacts(); });
}

void IncidentFacts::NoteStack(OverdueStack stack) {
  MutexLock lock(&mutex_);
  const auto same = std::find_if(
      stacks_.begin(), stacks_.end(),
      [&stack](const OverdueStack& known) { return known.sequence == stack.sequence; });
  if (same != stacks_.end()) {
    *same = std::move(stack);
    return;
  }
  stacks_.push_back(std::move(stack));
  if (stacks_.size() > kKept) stacks_.pop_front();
}

void IncidentFacts::NoteLastExit(std::vector<std::string> keys_and_values) {
  MutexLock lock(&mutex_);
  last_exit_ = std::move(keys_and_values);
}

void IncidentFacts::NoteFrameJank(const FrameJank& frame) {
  MutexLock lock(&mutex_);
  frame_jank_.Note(frame);
}

void IncidentFacts::Listen() { jankbox_add_listener(&IncidentFacts::OnIncident, this); }

void IncidentFacts::StopListening() { jankbox_remove_listener(&IncidentFacts::OnIncident, this); }

int IncidentFacts::OnIncident(const jankbox_incident* incident, void* self) {
  static_cast<IncidentFacts*>(self)->AddAll(incident);
  return JANKBOX_INCIDENT_REPORT;
}

void IncidentFacts::AddAll(const jankbox_incident* incident) {
  MutexLock lock(&mutex_);
  AddStack(incident);
  if (!frame_jank_.empty()) {
    Add(incident, "frame_jank", frame_jank_.Counts());
    const std::string janky = frame_jank_.Janky(kMaxValueBytes);
    if (!janky.empty()) Add(incident, "frame_jank_last", janky);
  }
  if (incident->pid != getpid()) AddLastExit(incident);
}

// If it is the end of that process.
void IncidentFacts::AddLastExit(const jankbox_incident* incident) const {
  const std::string pid = std::to_string(incident->pid);
  bool same = false;
  for (size_t i = 0; i + 1 < last_exit_.size(); i += 2) {
    same = same || (last_exit_[i] == "exit_pid" && last_exit_[i + 1] == pid);
  }
  for (size_t i = 0; same && i + 1 < last_exit_.size(); i += 2) {
    Add(incident, last_exit_[i].c_str(), last_exit_[i + 1]);
  }
}

void IncidentFacts::AddStack(const jankbox_incident* incident) const {
  const auto found =
      std::find_if(stacks_.begin(), stacks_.end(), [incident](const OverdueStack& stack) {
        // Another message of that name may have come before this report, and may have a stack.
        const bool within = stack.taken_ns >= incident->begin_ns &&
                            (incident->ongoing != 0 || stack.taken_ns <= incident->end_ns);
        return within && stack.tid == incident->tid && stack.message == incident->what;
      });
  if (found == stacks_.end()) return;
  char text[64];
  snprintf(text, sizeof(text), "in %u of %u samples", found->seen, found->samples);
  Add(incident, "java_stack", text);
  if (!found->wait.empty()) Add(incident, "java_wait", found->wait);
  for (size_t i = 0; i < std::min(found->frames.size(), kMaxFrames); ++i) {
    snprintf(text, sizeof(text), "java_stack_%02zu", i);
    Add(incident, text, found->frames[i]);
  }
}

}  // namespace jankbox
