/* Jankbox: a flight recorder for UI threads. It keeps the last seconds of an app's activity in a
 * ring file, and when a UI thread was too slow it writes a report of that time. This is the C API,
 * which other languages bind to; C++ adds jankbox/trace.h.
 *
 * Words used below:
 * - dispatch: the handling of one message (event, callback) by a thread's event loop.
 * - watched thread: a thread whose dispatches and frames Jankbox compares with the thresholds. The
 *   main thread, each thread that calls jankbox_dispatch_begin(), jankbox_frame() or
 *   jankbox_watch_this_thread(), and those that jankbox_options.watch_threads names; the first 8
 *   in a process. Jankbox records other threads, too, but does not compare them.
 * - incident: a dispatch, frame, input event or start of the app that took too long.
 * - report: a file about an incident, or about the time of a jankbox_snapshot(). Jankbox writes it
 *   to jankbox_options.dir as <id>.pftrace.zst; it opens in ui.perfetto.dev, and `jankbox show`
 *   prints it.
 *
 * Threads: every function may be called from any thread, also before jankbox_start() and after
 * jankbox_stop(); an event that arrives then is dropped. No function throws, aborts, or waits for
 * the disk or the network, except that jankbox_stop(), jankbox_flush() and
 * jankbox_remove_listener() wait as they say.
 * Functions that are marked HOT do not allocate, lock, log or make a system call (a thread's first
 * event makes a few) and may be called in a signal handler. After fork() the child records nothing
 * until it calls jankbox_start().
 *
 * Results: a function that can fail returns a jankbox_status; JANKBOX_OK is 0. For every other
 * status jankbox_last_error() returns the reason as a sentence, except that JANKBOX_NOT_RUNNING,
 * JANKBOX_TIMED_OUT and JANKBOX_WOULD_BLOCK leave it unchanged. Functions that cannot fail return
 * void. HOT functions return void, too: an event that could not be recorded is counted in the next
 * report. Functions that return another value document the value that means "none".
 *
 * Units: times are nanoseconds of CLOCK_MONOTONIC, unless a name says ms. Texts are UTF-8, end with
 * a NUL, and are copied; longer ones are cut at the length that is given in bytes. */
#ifndef JANKBOX_JANKBOX_H_
#define JANKBOX_JANKBOX_H_

#include <stdint.h>

#if defined(_MSC_VER)
#error "Jankbox runs on Android and Linux"
#endif
#define JANKBOX_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Before 1.0 a minor version may change this API: the library's name has both numbers
 * (libjankbox.so.0.2). A newer patch version runs programs that were compiled with an older one. */
#define JANKBOX_VERSION "0.2.0"

/* The result of a function that can fail. The numbers are permanent. */
typedef enum jankbox_status {
  JANKBOX_OK = 0,
  /* An argument or an option is out of its range; nothing was changed. */
  JANKBOX_INVALID_ARGUMENT = 1,
  /* A file or folder does not exist. */
  JANKBOX_NOT_FOUND = 2,
  /* The disk is full or below jankbox_options.min_free_mib, or a fixed number of places (of watched
   * threads, listeners, …) is taken. */
  JANKBOX_NO_SPACE = 3,
  JANKBOX_PERMISSION_DENIED = 4,
  /* The system reported another error for a file. */
  JANKBOX_IO = 5,
  /* This system or build cannot do it. */
  JANKBOX_UNSUPPORTED = 6,
  /* A file has content that Jankbox did not write. */
  JANKBOX_CORRUPT = 7,
  /* Jankbox is not recording: jankbox_start() was not called, or failed, or jankbox_stop() was. */
  JANKBOX_NOT_RUNNING = 8,
  /* Another process uses a file, or too many requests are pending; a later call may succeed. */
  JANKBOX_BUSY = 9,
  /* The time that the caller gave was over before the work was done. */
  JANKBOX_TIMED_OUT = 10,
  /* There is nothing to read yet. */
  JANKBOX_WOULD_BLOCK = 11
} jankbox_status;

