/* Frames with all their fields, the display's feedback, a vsync for programs without a display, and
 * the states of the app. For programs for which jankbox_frame() of jankbox.h is not enough.
 * Programs that use GTK or SDL, or that swap buffers through EGL or GLX, call nothing: Jankbox
 * hooks these libraries and records their frames.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC. HOT, status codes and texts are those of jankbox.h. */
#ifndef JANKBOX_FRAMES_H_
#define JANKBOX_FRAMES_H_

#include "jankbox/jankbox.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The phases of the work for a frame, in their order: the callback types of
 * android.view.Choreographer (CALLBACK_INPUT to CALLBACK_COMMIT). */
enum {
  JANKBOX_PHASE_INPUT = 0,
  JANKBOX_PHASE_ANIMATION = 1,
  JANKBOX_PHASE_INSETS = 2,
  /* Layout and drawing. */
  JANKBOX_PHASE_TRAVERSAL = 3,
  JANKBOX_PHASE_COMMIT = 4,
  JANKBOX_PHASES = 5
};

/* Values of jankbox_frame_info.flags: which source the frame has in reports; 0: "api". */
/* jankbox_vsync_read() sets it. */
#define JANKBOX_FRAME_TIMER 1u
/* The numbers come from android.view.FrameMetrics. */
#define JANKBOX_FRAME_METRICS 2u

/* One frame. Required: size, begin_ns, end_ns. Every other field is 0 if it is not known. */
typedef struct jankbox_frame_info {
  /* sizeof(jankbox_frame_info): a library knows by it which fields an older program has. */
  uint32_t size;
  /* JANKBOX_FRAME_…, or-ed. */
  uint32_t flags;
  /* The system's number for the vsync, for example of Choreographer.FrameTimeline. */
  int64_t vsync_id;
  /* The vsync that the frame was drawn for; 0: begin_ns. */
  uint64_t vsync_ns;
  /* The time by which the work had to end; 0: one interval after the vsync. */
  uint64_t deadline_ns;
  /* When the display was to show the frame. */
  uint64_t expected_present_ns;
  /* The display's interval at this frame, 1 ms to 1 s; 0: that of the thread's last frame, else
   * 60 Hz. */
  uint64_t interval_ns;
  /* The work of this thread for the frame; on Android, Choreographer.doFrame. */
  uint64_t begin_ns;
  uint64_t end_ns;
  /* How long each phase took, indexed by JANKBOX_PHASE_…; all 0: as marked by
   * jankbox_frame_phase(). */
  uint64_t phase_ns[JANKBOX_PHASES];
} jankbox_frame_info;

/* The display's feedback for one frame, joined from the events of wp_presentation_feedback of the
 * Wayland protocol presentation-time. */
typedef struct jankbox_presentation {
  /* sizeof(jankbox_presentation). */
  uint32_t size;
  /* 1 if the display never showed the frame; the fields below are then ignored. */
  uint32_t discarded;
  /* The clock of presented_ns: a clockid_t, as in the event wp_presentation.clock_id. */
  uint32_t clock;
  /* 0. */
  uint32_t reserved;
  /* When the display showed the frame: tv_sec_hi, tv_sec_lo and tv_nsec in nanoseconds. */
  uint64_t presented_ns;
  /* `refresh`: the time until the next refresh; 0 if the rate is not constant. */
  uint64_t refresh_ns;
  /* seq_hi and seq_lo: the display's counter of refreshes; 0 if there is none. */
  uint64_t sequence;
} jankbox_presentation;

/* HOT. One frame of the calling thread, which becomes a watched thread. Without feedback
 * (`presentation` NULL) call it after the work; with feedback call it when that has arrived, and
 * set begin_ns and end_ns to the work up to wl_surface.commit. Call it once per frame. Frames with
 * impossible numbers (negative, 2^62 or more, an end before its start) are ignored and counted in
 * reports; so is a frame whose `size` is wrong. */
JANKBOX_API void jankbox_frame_ex(const jankbox_frame_info* frame,
                                  const jankbox_presentation* presentation);

/* HOT. The frame that the calling thread works on enters `phase` (JANKBOX_PHASE_…), which lasts
 * until the next call or the end of the frame. Other numbers are ignored. */
JANKBOX_API void jankbox_frame_phase(uint32_t phase);

/* Opens a vsync for a program without a display: `descriptor` becomes a file descriptor (a timerfd)
 * that is readable `hz` times a second, 1 to 1000, for poll() in the program's own loop. The caller
 * close()s it.
 * Errors: JANKBOX_INVALID_ARGUMENT if `hz` is out of its range; the error of timerfd_create(), such
 * as JANKBOX_IO, if no descriptor is left. */
JANKBOX_API jankbox_status jankbox_vsync_open(uint32_t hz, int* descriptor);

/* Reads the next due frame from a descriptor of jankbox_vsync_open(): fills vsync, deadline,
 * interval and begin of `frame`, whose `size` the caller has set. The vsync is the earliest one
 * that was not read, so that a program that misses some shows how late it is. Then draw, set
 * end_ns, and pass `frame` to jankbox_frame_ex(). Does not block. Errors: JANKBOX_WOULD_BLOCK if no
 * frame is due; JANKBOX_INVALID_ARGUMENT if `size` is wrong. */
JANKBOX_API jankbox_status jankbox_vsync_read(int descriptor, jankbox_frame_info* frame);

/* Sets a state of the app, as androidx.metrics' JankStats does: jankbox_set_state("screen",
 * "Checkout"). `value` NULL removes it. A report has the states that were set at any time during
 * its incident; frame statistics are kept for each value of the state "screen". 64 bytes of `key`
 * and 128 of `value` are kept. May be called before jankbox_start(). Locks and allocates. Errors:
 * JANKBOX_INVALID_ARGUMENT if `key` is NULL or empty; JANKBOX_NO_SPACE if 32 states are set. */
JANKBOX_API jankbox_status jankbox_set_state(const char* key, const char* value);

#ifdef __cplusplus
}
#endif

#endif /* JANKBOX_FRAMES_H_ */
