/* Names for the work that goes into an image, wherever a program does it: on its UI thread or on a
 * render thread. They are slices like JANKBOX_TRACE's, and a report lists those that fell into the
 * incident, on every thread, with their number and time.
 *
 *   JANKBOX_RENDER(JANKBOX_RENDER_UPLOAD, "icon atlas");      // to the end of the block
 *   static uint32_t id = jankbox_render_id(JANKBOX_RENDER_SHADER, shader_name);  // names from data
 *   jankbox_begin_inline(id); … jankbox_end_inline(id);
 *
 * HOT as JANKBOX_TRACE; jankbox_render_id as jankbox_method_id. */
#ifndef JANKBOX_RENDER_H_
#define JANKBOX_RENDER_H_

#include <string.h>

#include "jankbox/trace.h"

/* What it is. Any other literal does as well. */
#define JANKBOX_RENDER_MEASURE "measure"
#define JANKBOX_RENDER_LAYOUT "layout"
#define JANKBOX_RENDER_DRAW "draw" /* records what to draw */
#define JANKBOX_RENDER_DECODE "decode image"
#define JANKBOX_RENDER_UPLOAD "upload texture"
#define JANKBOX_RENDER_SHADER "compile shader"
#define JANKBOX_RENDER_SUBMIT "submit" /* hands it to the GPU */
#define JANKBOX_RENDER_SWAP "swap"

/* A method of this name is render work: the prefix is part of the ring's and the report's format.
 */
#define JANKBOX_RENDER_PREFIX "render/"

/* `kind` is a literal or one of the above, `name` a literal. */
#define JANKBOX_RENDER(kind, name) JANKBOX_TRACE(JANKBOX_RENDER_PREFIX kind ": " name)

/* The id of render work whose name is known at run time only; cut at 200 bytes. */
static inline uint32_t jankbox_render_id(const char* kind, const char* name) {
  char text[256] = JANKBOX_RENDER_PREFIX;
  strncat(text, kind, 46);
  strcat(text, ": ");
  strncat(text, name, 200);
  return jankbox_method_id(text);
}

#endif /* JANKBOX_RENDER_H_ */
