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
 * - incident: a dispatch, frame, method, input event or start of the app that took too long.
 * - overdue: a dispatch that has taken half of its threshold; Jankbox then samples its stack.
 * - Matrix: Tencent's APM library, whose thresholds are the defaults here.
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
  /* Another process uses a file, too many requests are pending, or this process is out of
   * descriptors or memory; a later call may succeed. */
  JANKBOX_BUSY = 9,
  /* The time that the caller gave was over before the work was done. */
  JANKBOX_TIMED_OUT = 10,
  /* There is nothing to read yet. */
  JANKBOX_WOULD_BLOCK = 11
} jankbox_status;

/* The options of jankbox_start(). Zero or NULL means unset: then the environment counts, else the
 * default. docs/options.md has the other sources of options and their order. Strings are copied.
 * Later versions add fields at the end. */
typedef struct jankbox_options {
  /* sizeof(jankbox_options): lets old programs run with newer libraries. */
  uint32_t size;
  /* Switches that are rarely needed: JANKBOX_FLAG_…. Default none. */
  uint32_t flags;
  /* The folder of the reports. Unset: $XDG_STATE_HOME/jankbox, else $HOME/.local/state/jankbox,
   * else /tmp/jankbox-UID. */
  const char* dir;
  /* The app's name in reports. Unset: the program's file name. */
  const char* app_name;
  /* The app's version in reports. */
  const char* app_version;
  /* The base URL of the collector, such as https://jank.example.com. Unset: nothing is sent. */
  const char* upload_url;
  /* How far back a report looks, in milliseconds. 100 to 600000; default 10000. */
  uint32_t window_ms;
  /* The size limit of the ring file, in bytes. 1048576 to 1073741824; default 8388608. */
  uint32_t ring_bytes;
  /* A dispatch that takes this many milliseconds is a slow message (as in Matrix). 10 to 600000;
   * default 700. */
  uint32_t slow_message_ms;
  /* A UI thread that is blocked for this many milliseconds is not responding (as on Android). At
   * least slow_message_ms. 10 to 3600000; default 5000. */
  uint32_t anr_ms;
  /* A frame that drops this many intervals at 60 Hz becomes a report (Matrix' band "middle", 150
   * ms); at other refresh rates the same time counts. 1 to 10000; default 9. */
  uint32_t jank_dropped_frames;
  /* Milliseconds between the stack samples of an overdue thread. 1 to 1000; default 5. */
  uint32_t sample_interval_ms;
  /* Nothing is written if less than this many MiB would be left free. None: no floor. 1 to
   * 4294967294, or UINT32_MAX for none; default 64. */
  uint32_t min_free_mib;
  /* The CPU time that Jankbox may use, recording included, in thousandths of one core. None: no
   * budget. 1 to 4294967294, or UINT32_MAX for none; default 10. */
  uint32_t cpu_budget_permille;
  /* How events are recorded: JANKBOX_RECORD_…. Default governed. */
  uint32_t record;
  /* How markers that the process writes to trace_marker are handled: JANKBOX_MARKERS_…. Default
   * pass_on. */
  uint32_t markers;
  /* Which categories are turned on in the program's atrace library, if it has one: off, auto (the
   * categories of a system trace and the app's own sections), names such as gfx,view,app, or their
   * number (0x496e). Default auto. */
  const char* atrace;
  /* Events that hooks in the host's libraries record: JANKBOX_SOURCE_…. Default
   * threads,io,locks. */
  uint32_t sources;
  /* Whether the kernel's events of this process are recorded: JANKBOX_FTRACE_…. Default auto. */
  uint32_t ftrace;
  /* The size of the kernel's buffer for each CPU, in KiB; at most 16 MiB in total. 64 to 65536;
   * default 1024. */
  uint32_t ftrace_buffer_kib;
  /* The most reports that are written in 24 hours, over restarts; a quarter more for ANRs and the
   * like. None: no cap. 1 to 4294967294, or UINT32_MAX for none; default 100. */
  uint32_t reports_a_day;
  /* Which incidents of one cause become reports: JANKBOX_REPEATS_…. Default exemplars. */
  uint32_t repeats;
  /* A dispatch that takes this many milliseconds is a lag, which is between slow and not responding
   * (as in Matrix). At least slow_message_ms. 10 to 3600000; default 2000. */
  uint32_t lag_ms;
  /* As anr_ms, while the app is in the background (as in Matrix). At least anr_ms. 10 to 3600000;
   * default 10000. */
  uint32_t anr_background_ms;
  /* Whether SIGQUIT makes Jankbox check the UI thread at once: JANKBOX_SIGQUIT_… (on Android the
   * default is on). Default off. */
  uint32_t sigquit;
  /* Threads besides the main one whose event loops are watched, by name: render,io-*. A * at the
   * end of a name matches any rest; * only matches all threads. Unset: none. */
  const char* watch_threads;
  /* An input event that waits this many milliseconds is an incident (as in Matrix). 10 to 60000;
   * default 2000. */
  uint32_t input_latency_ms;
  /* How many messages before an incident its report lists one by one. 1 to 5000; default 200. */
  uint32_t history_messages;
  /* Which frames become reports: JANKBOX_FRAME_POLICY_…. Default bands. */
  uint32_t frame_policy;
  /* The libraries whose frames are noticed without a call: JANKBOX_FRAMES_…. Default
   * gtk,sdl,swap. */
  uint32_t frame_sources;
  /* A start of the process that takes this many milliseconds to its first frame is slow (as in
   * Matrix). 100 to 3600000; default 10000. */
  uint32_t cold_start_ms;
  /* A return to the foreground that takes this many milliseconds to the next frame is slow (as in
   * Matrix). 100 to 3600000; default 4000. */
  uint32_t warm_start_ms;
  /* A file of lines such as slow_message_ms = 300, # starts a comment: the options that may change
   * while recording. It is read at the start and, within some seconds, after a change. */
  const char* config_file;
  /* How stack samples are taken: JANKBOX_SAMPLER_…. Default auto. */
  uint32_t sampler;
  /* The trace clock of the kernel's events, by its name in tracefs. Unset: the best one that the
   * kernel has. */
  const char* ftrace_clock;
  /* The path of an atrace library that is loaded if the program has none. Unset: none. */
  const char* atrace_library;
  /* The absolute path of a file of lines key=value that replaces Android's system properties; it is
   * read once a second. Unset: the environment at the start counts. */
  const char* properties_file;
  /* Whether reports name the JavaScript functions of a Node.js program that runs with
   * --perf-basic-prof: JANKBOX_JS_NAMES_…. Default off. */
  uint32_t js_names;
  /* A recorded call outside of any dispatch that takes this many milliseconds is a slow method (as
   * Matrix' evil method). None: off. 10 to 4294967294, or UINT32_MAX for none; default 700. */
  uint32_t slow_method_ms;
  /* The threads whose slow methods are reported: JANKBOX_SLOW_METHODS_…. Default watched. */
  uint32_t slow_method_threads;
  /* Whether foreground time, sessions, frames and messages are counted by day and sent with the
   * counts of incidents: JANKBOX_USAGE_…. Default on. */
  uint32_t usage;
  /* How reports have the names, markers, states and other texts of the app: JANKBOX_TEXTS_….
   * Default cleaned. */
  uint32_t texts;
} jankbox_options;

