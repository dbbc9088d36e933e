/* Plugins: monitors that the app adds to Jankbox's. Jankbox calls a plugin when recording starts
 * and stops and when the app moves to the foreground or background; the plugin reports what it
 * finds with jankbox_report_incident(). C.
 *
 * Jankbox never makes two calls of plugins at the same time. Each call runs on the thread that
 * caused it and delays that thread: init and a late start in jankbox_add_plugin(), start in
 * jankbox_start(), stop in jankbox_stop(), foreground in jankbox_set_foreground(). A plugin may add
 * another plugin; it must not call jankbox_start() or jankbox_stop(). */
#ifndef JANKBOX_PLUGIN_H_
#define JANKBOX_PLUGIN_H_

#include "jankbox/jankbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions may be NULL. The struct is copied. */
typedef struct jankbox_plugin {
  /* sizeof(jankbox_plugin). */
  uint32_t size;
  /* Listed in the notes of every report. Not empty. Copied. */
  const char* name;
  /* Passed to every call. */
  void* context;
  /* Called once, when the plugin is added. */
  void (*init)(void* context);
  /* Called when recording has started; during jankbox_add_plugin() if it already has. */
  void (*start)(void* context);
  /* Called before recording stops. */
  void (*stop)(void* context);
  /* Called on each change: `in_front` is 1 in the foreground, 0 in the background. */
  void (*foreground)(void* context, int in_front);
} jankbox_plugin;

/* Adds a plugin for the rest of the process, before or after jankbox_start().
 * Errors: JANKBOX_INVALID_ARGUMENT if `plugin` or its name is missing or its size is wrong;
 * JANKBOX_NO_SPACE if there are 16. */
JANKBOX_API jankbox_status jankbox_add_plugin(const jankbox_plugin* plugin);

#ifdef __cplusplus
}
#endif

#endif /* JANKBOX_PLUGIN_H_ */
