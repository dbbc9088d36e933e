/* Frames in the Choreographer's terms, what a display said of them, a vsync for programs without
 * one, and the app's own states. For what jankbox_frame() of jankbox.h cannot say. GTK, SDL and
 * programs that swap buffers through EGL or GLX need none of it: their frames are seen by
 * themselves.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. HOT as in jankbox.h. */
#ifndef JANKBOX_FRAMES_H_
#define JANKBOX_FRAMES_H_

#include "jankbox/jankbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a frame does, in this order: android.view.Choreographer's callback types. */
enum {
  JANKBOX_PHASE_INPUT = 0,
  JANKBOX_PHASE_ANIMATION = 1,
  JANKBOX_PHASE_INSETS = 2,
  JANKBOX_PHASE_TRAVERSAL = 3, /* layout and drawing */
  JANKBOX_PHASE_COMMIT = 4,
  JANKBOX_PHASES = 5
};

#define JANKBOX_FRAME_TIMER 1u   /* of jankbox_vsync_read() */
#define JANKBOX_FRAME_METRICS 2u /* of android.view.FrameMetrics */

/* All fields but `size`, `begin_ns` and `end_ns` may be zero: not known. */
typedef struct jankbox_frame_info {
  uint32_t size;  /* sizeof(jankbox_frame_info) */
  uint32_t flags; /* JANKBOX_FRAME_… */
  int64_t vsync_id;
  uint64_t vsync_ns;
  uint64_t deadline_ns;
  uint64_t expected_present_ns;
  uint64_t interval_ns; /* of the display at this frame; 0: as the last frame's, else 60 Hz */
  uint64_t begin_ns;    /* of doFrame */
  uint64_t end_ns;
  uint64_t phase_ns[JANKBOX_PHASES]; /* all 0: as marked by jankbox_frame_phase() */
} jankbox_frame_info;

/* HOT. One frame of this thread, when it is done. Numbers that no frame can have (negative ones,
 * 2^62 and more, an end before its begin) are skipped, and counted in reports. */
JANKBOX_API void jankbox_frame_ex(const jankbox_frame_info* frame);

/* HOT. The frame that runs on this thread is now in `phase` (JANKBOX_PHASE_…), until the next mark
 * or the frame's end. */
JANKBOX_API void jankbox_frame_phase(uint32_t phase);

/* What the display made of a frame: the events of Wayland's wp_presentation_feedback, joined. */
typedef struct jankbox_presentation {
  uint32_t size;         /* sizeof(jankbox_presentation) */
  uint32_t discarded;    /* 1: never shown; the other fields are ignored */
  uint32_t clock;        /* wp_presentation.clock_id: the clock of the next field */
  uint32_t reserved;     /* 0 */
  uint64_t presented_ns; /* tv_sec_hi, tv_sec_lo, tv_nsec */
  uint64_t refresh_ns;   /* `refresh`; 0: not constant */
  uint64_t sequence;     /* seq_hi, seq_lo; 0: not known */
} jankbox_presentation;

/* HOT. One frame of this thread whose feedback came: `frame` as for jankbox_frame_ex(), begin_ns
 * and end_ns being those of the work up to wl_surface.commit. Call it instead of
 * jankbox_frame_ex().
 */
JANKBOX_API void jankbox_frame_presented(const jankbox_frame_info* frame,
                                         const jankbox_presentation* presentation);

/* A vsync for programs without a display: a descriptor that becomes readable `hz` times a second (1
 * to 1000), for the program's own loop; close() it. -1 with errno where there is none. */
JANKBOX_API int jankbox_vsync_open(uint32_t hz);

/* 1 where a frame is due on that descriptor: `frame`, whose size the caller set, has its vsync (the
 * first one that was not served), deadline, interval and begin. Set end_ns when it is done and pass
 * it to jankbox_frame_ex(). 0: none is due. */
JANKBOX_API int jankbox_vsync_read(int descriptor, jankbox_frame_info* frame);

/* What the app shows or does, as JankStats' states: jankbox_set_state("screen", "Checkout"). Held
 * until removed (`value` NULL removes too) and in every report; frames are counted by the state
 * "screen". Texts are copied and cut at 64 and 128 bytes; at most 32 are held. Any thread; locks
 * and allocates. Returns 0, or JANKBOX_INVALID_ARGUMENT. */
JANKBOX_API int jankbox_set_state(const char* key, const char* value);
JANKBOX_API void jankbox_remove_state(const char* key);

#ifdef __cplusplus
}
#endif

#endif /* JANKBOX_FRAMES_H_ */