/* How events are recorded. Every report says which mode was active when. */
enum {
  /* Every event with its own reading of the clock. */
  JANKBOX_RECORD_EXACT = 1,
  /* Times with an error of about 1 ms: a third of the cost. */
  JANKBOX_RECORD_COARSE = 2,
  /* Only watched threads. */
  JANKBOX_RECORD_UI_ONLY = 3,
  /* No events; slow messages and late frames are still noticed. */
  JANKBOX_RECORD_OFF = 4,
  /* Exact; if that costs more than the budget, the next cheaper mode. */
  JANKBOX_RECORD_GOVERNED = 5
};

/* The handling of markers that the process writes to the kernel's trace_marker (atrace). */
enum {
  /* Recorded only, which is cheaper. */
  JANKBOX_MARKERS_KEEP = 1,
  /* Not recorded; the kernel gets them as before. */
  JANKBOX_MARKERS_OFF = 2,
  /* Recorded, and written to the kernel as before. */
  JANKBOX_MARKERS_PASS_ON = 3
};

/* Events that hooks in the host's libraries record. Bits, or JANKBOX_SOURCES_OFF. */
enum {
  /* Creations of threads with the stack of the creator, names and ends. */
  JANKBOX_SOURCE_THREADS = 1,
  /* File calls of watched threads; never paths or contents. */
  JANKBOX_SOURCE_IO = 2,
  /* Waits of watched threads for locks, and the owners of those locks. */
  JANKBOX_SOURCE_LOCKS = 4,
  /* None of them. */
  JANKBOX_SOURCES_OFF = 8
};

