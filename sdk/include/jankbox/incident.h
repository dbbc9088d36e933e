/* Incidents, told to the app itself: a listener hears of each one before its report is written, may
 * refuse it, and may add attributes. C; the class at the end is for C++.
 *
 * Listeners run on Jankbox's sealing thread, one at a time, at a low priority: what they take
 * delays reports, not the app. They must not call jankbox_start, jankbox_stop or jankbox_flush.
 * jankbox_snapshot is allowed. */
#ifndef JANKBOX_INCIDENT_H_
#define JANKBOX_INCIDENT_H_

#include "jankbox/jankbox.h"

#ifdef __cplusplus
#include <functional>
#include <utility>

extern "C" {
#endif

/* Kinds, as in reports. Permanent. */
enum {
  JANKBOX_KIND_SLOW_MESSAGE = 1,
  JANKBOX_KIND_SLOW_METHOD = 2,
  JANKBOX_KIND_JANK = 3,
  JANKBOX_KIND_STARTUP = 4,
  JANKBOX_KIND_ANR = 5,
  JANKBOX_KIND_RECOVERED = 6,
  JANKBOX_KIND_MANUAL = 7,
  JANKBOX_KIND_LAG = 8,
  JANKBOX_KIND_CUSTOM = 9, /* jankbox_report_incident() */
  JANKBOX_KIND_INPUT_LATENCY = 10
};

/* One revision of an incident. Texts live until the listener returns; none is NULL. */
typedef struct jankbox_incident {
  uint32_t size;  /* sizeof(jankbox_incident) of the library: fields beyond it are not there */
  uint32_t kind;  /* JANKBOX_KIND_… */
  const char* id; /* the same for all revisions */
  uint32_t revision;
  int32_t ongoing; /* 1: the thread is still blocked */
  uint64_t duration_ns;
  int32_t tid; /* 0: no thread in particular */
  uint32_t reserved;
  const char* thread;      /* its name */
  const char* what;        /* the dispatch, the frame, or the reason */
  const char* summary;     /* the verdict in a sentence */
  const char* place;       /* the function to look at; "" where none is known */
  const char* fingerprint; /* 32 hexadecimal digits: equal for the same cause */
  uint64_t begin_ns;       /* CLOCK_MONOTONIC, as the next */
  uint64_t end_ns; /* so far, where it is ongoing; duration_ns leaves out stops and sleeps */
} jankbox_incident;

/* What a listener returns. Several listeners: one veto is enough. */
enum {
  JANKBOX_INCIDENT_REPORT = 0,
  JANKBOX_INCIDENT_VETO = 1 /* no report is written, so that none can be sent; it is counted */
};

typedef int (*jankbox_incident_listener)(const jankbox_incident* incident, void* context);

/* Adds a listener, at most 16. Before or after jankbox_start; lasts until it is removed. Returns 1,
 * or 0 where there is no room. The same pair may be added once only. */
JANKBOX_API int jankbox_add_listener(jankbox_incident_listener listener, void* context);

/* Removes it; when this returns, it does not run and will not. */
JANKBOX_API void jankbox_remove_listener(jankbox_incident_listener listener, void* context);

/* Inside a listener: adds a fact to the report, at most 32 of them, 64 bytes of key and 256 of
 * value. The same key again replaces it. Returns 1 where it was taken. */
JANKBOX_API int jankbox_incident_attribute(const jankbox_incident* incident, const char* key,
                                           const char* value);

/* Reports something that the app itself found too slow, with the window up to now: an incident of
 * kind "custom" of the calling thread, from `begin_ns` to `end_ns` (CLOCK_MONOTONIC). Returns at
 * once: 0, JANKBOX_INVALID_ARGUMENT or JANKBOX_NOT_RUNNING. Allocates. */
JANKBOX_API int jankbox_report_incident(const char* what, uint64_t begin_ns, uint64_t end_ns);

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