/* All fields but `size` may be zero: then the default in brackets holds. Strings are copied. */
typedef struct jankbox_options {
  uint32_t size;   /* sizeof(jankbox_options): lets old programs run with newer libraries */
  uint32_t flags;  /* JANKBOX_FLAG_… */
  const char* dir; /* folder of sealed reports [$JANKBOX_DIR, else $XDG_STATE_HOME/jankbox, else
                      $HOME/.local/state/jankbox] */
  const char* app_name;    /* [the program's file name] */
  const char* app_version; /* [""] */
  const char*
      upload_url; /* collector's base URL, e.g. "https://jank.example.com"; NULL: nothing is sent */
  uint32_t window_ms;       /* how much a report looks back [10000], 100 to 600000 */
  uint32_t ring_bytes;      /* size of the ring file [8 MiB], 1 MiB to 1 GiB */
  uint32_t slow_message_ms; /* one dispatch is too slow [700, as Matrix], 10 to 600000 */
  uint32_t
      anr_ms; /* the UI thread is not responding [5000, as Android], at least slow_message_ms */
  uint32_t
      jank_dropped_frames; /* a frame that drops this many of its intervals is sealed [9: Matrix'
                             "middle" band, 150 ms at 60 Hz; at other rates the same time] */
  uint32_t sample_interval_ms; /* between stack samples of an overdue thread [5], 1 to 1000 */
  uint32_t min_free_mib; /* nothing is written where less would be left free [64]; UINT32_MAX: no
                            floor */
  uint32_t cpu_budget_permille; /* of one core, what Jankbox may cost [10, that is 1 %], recording
                                   included; UINT32_MAX: no budget */
  uint32_t record;              /* JANKBOX_RECORD_… [governed] */
  uint32_t markers;             /* JANKBOX_MARKERS_… [pass on] */
  const char*
      atrace;       /* what is turned on in the program's atrace library, where it has one: "off",
                       "auto" (what a system trace takes, and the app's own sections), categories
                       of the atrace command and "app" ("gfx,view,app"), or their number ("0x496e")
                       [$JANKBOX_ATRACE, else "auto"] */
  uint32_t sources; /* JANKBOX_SOURCE_…, or-ed, or JANKBOX_SOURCES_OFF [all] */
  uint32_t ftrace;  /* JANKBOX_FTRACE_… [$JANKBOX_FTRACE, else auto] */
  uint32_t
      ftrace_buffer_kib;  /* of kernel events a CPU [1024], 64 to 65536; at most 16 MiB in all */
  uint32_t reports_a_day; /* written at most in 24 hours, over restarts [100]; a quarter more for
                             ANRs and the like; UINT32_MAX: no cap */
  uint32_t repeats;       /* JANKBOX_REPEATS_… [$JANKBOX_REPEATS, else exemplars] */
  uint32_t lag_ms; /* between slow and not responding: a report of kind "lag" [2000, as Matrix],
                      at least slow_message_ms */
  uint32_t anr_background_ms; /* as anr_ms while the app is not in front [10000, as Matrix], at
                                 least anr_ms */
  uint32_t sigquit;           /* JANKBOX_SIGQUIT_… [Android: on, Linux: off] */
  const char* watch_threads; /* threads besides the main one whose event loops are watched, by name:
                                "render,io-*"; `*` at a name's end stands for any rest, alone for
                                all threads [$JANKBOX_WATCH_THREADS, else none: nobody waits for a
                                worker's loop] */
  uint32_t input_latency_ms; /* an input event waited too long for its handling [2000, as Matrix],
                                10 to 60000 */
  uint32_t history_messages; /* messages before an incident that its report tells of one by one
                                [200; 5000 for a dense history, as Matrix], 1 to 5000 */
  uint32_t frame_policy;     /* JANKBOX_FRAME_POLICY_… [$JANKBOX_FRAME_POLICY, else bands] */
  uint32_t frame_sources;    /* JANKBOX_FRAMES_…, or-ed [$JANKBOX_FRAMES, else all but the
                                choreographer] */
  uint32_t cold_start_ms;    /* from the process's begin to its first frame is too slow [10000, as
                                Matrix] */
  uint32_t warm_start_ms;  /* from jankbox_set_foreground(1) to the next frame [4000, as Matrix] */
  const char* config_file; /* of lines "slow_message_ms = 300", "#" begins a comment: thresholds as
                              jankbox_configure() takes them; read at start and where it changes,
                              within some seconds [$JANKBOX_CONFIG, else none] */
} jankbox_options;