/* Whether the kernel's scheduling, block IO and page faults of this process are kept beside its
 * events, in an ftrace instance of Jankbox's own. Reports name their sources, and why. */
enum {
  /* Neither ftrace nor perf. */
  JANKBOX_FTRACE_OFF = 1,
  /* As auto, and jankbox_last_error() says so if ftrace cannot be used. */
  JANKBOX_FTRACE_ON = 2,
  /* If tracefs is writable; else the UI threads' own context switches, as far as perf permits. */
  JANKBOX_FTRACE_AUTO = 3
};

/* Whether SIGQUIT, with which Android asks a process that does not respond for its stacks, makes
 * Jankbox check the UI thread at once. The signal is passed on, once, to the handler that would
 * have received it. Start on the main thread: if other threads block the signal, it is unblocked
 * there. */
enum { JANKBOX_SIGQUIT_DEFAULT = 0, JANKBOX_SIGQUIT_ON = 1, JANKBOX_SIGQUIT_OFF = 2 };

/* Which incidents of one cause become reports. The others are counted, and the next report of their
 * cause gives their number. */
enum {
  /* All of them. */
  JANKBOX_REPEATS_EVERY = 1,
  /* The first, the worst and a random one within seven days. */
  JANKBOX_REPEATS_EXEMPLARS = 2
};

/* Which frames become reports. A frame of 700 ms always does. */
enum {
  JANKBOX_FRAME_POLICY_DEFAULT = 0,
  /* Frames that drop jank_dropped_frames intervals of 60 Hz (Matrix). */
  JANKBOX_FRAME_POLICY_BANDS = 1,
  /* Frames of more than twice their interval (JankStats). */
  JANKBOX_FRAME_POLICY_JANKSTATS = 2,
  /* Frames that end after their deadline. */
  JANKBOX_FRAME_POLICY_DEADLINE = 3
};

/* Libraries whose frames Jankbox records without a call. Bits, or JANKBOX_FRAMES_OFF. One source
 * counts for each thread: the program's own calls (jankbox/frames.h), else the first of these that
 * reports frames there. */
enum {
  /* AChoreographer of the thread that calls jankbox_start(): wakes it at each vsync. */
  JANKBOX_FRAMES_CHOREOGRAPHER = 1,
  /* GdkFrameClock of GTK 3 and 4. */
  JANKBOX_FRAMES_GTK = 2,
  /* SDL_RenderPresent, SDL_GL_SwapWindow. */
  JANKBOX_FRAMES_SDL = 4,
  /* eglSwapBuffers, glXSwapBuffers. */
  JANKBOX_FRAMES_SWAP = 8,
  /* None of them. */
  JANKBOX_FRAMES_OFF = 16
};

/* How stack samples are taken. */
enum {
  /* perf if it is permitted; else /proc for a blocked thread and a signal for a running one. */
  JANKBOX_SAMPLER_AUTO = 1,
  /* perf only. */
  JANKBOX_SAMPLER_PERF = 2,
  /* /proc only: no stacks of running threads. */
  JANKBOX_SAMPLER_PROC = 3,
  /* As auto on a machine that does not permit perf. */
  JANKBOX_SAMPLER_SIGNAL = 4
};

