/* Render work: slices for the steps that make an image, on the UI thread or on a render thread.
 * They are slices like those of JANKBOX_TRACE; in addition, a report lists the render work of all
 * threads during the incident, with the number and the total time of each name.
 *
 *   JANKBOX_RENDER(JANKBOX_RENDER_UPLOAD, "icon atlas");      // to the end of the block
 *   const uint32_t id = jankbox_render_id(JANKBOX_RENDER_SHADER, shader_name);  // a name from data
 *   jankbox_begin_inline(id); … jankbox_end_inline(id);
 *
 * JANKBOX_RENDER is HOT after its first use at a place, which registers the name.
 * jankbox_render_id() locks and allocates as jankbox_method_id() does: keep the id. */
#ifndef JANKBOX_RENDER_H_
#define JANKBOX_RENDER_H_

#include <string.h>

#include "jankbox/trace.h"

/* Kinds of render work. Any other literal is a kind, too. */
#define JANKBOX_RENDER_MEASURE "measure"
#define JANKBOX_RENDER_LAYOUT "layout"
/* Recording of drawing commands on the CPU. */
#define JANKBOX_RENDER_DRAW "draw"
#define JANKBOX_RENDER_DECODE "decode image"
#define JANKBOX_RENDER_UPLOAD "upload texture"
#define JANKBOX_RENDER_SHADER "compile shader"
/* Passing the commands to the GPU. */
#define JANKBOX_RENDER_SUBMIT "submit"
#define JANKBOX_RENDER_SWAP "swap"

/* A slice whose name starts with this is render work. Part of the format of rings and reports. */
#define JANKBOX_RENDER_PREFIX "render/"

/* A slice of render work from here to the end of the block. `kind` is JANKBOX_RENDER_… or a string
 * literal, `name` a string literal. */
#define JANKBOX_RENDER(kind, name) JANKBOX_TRACE(JANKBOX_RENDER_PREFIX kind ": " name)

/* Returns the id for render work whose name is known at run time only; 0 if no id is left. 46 bytes
 * of `kind` and 200 of `name` are kept; neither is NULL. */
static inline uint32_t jankbox_render_id(const char* kind, const char* name) {
  char text[256] = JANKBOX_RENDER_PREFIX;
  strncat(text, kind, 46);
  strcat(text, ": ");
  strncat(text, name, 200);
  return jankbox_method_id(text);
}

#endif /* JANKBOX_RENDER_H_ */