/* How events are recorded. Every report says which mode held when. */
enum {
  JANKBOX_RECORD_GOVERNED = 0, /* exact; while that costs more than the budget, the next cheaper */
  JANKBOX_RECORD_EXACT = 1,    /* every event with its own reading of the clock */
  JANKBOX_RECORD_COARSE = 2,   /* begins and ends to about 1 ms: a third of the cost */
  JANKBOX_RECORD_UI_ONLY = 3,  /* watched threads alone */
  JANKBOX_RECORD_OFF = 4       /* no events; slow messages and late frames are still noticed */
};

/* What happens to markers that the process writes to the kernel's trace_marker (atrace). */
enum {
  JANKBOX_MARKERS_PASS_ON = 0, /* recorded, and written to the kernel as before */
  JANKBOX_MARKERS_KEEP = 1,    /* recorded only, which is cheaper */
  JANKBOX_MARKERS_OFF = 2      /* left alone */
};

/* What else is recorded, by hooks in the host's libraries. */
enum {
  JANKBOX_SOURCE_THREADS = 1, /* who creates which thread, from where; names; ends */
  JANKBOX_SOURCE_IO = 2,      /* file calls of watched threads; never paths or contents */
  JANKBOX_SOURCE_LOCKS = 4,   /* waits of watched threads for locks, and who holds those */
  JANKBOX_SOURCES_OFF = 8     /* none of them */
};

/* Whether the kernel's scheduling, block IO and page faults of this process are kept beside its
 * events, in an ftrace instance of its own. Reports say what they rest on, and why. */
enum {
  JANKBOX_FTRACE_AUTO = 0, /* where tracefs is writable; else the UI threads' own context switches,
                              as far as perf is permitted */
  JANKBOX_FTRACE_OFF = 1,  /* neither */
  JANKBOX_FTRACE_ON = 2    /* as auto, and jankbox_last_error() tells where it cannot be */
};

/* Whether SIGQUIT, with which Android asks a process that does not respond for its stacks, makes us
 * look at once. The signal is passed on, once, to whoever would have got it. Start on the main
 * thread: where others block the signal, it is unblocked there. */
enum {
  JANKBOX_SIGQUIT_DEFAULT = 0, /* $JANKBOX_SIGQUIT ("on", "off"), else as above */
  JANKBOX_SIGQUIT_ON = 1,
  JANKBOX_SIGQUIT_OFF = 2
};

/* Which incidents of one cause become reports. The others are counted, and the next report of their
 * cause says how many they were. */
enum {
  JANKBOX_REPEATS_EXEMPLARS = 0, /* the first, the worst and a random one within seven days */
  JANKBOX_REPEATS_EVERY = 1      /* all of them */
};

/* Which frames are sealed. A frame of 700 ms always is. */
enum {
  JANKBOX_FRAME_POLICY_DEFAULT = 0,
  JANKBOX_FRAME_POLICY_BANDS = 1, /* that drop jank_dropped_frames intervals of 60 Hz (Matrix) */
  JANKBOX_FRAME_POLICY_JANKSTATS = 2, /* of more than twice their interval (JankStats) */
  JANKBOX_FRAME_POLICY_DEADLINE = 3   /* that end behind their deadline */
};

/* Where frames are seen without a call by the program. One source a thread counts: the program's
 * own calls (jankbox/frames.h), else the first of these that tells of frames there. */
enum {
  JANKBOX_FRAMES_CHOREOGRAPHER =
      1,                   /* AChoreographer of the thread that starts: wakes it each vsync */
  JANKBOX_FRAMES_GTK = 2,  /* GdkFrameClock of GTK 3 and 4 */
  JANKBOX_FRAMES_SDL = 4,  /* SDL_RenderPresent, SDL_GL_SwapWindow */
  JANKBOX_FRAMES_SWAP = 8, /* eglSwapBuffers, glXSwapBuffers */
  JANKBOX_FRAMES_OFF = 16  /* none of them */
};

/* Do not look for loops in the host's libraries (android::Looper, GLib, libuv, …): only the
 * explicit calls count. */
#define JANKBOX_FLAG_NO_LOOP_HOOKS 1u

/* --- Start and stop */

