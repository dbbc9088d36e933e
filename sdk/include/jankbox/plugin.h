/* A monitor of the app's own that lives with Jankbox's: it is told when recording starts and stops
 * and when the app comes to the front or leaves it, and reports through jankbox_report_incident().
 * C.
 *
 * Calls of one plugin never overlap. start and stop run on the thread that calls jankbox_start and
 * jankbox_stop, foreground on the one that calls jankbox_set_foreground: be brief. */
#ifndef JANKBOX_PLUGIN_H_
#define JANKBOX_PLUGIN_H_

#include "jankbox/jankbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Any function may be NULL. */
typedef struct jankbox_plugin {
  uint32_t size;    /* sizeof(jankbox_plugin) */
  const char* name; /* copied; in the notes of every report, so that a reader knows who was there */
  void* context;    /* given to every call */
  void (*init)(void* context);  /* once, as it is added */
  void (*start)(void* context); /* recording has begun; at once, where it already runs */
  void (*stop)(void* context);  /* recording is about to end */
  void (*foreground)(void* context, int in_front);
} jankbox_plugin;

/* Adds a plugin for the rest of the process, at most 16. Returns 0, JANKBOX_INVALID_ARGUMENT
 * (no name, or a size that is not known), or JANKBOX_NO_SPACE. */
JANKBOX_API int jankbox_add_plugin(const jankbox_plugin* plugin);

#ifdef __cplusplus
}
#endif

#endif /* JANKBOX_PLUGIN_H_ */
