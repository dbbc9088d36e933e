/* Listeners for incidents, and incidents that the app reports itself. Before Jankbox writes a
 * report it calls each listener, which may suppress the report or add attributes to it. C; the
 * class at the end is for C++.
 *
 * Listeners run on a thread of Jankbox's, on Linux one that the first of them makes, one at a time:
 * a slow listener delays reports, not the app. A listener may call jankbox_snapshot() and may add
 * or remove listeners; it must not call jankbox_start(), jankbox_stop() or jankbox_flush(), which
 * wait for it. */
#ifndef JANKBOX_INCIDENT_H_
#define JANKBOX_INCIDENT_H_

#include "jankbox/jankbox.h"

#ifdef __cplusplus
#include <functional>
#include <utility>

extern "C" {
#endif

/* Kinds of incidents, with the numbers that reports have. Permanent. The thresholds are fields of
 * jankbox_options. */
enum {
  /* A dispatch took slow_message_ms or longer. */
  JANKBOX_KIND_SLOW_MESSAGE = 1,
  /* A recorded call outside of any dispatch took slow_method_ms or longer. */
  JANKBOX_KIND_SLOW_METHOD = 2,
  /* A frame was late, by frame_policy. */
  JANKBOX_KIND_JANK = 3,
  /* The app took cold_start_ms or warm_start_ms to start. */
  JANKBOX_KIND_STARTUP = 4,
  /* A thread did not respond for anr_ms, or the system sent SIGQUIT because of that. */
  JANKBOX_KIND_ANR = 5,
  /* An earlier run of the app ended within a block that no report had been written of. */
  JANKBOX_KIND_RECOVERED = 6,
  /* jankbox_snapshot(). */
  JANKBOX_KIND_MANUAL = 7,
  /* A dispatch took lag_ms or longer. */
  JANKBOX_KIND_LAG = 8,
  /* jankbox_report_incident(). */
  JANKBOX_KIND_CUSTOM = 9,
  /* An input event waited input_latency_ms or longer. */
  JANKBOX_KIND_INPUT_LATENCY = 10,
  /* An earlier run of the app ended without closing its ring: it crashed or was killed. */
  JANKBOX_KIND_EXIT = 11
};

/* One revision of an incident: the same block may first be a slow message and later an ANR, and is
 * then reported again, with the same id and a higher revision. Texts are never NULL and are valid
 * until the listener returns. */
typedef struct jankbox_incident {
  /* sizeof(jankbox_incident) in the library; do not read fields beyond it. */
  uint32_t size;
  /* JANKBOX_KIND_… */
  uint32_t kind;
  /* A UUID, the same in all revisions and in the file name of the report. */
  const char* id;
  /* 1, 2, … */
  uint32_t revision;
  /* 1 if the thread is still blocked. */
  int32_t ongoing;
  /* From begin_ns to end_ns, less the time in which the process or the machine was suspended. */
  uint64_t duration_ns;
  /* The thread id (gettid); 0 if the incident belongs to no single thread. */
  int32_t tid;
  /* The process; another one than the caller's if the report is about an earlier run of the app.
   * 0 from a library of 0.1. */
  int32_t pid;
  /* The name of that thread. */
  const char* thread;
  /* The name of the dispatch, frame or method, or the reason that the app gave. */
  const char* what;
  /* The verdict in one English sentence. */
  const char* summary;
  /* The blamed function; "" if it is not known. */
  const char* place;
  /* 32 hexadecimal digits, equal for incidents of the same function, cause and message in this
   * build of the app (docs/identity.md). */
  const char* fingerprint;
  /* CLOCK_MONOTONIC. If `ongoing`, the end is the time up to now. */
  uint64_t begin_ns;
  uint64_t end_ns;
} jankbox_incident;

/* Results of a listener. One veto of several listeners is enough. */
enum {
  JANKBOX_INCIDENT_REPORT = 0,
  /* No report is written or uploaded; the next report with the same fingerprint counts it. */
  JANKBOX_INCIDENT_VETO = 1
};

/* Called once for each revision, also for recovered ones. Must not throw. */
typedef int (*jankbox_incident_listener)(const jankbox_incident* incident, void* context);

/* Adds a listener, before or after jankbox_start(); it stays until it is removed. `context` is
 * passed to each call. If the same pair was added before, nothing changes. Errors:
 * JANKBOX_INVALID_ARGUMENT if `listener` is NULL; JANKBOX_NO_SPACE if there are 16. */
JANKBOX_API jankbox_status jankbox_add_listener(jankbox_incident_listener listener, void* context);

/* Removes a listener. After this returns, Jankbox does not call it; if it is running on another
 * thread, waits until it returns. A pair that was not added is ignored. */
JANKBOX_API void jankbox_remove_listener(jankbox_incident_listener listener, void* context);

/* Adds an attribute to the report of `incident`, from inside a listener. The same key replaces the
 * value. A key has 1 to 64 bytes, a value at most 256.
 * Errors: JANKBOX_INVALID_ARGUMENT if a text is NULL or too long, or no listener is running for
 * `incident`; JANKBOX_NO_SPACE if the report has 32 attributes. */
JANKBOX_API jankbox_status jankbox_incident_attribute(const jankbox_incident* incident,
                                                      const char* key, const char* value);

/* Reports that the app itself found something too slow: an incident of kind "custom" of the calling
 * thread, from `begin_ns` to `end_ns`, named `what` (NULL: ""). The report is written after this
 * returns; jankbox_flush() waits for it. Allocates.
 * Errors: JANKBOX_INVALID_ARGUMENT if the end is before the start or in the future;
 * JANKBOX_NOT_RUNNING; JANKBOX_BUSY if 48 reports are pending. */
JANKBOX_API jankbox_status jankbox_report_incident(const char* what, uint64_t begin_ns,
                                                   uint64_t end_ns);

#ifdef __cplusplus
}

namespace jankbox {

/* Listens as long as it lives: calls a function, which the constructor takes, so that there is
 * never a call to an object that is not complete yet or not any more. Not to be derived from. */
class IncidentListener final {
 public:
  /* Returns false for a veto. Must not throw. */
  using Function = std::function<bool(const jankbox_incident& incident)>;

  explicit IncidentListener(Function on_incident) : on_incident_(std::move(on_incident)) {
    jankbox_add_listener(&Call, this);
  }
  /* No call comes after it. */
  ~IncidentListener() { jankbox_remove_listener(&Call, this); }
  IncidentListener(const IncidentListener&) = delete;
  IncidentListener& operator=(const IncidentListener&) = delete;

 private:
  static int Call(const jankbox_incident* incident, void* context) {
    return static_cast<IncidentListener*>(context)->on_incident_(*incident)
               ? JANKBOX_INCIDENT_REPORT
               : JANKBOX_INCIDENT_VETO;
  }

  const Function on_incident_;
};

}  // namespace jankbox
#endif

#endif /* JANKBOX_INCIDENT_H_ */