/* Starts recording with `options` (NULL: all defaults), for the whole process. Call it on the main
 * thread, early. Usually returns within 2 ms: a thread of Jankbox's then creates folders, recovers
 * the ring of a crashed run and uploads, and its errors appear in jankbox_last_error(). If Jankbox
 * already records, returns JANKBOX_OK and ignores `options`.
 *
 * Errors: JANKBOX_INVALID_ARGUMENT if an option is out of its range; JANKBOX_NO_SPACE,
 * JANKBOX_PERMISSION_DENIED, JANKBOX_NOT_FOUND or JANKBOX_IO if the ring file cannot be created. */
JANKBOX_API jankbox_status jankbox_start(const jankbox_options* options);

/* Stops recording and finishes the reports that are being written. Waits at most 2 s; usually not
 * at all, but about 100 ms if ftrace records. At the end of the process Jankbox calls it itself.
 * jankbox_start() may follow. */
JANKBOX_API void jankbox_stop(void);

/* Changes thresholds while Jankbox records. Takes the fields slow_message_ms, lag_ms, anr_ms,
 * anr_background_ms, cold_start_ms, warm_start_ms and jank_dropped_frames of `options` that are
 * set; `size` must be set, all other fields must be unset. A change of the config file
 * (jankbox_options.config_file) has the effect of this call; the later of the two wins.
 *
 * Errors: JANKBOX_NOT_RUNNING; JANKBOX_INVALID_ARGUMENT if a field is out of its range or is not
 * one of these, and then no threshold changes. */
JANKBOX_API jankbox_status jankbox_configure(const jankbox_options* options);

/* HOT. Returns the current threshold of a slow message in milliseconds, also if the config file or
 * a developer's property set it; 0 until Jankbox has calibrated its clock, shortly after
 * jankbox_start(). */
JANKBOX_API uint32_t jankbox_slow_message_ms(void);

/* Blocks until all pending reports are written and, if upload_url is set, one upload of each has
 * been attempted, or until `timeout_ms` milliseconds are over. Do not call it on a watched thread.
 *
 * Errors: JANKBOX_TIMED_OUT; JANKBOX_NOT_RUNNING. */
JANKBOX_API jankbox_status jankbox_flush(uint32_t timeout_ms);

/* Returns the last error of any thread of the process, Jankbox's own included, as an English
 * sentence; "" if there was none. The text is valid until the same thread calls this again. */
JANKBOX_API const char* jankbox_last_error(void);

/* Requests a report (kind "manual") of the time up to now; `reason` becomes its title (NULL: "").
 * The report is written after this returns; jankbox_flush() waits for it. Allocates.
 *
 * Errors: JANKBOX_NOT_RUNNING; JANKBOX_BUSY if 64 reports are pending. */
JANKBOX_API jankbox_status jankbox_snapshot(const char* reason);

/* --- Slices, counters and instants, as in a trace */

/* Returns the id for `name`, for all functions below that take an id: 1 to 2^24 - 1, the same for
 * the same name during the life of the process. 0 if `name` is NULL or no id is left. Locks and
 * allocates: call it once per name and keep the id. */
JANKBOX_API uint32_t jankbox_method_id(const char* name);

/* HOT. Begins and ends a slice (a function, a step of work) on the calling thread. Slices nest: an
 * end closes the innermost open slice. */
JANKBOX_API void jankbox_begin(uint32_t id);
JANKBOX_API void jankbox_end(uint32_t id);

/* HOT. Begins and ends a slice that may end on another thread. The end with the same `id` and
 * `cookie`, a number that the caller chooses, closes it. */
JANKBOX_API void jankbox_async_begin(uint32_t id, uint64_t cookie);
JANKBOX_API void jankbox_async_end(uint32_t id, uint64_t cookie);

/* HOT. Sets a counter to `value`; the trace shows it as a track of its own. */
JANKBOX_API void jankbox_counter(uint32_t id, int64_t value);

/* HOT. Marks the current moment on the calling thread. */
JANKBOX_API void jankbox_instant(uint32_t id);

/* --- The event loop
 *
 * Jankbox sees the loops of GLib, Qt, libuv, SDL and android::Looper without a call; the functions
 * below are for other loops. */