/* Whether stack samples in code that Node.js compiled are named, from the file /tmp/perf-PID.map
 * that `node --perf-basic-prof` writes. Names have the function, the file without its folder, and
 * the line. */
enum { JANKBOX_JS_NAMES_OFF = 1, JANKBOX_JS_NAMES_ON = 2 };

/* The threads whose slow methods are reported. Not reported is a call that contains a dispatch or a
 * frame, or in which the thread waits for an event (a loop's or a queue's wait), and the outermost
 * call of a thread. */
enum {
  /* Watched threads. */
  JANKBOX_SLOW_METHODS_WATCHED = 1,
  /* Every thread that records calls. */
  JANKBOX_SLOW_METHODS_ALL = 2
};

/* Whether Jankbox counts how much the app is used, so that a backend can say how often incidents
 * are: by day and app version, with a random id of this installation, at most 1 KiB a day. OFF
 * also forgets what was counted of this app and not sent. */
enum { JANKBOX_USAGE_OFF = 1, JANKBOX_USAGE_ON = 2 };

/* The texts of an app in its reports. */
enum {
  /* Without what could name a person or open a door: mail addresses, URLs' hosts and queries,
   * directories, long numbers, tokens, values after "password=" and the like, literals of SQL. */
  JANKBOX_TEXTS_CLEANED = 1,
  /* As they were written. */
  JANKBOX_TEXTS_AS_WRITTEN = 2
};

/* Do not look for loops in the host's libraries (android::Looper, GLib, libuv, …): only the
 * explicit calls count. */
#define JANKBOX_FLAG_NO_LOOP_HOOKS 1u
/* No flag at all, whatever the environment says. */
#define JANKBOX_FLAGS_NONE 2u

/* --- Start and stop */

/* Starts recording with `options` (NULL: all defaults), for the whole process. Call it on the main
 * thread, early. Usually returns within 2 ms: a thread of Jankbox's then creates folders, recovers
 * the ring of a crashed run and uploads, and its errors appear in jankbox_last_error(). If Jankbox
 * already records, returns JANKBOX_OK and ignores `options`.
 *
 * Errors: JANKBOX_INVALID_ARGUMENT if an option is out of its range; JANKBOX_NO_SPACE,
 * JANKBOX_PERMISSION_DENIED, JANKBOX_NOT_FOUND, JANKBOX_BUSY or JANKBOX_IO if the ring file cannot
 * be created. */
JANKBOX_API jankbox_status jankbox_start(const jankbox_options* options);

/* Stops recording and finishes the reports that are being written. Waits at most 2 s; usually not
 * at all, but about 100 ms if ftrace records. Reports that are not written by then are
 * counted in jankbox_last_error(), and the last one of each watched thread is left for recovery. At
 * the end of the process Jankbox calls it itself. jankbox_start() may follow. */
JANKBOX_API void jankbox_stop(void);

/* To be called before the process ends without jankbox_stop() by a system call of its own: its end
 * is then not reported as one that closed nothing. The next jankbox_start() finishes the reports
 * that were being written. Jankbox calls it itself before _exit(), _Exit(), quick_exit() and exec,
 * while its hooks are installed. Safe in signal handlers; does nothing in a child process that has
 * not started Jankbox. */
JANKBOX_API void jankbox_process_exits(void);

/* Changes thresholds while Jankbox records. Takes the fields slow_message_ms, lag_ms, anr_ms,
 * anr_background_ms, cold_start_ms, warm_start_ms, jank_dropped_frames and slow_method_ms of
 * `options` that are set; `size` must be set, all other fields must be unset. A change of the
 * config file (jankbox_options.config_file) has the effect of this call; the later of the two wins.
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
 * Errors: JANKBOX_NOT_RUNNING; JANKBOX_BUSY if 48 reports are pending. */
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
