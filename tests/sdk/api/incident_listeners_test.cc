#include "sdk/api/incident_listeners.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "jankbox/incident.h"

namespace jankbox {
namespace {

Report Incident(const std::string& fingerprint) {
  Report report;
  report.id = NewUuid(1);
  report.kind = ReportKind::kJank;
  report.fingerprint = fingerprint;
  report.duration_ns = kNsPerSecond;
  return report;
}

bool Ask(Report* report, const std::string& place = "") {
  return IncidentListeners::Get().Ask({place}, report);
}

// Listeners are process-wide: each test removes its own.
int Veto(const jankbox_incident*, void* calls) {
  ++*static_cast<int*>(calls);
  return JANKBOX_INCIDENT_VETO;
}

TEST(IncidentListeners, OneVetoIsEnough) {
  std::vector<std::string> seen;
  const IncidentListener watching([&seen](const jankbox_incident& incident) {
    seen.push_back(incident.fingerprint);
    return true;
  });
  int calls = 0;
  ASSERT_EQ(jankbox_add_listener(&Veto, &calls), JANKBOX_OK);
  ASSERT_EQ(jankbox_add_listener(&Veto, &calls), JANKBOX_OK);  // the same pair: once
  Report report = Incident("a");
  EXPECT_FALSE(Ask(&report));
  EXPECT_EQ(calls, 1);
  jankbox_remove_listener(&Veto, &calls);
  EXPECT_TRUE(Ask(&report));
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "a"}));
}

TEST(IncidentListeners, AttributesComeFromListenersOnlyAndAreBounded) {
  const jankbox_incident* kept = nullptr;
  const IncidentListener adding([&kept](const jankbox_incident& incident) {
    kept = &incident;
    EXPECT_STREQ(incident.place, "Feed::Bind");
    EXPECT_EQ(jankbox_incident_attribute(&incident, "cart", "empty"), JANKBOX_OK);
    EXPECT_EQ(jankbox_incident_attribute(&incident, "cart", "full"), JANKBOX_OK);
    EXPECT_EQ(jankbox_incident_attribute(&incident, std::string(65, 'k').c_str(), ""),
              JANKBOX_INVALID_ARGUMENT);
    EXPECT_EQ(jankbox_incident_attribute(&incident, "k", std::string(257, 'v').c_str()),
              JANKBOX_INVALID_ARGUMENT);
    EXPECT_EQ(jankbox_incident_attribute(&incident, "", "v"), JANKBOX_INVALID_ARGUMENT);
    int taken = 0;
    for (int i = 0; i < 100; ++i) {
      const std::string key = std::to_string(i);
      taken += jankbox_incident_attribute(&incident, key.c_str(), "v") == JANKBOX_OK ? 1 : 0;
    }
    EXPECT_EQ(taken, 31);
    EXPECT_EQ(jankbox_incident_attribute(&incident, "more", "v"), JANKBOX_NO_SPACE);
    return true;
  });
  Report report = Incident("a");
  EXPECT_TRUE(Ask(&report, "Feed::Bind"));
  ASSERT_EQ(report.attributes.size(), 32u);
  EXPECT_EQ(report.attributes[0].value, "full");
  EXPECT_EQ(jankbox_incident_attribute(kept, "late", "v"), JANKBOX_INVALID_ARGUMENT);
}

TEST(IncidentListeners, RemovingAListenerWaitsForItsCallOnAnotherThread) {
  std::atomic<bool> entered{false}, leave{false}, removed{false};
  auto slow = std::make_unique<IncidentListener>([&](const jankbox_incident&) {
    entered = true;
    while (!leave) std::this_thread::yield();
    EXPECT_FALSE(removed);
    return true;
  });
  std::thread sealing([] {
    Report report = Incident("a");
    EXPECT_TRUE(Ask(&report));
  });
  while (!entered) std::this_thread::yield();
  std::thread removing([&] {
    slow.reset();
    removed = true;
  });
  // The lock is free meanwhile: others may come and go.
  const IncidentListener other([](const jankbox_incident&) { return true; });
  leave = true;
  removing.join();
  sealing.join();
}

TEST(IncidentListeners, ListenerMayAddAnother) {
  int added_calls = 0;
  std::unique_ptr<IncidentListener> added;
  const IncidentListener adding([&](const jankbox_incident&) {
    if (added != nullptr) return true;
    added = std::make_unique<IncidentListener>([&](const jankbox_incident&) {
      ++added_calls;
      return true;
    });
    return true;
  });
  Report report = Incident("a");
  EXPECT_TRUE(Ask(&report));
  report = Incident("b");
  EXPECT_TRUE(Ask(&report));
  EXPECT_EQ(added_calls, 2);
}

TEST(IncidentListeners, ListenerMayRemoveItself) {
  struct Once {
    static int Call(const jankbox_incident*, void* context) {
      ++*static_cast<int*>(context);
      jankbox_remove_listener(&Call, context);
      return JANKBOX_INCIDENT_REPORT;
    }
  };
  int calls = 0;
  ASSERT_EQ(jankbox_add_listener(&Once::Call, &calls), JANKBOX_OK);
  Report report = Incident("a");
  EXPECT_TRUE(Ask(&report));
  EXPECT_TRUE(Ask(&report));
  EXPECT_EQ(calls, 1);
}

TEST(IncidentListeners, ForkedChildHasNoCallOfItsParents) {
  struct Blocking {
    std::atomic<bool> called{false};
    std::atomic<bool> goes_on{false};
    static int Call(const jankbox_incident*, void* context) {
      auto* self = static_cast<Blocking*>(context);
      self->called = true;
      while (!self->goes_on) usleep(1000);
      return JANKBOX_INCIDENT_REPORT;
    }
  };
  Blocking blocking;
  ASSERT_EQ(jankbox_add_listener(&Blocking::Call, &blocking), JANKBOX_OK);
  std::thread asking([] {
    Report report = Incident("a");
    Ask(&report);
  });
  while (!blocking.called) usleep(1000);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    IncidentListeners::Get().OnForkInChild();
    jankbox_remove_listener(&Blocking::Call, &blocking);
    Report report = Incident("b");
    _exit(Ask(&report) ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  blocking.goes_on = true;
  asking.join();
  jankbox_remove_listener(&Blocking::Call, &blocking);
}

}  // namespace
}  // namespace jankbox