/* HOT. The calling thread starts to handle a message. `what` names it in reports (56 bytes are
 * kept; NULL: no name). `begin_ns` is the time at which the handling started; 0 means now.
 * Dispatches nest; the outermost one is compared with the thresholds. */
JANKBOX_API void jankbox_dispatch_begin(const char* what, uint64_t begin_ns);

/* HOT. Ends the innermost dispatch of the calling thread. Ignored if none is open. */
JANKBOX_API void jankbox_dispatch_end(void);

/* HOT. Ends all open dispatches of the calling thread. For a loop that is about to wait for its
 * next message: a dispatch may run a nested loop (a modal dialog), and while that waits no dispatch
 * is being handled. */
JANKBOX_API void jankbox_dispatch_end_all(void);

/* The start of the name of a dispatch that is an idle callback, that is work which the loop does
 * when no message is pending: jankbox_dispatch_begin(JANKBOX_IDLE_PREFIX "fill cache", 0). A report
 * names the idle callbacks that took longer than 2 s (the threshold of Matrix). Jankbox sees GLib's
 * idle callbacks without a call. */
#define JANKBOX_IDLE_PREFIX "idle: "

/* HOT. The calling thread handles an input event that the system stamped with `event_ns`. If the
 * event waited longer than jankbox_options.input_latency_ms and is not part of a longer incident,
 * Jankbox reports it. Times in the future or more than a minute ago belong to another clock and are
 * ignored. Call it on the thread whose loop handles the input. */
JANKBOX_API void jankbox_input(uint64_t event_ns);

/* Converts the timestamp of an input event of X11, Wayland, GDK or Qt (the low 32 bits of
 * CLOCK_MONOTONIC in milliseconds) for jankbox_input(). `now_ns` is the current time, of
 * clock_gettime(CLOCK_MONOTONIC). A timestamp in the future becomes one of 49 days ago, which
 * jankbox_input() ignores. */
static inline uint64_t jankbox_input_time_ns(uint32_t event_ms, uint64_t now_ns) {
  return now_ns - (uint64_t)((uint32_t)(now_ns / 1000000u) - event_ms) * 1000000u;
}

/* Watches the event loop of the calling thread as Jankbox watches that of the main thread, and sets
 * its name in reports (31 bytes are kept). NULL: the name of the library that runs the loop
 * ("glib", "libuv", …), or "api" if the program calls jankbox_dispatch_begin() itself. The main
 * thread calls it only to set a name. Lasts until jankbox_stop() or the end of the thread. If the
 * app runs under `jankbox run`, name the thread in jankbox_options.watch_threads instead.
 *
 * Errors: JANKBOX_NOT_RUNNING; JANKBOX_NO_SPACE if 8 threads are watched already. */
JANKBOX_API jankbox_status jankbox_watch_this_thread(const char* name);

/* --- The app */

/* HOT. One frame of the calling thread, after its work is done: its vsync, the time by which the
 * work had to end (0: one interval after the vsync), the display's interval (0: that of the last
 * frame, else 60 Hz), and when the work began and ended (on Android: doFrame). By default Jankbox
 * compares
 *
 *   dropped = max(0, (end - vsync - interval) / interval)
 *
 * with jankbox_options.jank_dropped_frames. Frames with impossible numbers are ignored and counted
 * in reports. jankbox_frame_ex() of jankbox/frames.h takes more fields. */
JANKBOX_API void jankbox_frame(uint64_t vsync_ns, uint64_t deadline_ns, uint64_t interval_ns,
                               uint64_t begin_ns, uint64_t end_ns);

/* Sets whether the app is in the foreground (not 0; the initial state) or in the
 * background (0); in the background anr_background_ms replaces anr_ms. Kept over jankbox_start().
 * On a change, plugins (jankbox/plugin.h) are called on this thread. */
JANKBOX_API void jankbox_set_foreground(int foreground);

/* Marks the end of the app's start: everything that it shows first is on the screen. Without this
 * call a start ends with the first frame. An app that makes the call after its first frame makes it
 * within 5 s; Jankbox waits for it from the second start of the same process on. */
JANKBOX_API void jankbox_fully_drawn(void);

#ifdef __cplusplus
}
#endif

#endif /* JANKBOX_JANKBOX_H_ */
