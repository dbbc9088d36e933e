/* Jankbox: a flight recorder for UI threads. The C surface: what other languages bind to. C++ adds
 * jankbox/trace.h.
 *
 * Every function may be called from any thread, before start and after stop: then it does nothing.
 * The ones marked HOT never allocate, lock, log or make a system call (but for a thread's very
 * first event, which takes its chunk). Nothing here ever throws, aborts or blocks on disk or
 * network. Times are nanoseconds of CLOCK_MONOTONIC. */
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

#define JANKBOX_VERSION "0.1.0"

/* Results of jankbox_start and jankbox_snapshot. Permanent. */
enum {
  JANKBOX_OK = 0,
  JANKBOX_INVALID_ARGUMENT = 1, /* an option is out of its range; jankbox_last_error() names it */
  JANKBOX_NO_SPACE = 3,
  JANKBOX_PERMISSION_DENIED = 4,
  JANKBOX_IO = 5,
  JANKBOX_UNSUPPORTED = 6,
  JANKBOX_NOT_RUNNING = 8
};

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

/* Starts recording. NULL: all defaults. Returns 0, or one of the codes above and records nothing.
 * Idempotent: while running it returns 0 and changes nothing. Takes well under 2 ms: folders,
 * recovery and upload follow on a thread of Jankbox's own; what goes wrong there is told by
 * jankbox_last_error(). */
JANKBOX_API int jankbox_start(const jankbox_options* options);

/* Stops recording and finishes the reports that are being sealed (waits at most 2 s; usually not at
 * all, but where ftrace records about 100 ms until the kernel has given its buffers back). */
JANKBOX_API void jankbox_stop(void);

/* Changes thresholds while Jankbox records: the fields slow_message_ms, lag_ms, anr_ms,
 * anr_background_ms, cold_start_ms, warm_start_ms and jank_dropped_frames that are not zero.
 * Returns 0, JANKBOX_NOT_RUNNING, or JANKBOX_INVALID_ARGUMENT where one is out of its range or
 * another field is given (jankbox_last_error() names it; nothing is changed then). */
JANKBOX_API int jankbox_configure(const jankbox_options* options);

/* HOT. From when on a message is too slow now, whoever said so last (options, jankbox_configure(),
 * the config file, a developer's properties); 0 before the clock is known. */
JANKBOX_API uint32_t jankbox_slow_message_ms(void);

/* All that the app shows at its start is on the screen: its start ends here, not with its first
 * frame. From any thread. */
JANKBOX_API void jankbox_fully_drawn(void);

/* Waits until every report is sealed that was asked for, or that what has ended so far deserves,
 * and, with upload_url, tried once. Returns 1 when all is done, 0 on time-out. Not for the UI
 * thread. */
JANKBOX_API int jankbox_flush(uint32_t timeout_ms);

/* The last thing that went wrong, as a sentence; "" if nothing did. The text lives until the next
 * call on this thread. */
JANKBOX_API const char* jankbox_last_error(void);

/* --- Methods
 * ------------------------------------------------------------------------------------------------
 */

/* The id of a method, slice, counter or instant of that name: the same name has the same id. 1 to
 * 2^24 - 1; 0 where `name` is NULL or all ids are taken. Locks and allocates: call it once and keep
 * the id. */
JANKBOX_API uint32_t jankbox_method_id(const char* name);

/* HOT. A method begins or ends on this thread. Ends match begins by nesting. */
JANKBOX_API void jankbox_begin(uint32_t id);
JANKBOX_API void jankbox_end(uint32_t id);

/* HOT. Something that may end on another thread; (id, cookie) names it. */
JANKBOX_API void jankbox_async_begin(uint32_t id, uint64_t cookie);
JANKBOX_API void jankbox_async_end(uint32_t id, uint64_t cookie);

/* HOT. A counter's new value; a moment. */
JANKBOX_API void jankbox_counter(uint32_t id, int64_t value);
JANKBOX_API void jankbox_instant(uint32_t id);

/* --- The loop and its frames
 * -------------------------------------------------------------------------------- */

/* HOT. This thread's loop begins to handle a message, and is done with it. `what` may be NULL; at
 * most 56 bytes are kept. The first thread that calls this becomes a watched UI thread (at most 8).
 * Dispatches nest; the outermost one counts. */
JANKBOX_API void jankbox_dispatch_begin(const char* what);
JANKBOX_API void jankbox_dispatch_end(void);

/* HOT. This thread's loop is about to wait for its next message: ends every dispatch of the thread
 * that is open, also where a dispatch runs a loop of its own (a modal dialog). */
JANKBOX_API void jankbox_dispatch_end_all(void);

/* HOT. An idle callback of the loop, work that was put off until it has nothing else to do, begins
 * and ends. A dispatch; a report says where one took longer than 2 s, as Matrix. GLib's are seen
 * without these calls. At most 50 bytes of `what` are kept. */
JANKBOX_API void jankbox_idle_begin(const char* what);
JANKBOX_API void jankbox_idle_end(void);

/* HOT. This thread handles an input event that happened at `event_ns`. One that waited longer than
 * input_latency_ms is an incident, where it is not part of a greater one; a moment that lies ahead
 * or more than a minute back is of another clock and passed over. */
JANKBOX_API void jankbox_input(uint64_t event_ns);

/* HOT. The same for the timestamps that X11, Wayland, GDK and Qt give: milliseconds, the low 32
 * bits. */
JANKBOX_API void jankbox_input_ms(uint32_t event_ms);

/* HOT. As jankbox_dispatch_begin, for a dispatch that began already at `begin_ns`. */
JANKBOX_API void jankbox_dispatch_begin_at(const char* what, uint64_t begin_ns);

/* Whether the app is in front (1, as it is until told otherwise) or in the background (0), where
 * anr_background_ms holds. Also before start. Plugins are told on this thread where it changes. */
JANKBOX_API void jankbox_set_foreground(int foreground);

/* The calling thread's event loop is watched as the main thread's is, where Jankbox recognises it
 * (GLib, Qt, libuv, SDL, android::Looper, …). `name` is what reports call it; NULL: what it was
 * recognised as. At most 31 bytes are kept. After jankbox_start; for good. Not for the preload
 * agent: list the thread in $JANKBOX_WATCH_THREADS there. */
JANKBOX_API void jankbox_watch_this_thread(const char* name);

/* What reports call the loop that the dispatches come from, "api" unless told otherwise or
 * recognised: the main thread's where it is called there, and those of all threads that have no
 * name of their own. At most 31 bytes are kept. */
JANKBOX_API void jankbox_set_loop_name(const char* name);

/* HOT. One frame: its vsync, the deadline that it had to meet, the display's interval, and when the
 * work for it began and ended (doFrame). Dropped intervals = max(0, (end - vsync - interval) /
 * interval). Frames whose numbers cannot be true are skipped and counted. jankbox/frames.h says
 * more of a frame. */
JANKBOX_API void jankbox_frame(uint64_t vsync_ns, uint64_t deadline_ns, uint64_t interval_ns,
                               uint64_t start_ns, uint64_t end_ns);

/* Seals the window up to now as a report of kind "manual" whose `what` is `reason`. Returns at once
 * (the report follows; see jankbox_flush): 0, or JANKBOX_NOT_RUNNING. Allocates. */
JANKBOX_API int jankbox_snapshot(const char* reason);

#ifdef __cplusplus
}
#endif

#endif /* JANKBOX_JANKBOX_H_ */
