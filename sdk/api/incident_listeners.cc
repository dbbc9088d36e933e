#include "sdk/api/incident_listeners.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/mutex.h"
#include "base/own_thread.h"
#include "sdk/api/app_thread.h"

namespace jankbox {

IncidentListeners& IncidentListeners::Get() {
  return MakeOnce([] { return new IncidentListeners(); });
}

Status IncidentListeners::Add(jankbox_incident_listener listener, void* context) {
  if (listener == nullptr) return Status(StatusCode::kInvalidArgument, "the listener is NULL");
  MutexLock lock(&mutex_);
  Entry* free = nullptr;
  for (Entry& entry : entries_) {
    if (entry.listener == listener && entry.context == context) return Status::Ok();
    if (entry.listener == nullptr && free == nullptr) free = &entry;
  }
  if (free == nullptr) return Status(StatusCode::kNoSpace, "there are 16 listeners already");
  *free = {listener, context};
  AppThread::ForReports().Expect();
  return Status::Ok();
}

void IncidentListeners::Remove(jankbox_incident_listener listener, void* context) {
  if (listener == nullptr) return;
  const Entry removed = {listener, context};
  MutexLock lock(&mutex_);
  for (Entry& entry : entries_) {
    if (entry == removed) entry = {};
  }
  // A listener that removes itself cannot wait for its own end.
  while (called_ == removed && calling_tid_ != CurrentTid()) call_ended_.Wait(&mutex_);
}

IncidentListeners::Entry IncidentListeners::BeginCall(size_t index) {
  MutexLock lock(&mutex_);
  called_ = entries_[index];
  calling_tid_ = CurrentTid();
  return called_;
}

bool IncidentListeners::empty() {
  MutexLock lock(&mutex_);
  return std::all_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.listener == nullptr; });
}

void IncidentListeners::EndCall() {
  MutexLock lock(&mutex_);
  called_ = {};
  call_ended_.NotifyAll();
}

void IncidentListeners::OnForkInChild() {
  mutex_.AssertOwned();  // by nobody who is here
  new (&asking_) Mutex();
  new (&mutex_) Mutex();
  new (&call_ended_) CondVar();
  called_ = {};
  asked_ = nullptr;
  report_ = nullptr;
}

void IncidentListeners::Announce(const jankbox_incident* incident, Report* report) {
  MutexLock lock(&mutex_);
  asked_ = incident;
  report_ = report;
}

bool IncidentListeners::Ask(const ReportedIncident& reported, Report* report) {
  if (empty()) return true;
  bool wanted = true;
  AppThread::ForReports().Run([&] { wanted = AskHere(reported, report); });
  return wanted;
}

bool IncidentListeners::AskHere(const ReportedIncident& reported, Report* report) {
  jankbox_incident incident = {};
  incident.size = sizeof(incident);
  incident.kind = static_cast<uint32_t>(report->kind);
  incident.id = report->id.c_str();
  incident.revision = report->revision;
  incident.ongoing = report->ongoing ? 1 : 0;
  incident.duration_ns = report->duration_ns;
  incident.tid = report->tid;
  incident.pid = report->pid;
  incident.thread = report->thread.c_str();
  incident.what = report->what.c_str();
  incident.summary = report->verdict.summary.c_str();
  incident.place = reported.place.c_str();
  incident.fingerprint = report->fingerprint.c_str();
  incident.begin_ns = reported.begin_ns;
  incident.end_ns = reported.end_ns;
  bool wanted = true;
  MutexLock asking(&asking_);
  Announce(&incident, report);
  for (size_t i = 0; i < kMaxListeners; ++i) {
    const Entry entry = BeginCall(i);
    if (entry.listener != nullptr) {
      if (entry.listener(&incident, entry.context) == JANKBOX_INCIDENT_VETO) wanted = false;
    }
    EndCall();
  }
  Announce(nullptr, nullptr);
  return wanted;
}

Status IncidentListeners::AddAttribute(const jankbox_incident* incident, const char* key,
                                       const char* value) {
  if (incident == nullptr || key == nullptr || *key == '\0' || value == nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  "an attribute needs an incident, a key and a value");
  }
  if (strlen(key) > kMaxKeyBytes || strlen(value) > kMaxValueBytes) {
    return Status(StatusCode::kInvalidArgument, std::string("the attribute ") + key +
                                                    " is too long: its key may have 64 bytes, its "
                                                    "value 256");
  }
  MutexLock lock(&mutex_);
  if (incident != asked_) {
    return Status(StatusCode::kInvalidArgument,
                  "an attribute is added by a listener while it runs, to its own incident");
  }
  std::vector<ReportAttribute>& attributes = report_->attributes;
  const auto same =
      std::find_if(attributes.begin(), attributes.end(),
                   [key](const ReportAttribute& attribute) { return attribute.key == key; });
  if (same != attributes.end()) {
    same->value = value;
    return Status::Ok();
  }
  if (attributes.size() >= kMaxAttributes) {
    return Status(StatusCode::kNoSpace, "the incident has 32 attributes already");
  }
  attributes.push_back({key, value});
  return Status::Ok();
}

}  // namespace jankbox
