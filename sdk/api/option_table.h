// The one table of options. Validation, every channel (fields, environment, config file, Android's
// properties, Java, `jankbox run`) and docs/options.md come from it; a test compares the comments
// of jankbox.h and the Java setters with it. Pure. To add an option: a row here, a field at the
// end of jankbox_options, a setter in Options.java.
//
// JANKBOX_OPTION_TABLE() is expanded with one macro for each kind of option:
//   NUMBER(name, default, least, most, when, store, doc)  most UINT32_MAX: the option has a "none"
//   WORD(name, words, default, store, doc)                one of `words`
//   BITS(name, words, default, store, doc)                some of `words`, or the last word only
//   TEXT(name, default, variable, check, store, doc)      `variable`: its environment variable
// `store` puts the checked value v into the Options o, `check` refuses a text (options.cc only).
#ifndef JANKBOX_SDK_API_OPTION_TABLE_H_
#define JANKBOX_SDK_API_OPTION_TABLE_H_

#include <cstdint>

#include "jankbox/jankbox.h"

namespace jankbox {

// Whether an option may change while Jankbox records.
enum class OptionChange : uint8_t { kAtStart, kAnyTime };

// Texts are inside, not pointed to: pointers would cost the library a relocation each.
struct OptionWord {
  char word[14];
  uint32_t value;
};

inline constexpr OptionWord kRecordWords[] = {{"governed", JANKBOX_RECORD_GOVERNED},
                                              {"exact", JANKBOX_RECORD_EXACT},
                                              {"coarse", JANKBOX_RECORD_COARSE},
                                              {"ui_only", JANKBOX_RECORD_UI_ONLY},
                                              {"off", JANKBOX_RECORD_OFF}};
inline constexpr OptionWord kMarkerWords[] = {{"pass_on", JANKBOX_MARKERS_PASS_ON},
                                              {"keep", JANKBOX_MARKERS_KEEP},
                                              {"off", JANKBOX_MARKERS_OFF}};
inline constexpr OptionWord kSourceWords[] = {{"threads", JANKBOX_SOURCE_THREADS},
                                              {"io", JANKBOX_SOURCE_IO},
                                              {"locks", JANKBOX_SOURCE_LOCKS},
                                              {"off", JANKBOX_SOURCES_OFF}};
inline constexpr OptionWord kFtraceWords[] = {
    {"auto", JANKBOX_FTRACE_AUTO}, {"on", JANKBOX_FTRACE_ON}, {"off", JANKBOX_FTRACE_OFF}};
inline constexpr OptionWord kRepeatWords[] = {{"exemplars", JANKBOX_REPEATS_EXEMPLARS},
                                              {"every", JANKBOX_REPEATS_EVERY}};
inline constexpr OptionWord kFramePolicyWords[] = {{"bands", JANKBOX_FRAME_POLICY_BANDS},
                                                   {"jankstats", JANKBOX_FRAME_POLICY_JANKSTATS},
                                                   {"deadline", JANKBOX_FRAME_POLICY_DEADLINE}};
inline constexpr OptionWord kFrameSourceWords[] = {{"choreographer", JANKBOX_FRAMES_CHOREOGRAPHER},
                                                   {"gtk", JANKBOX_FRAMES_GTK},
                                                   {"sdl", JANKBOX_FRAMES_SDL},
                                                   {"swap", JANKBOX_FRAMES_SWAP},
                                                   {"off", JANKBOX_FRAMES_OFF}};
inline constexpr OptionWord kSamplerWords[] = {{"auto", JANKBOX_SAMPLER_AUTO},
                                               {"perf", JANKBOX_SAMPLER_PERF},
                                               {"proc", JANKBOX_SAMPLER_PROC},
                                               {"signal", JANKBOX_SAMPLER_SIGNAL}};
inline constexpr OptionWord kSigquitWords[] = {{"on", JANKBOX_SIGQUIT_ON},
                                               {"off", JANKBOX_SIGQUIT_OFF}};
inline constexpr OptionWord kJsNameWords[] = {{"on", JANKBOX_JS_NAMES_ON},
                                              {"off", JANKBOX_JS_NAMES_OFF}};
inline constexpr OptionWord kTextWords[] = {{"cleaned", JANKBOX_TEXTS_CLEANED},
                                            {"as_written", JANKBOX_TEXTS_AS_WRITTEN}};
inline constexpr OptionWord kUsageWords[] = {{"on", JANKBOX_USAGE_ON}, {"off", JANKBOX_USAGE_OFF}};
inline constexpr OptionWord kSlowMethodWords[] = {{"watched", JANKBOX_SLOW_METHODS_WATCHED},
                                                  {"all", JANKBOX_SLOW_METHODS_ALL}};
inline constexpr OptionWord kFlagWords[] = {{"no_loop_hooks", JANKBOX_FLAG_NO_LOOP_HOOKS},
                                            {"none", JANKBOX_FLAGS_NONE}};

// Android's runtime waits for SIGQUIT; elsewhere the signal ends a program that does not.
#if defined(__ANDROID__)
inline constexpr uint32_t kSigquitDefault = JANKBOX_SIGQUIT_ON;
#else
inline constexpr uint32_t kSigquitDefault = JANKBOX_SIGQUIT_OFF;
#endif

}  // namespace jankbox

// clang-format off
#define JANKBOX_OPTION_TABLE(NUMBER, WORD, BITS, TEXT)                                             \
  BITS(flags, kFlagWords, JANKBOX_FLAGS_NONE,                                                      \
       o.loop_hooks = (v & JANKBOX_FLAG_NO_LOOP_HOOKS) == 0,                                       \
       "Switches that are rarely needed: JANKBOX_FLAG_….")                                         \
  TEXT(dir, "", "JANKBOX_DIR", AnyText, o.dir = v,                                                 \
       "The folder of the reports. Unset: $XDG_STATE_HOME/jankbox, else "                          \
       "$HOME/.local/state/jankbox, else /tmp/jankbox-UID.")                                       \
  TEXT(app_name, "", nullptr, AnyText, o.app_name = v,                                             \
       "The app's name in reports. Unset: the program's file name.")                               \
  TEXT(app_version, "", nullptr, AnyText, o.app_version = v, "The app's version in reports.")      \
  TEXT(upload_url, "", "JANKBOX_UPLOAD_URL", AnyText, o.upload_url = v,                            \
       "The base URL of the collector, such as https://jank.example.com. Unset: nothing is sent.") \
  NUMBER(window_ms, 10'000, 100, 600'000, kAtStart, o.window_ns = Ms(v),                           \
         "How far back a report looks, in milliseconds.")                                          \
  NUMBER(ring_bytes, 8u << 20, 1u << 20, 1u << 30, kAtStart, o.ring_bytes = v,                     \
         "The size limit of the ring file, in bytes.")                                                   \
  NUMBER(slow_message_ms, 700, 10, 600'000, kAnyTime, o.slow_message_ns = Ms(v),                   \
         "A dispatch that takes this many milliseconds is a slow message (as in Matrix).")         \
  NUMBER(anr_ms, 5'000, 10, 3'600'000, kAnyTime, o.anr_ns = Ms(v),                                 \
         "A UI thread that is blocked for this many milliseconds is not responding (as on "        \
         "Android). At least slow_message_ms.")                                                    \
  NUMBER(jank_dropped_frames, 9, 1, 10'000, kAnyTime, o.jank_dropped_frames = v,                   \
         "A frame that drops this many intervals at 60 Hz becomes a report (Matrix' band "         \
         "\"middle\", 150 ms); at other refresh rates the same time counts.")                      \
  NUMBER(sample_interval_ms, 5, 1, 1'000, kAtStart, o.sample_interval_ms = v,                      \
         "Milliseconds between the stack samples of an overdue thread.")                           \
  NUMBER(min_free_mib, 64, 1, UINT32_MAX, kAtStart, o.min_free_bytes = Mib(NoneIsZero(v)),         \
         "Nothing is written if less than this many MiB would be left free. None: no floor.")      \
  NUMBER(cpu_budget_permille, 10, 1, UINT32_MAX, kAtStart, o.cpu_budget_permille = NoneIsZero(v),  \
         "The CPU time that Jankbox may use, recording included, in thousandths of one core. "     \
         "None: no budget.")                                                                       \
  WORD(record, kRecordWords, JANKBOX_RECORD_GOVERNED, o.fixed_mode = FixedMode(v),                 \
       "How events are recorded: JANKBOX_RECORD_….")                                               \
  WORD(markers, kMarkerWords, JANKBOX_MARKERS_PASS_ON, o.markers = MarkersOf(v),                   \
       "How markers that the process writes to trace_marker are handled: JANKBOX_MARKERS_….")      \
  TEXT(atrace, "auto", nullptr, CheckAtrace, o.atrace_tags = AtraceTags(v),                        \
       "Which categories are turned on in the program's atrace library, if it has one: off, auto " \
       "(the categories of a system trace and the app's own sections), names such as "             \
       "gfx,view,app, or their number (0x496e).")                                                  \
  BITS(sources, kSourceWords,                                                                      \
       JANKBOX_SOURCE_THREADS | JANKBOX_SOURCE_IO | JANKBOX_SOURCE_LOCKS, o.sources = SourcesOf(v),\
       "Events that hooks in the host's libraries record: JANKBOX_SOURCE_….")                      \
  WORD(ftrace, kFtraceWords, JANKBOX_FTRACE_AUTO, o.kernel.mode = FtraceModeOf(v),                 \
       "Whether the kernel's events of this process are recorded: JANKBOX_FTRACE_….")              \
  NUMBER(ftrace_buffer_kib, 1024, 64, 65'536, kAtStart, o.kernel.buffer_kib = v,                   \
         "The size of the kernel's buffer for each CPU, in KiB; at most 16 MiB in total.")         \
  NUMBER(reports_a_day, 100, 1, UINT32_MAX, kAtStart, o.repeats.reports_a_day = NoneIsZero(v),     \
         "The most reports that are written in 24 hours, over restarts; a quarter more for ANRs "  \
         "and the like. None: no cap.")                                                            \
  WORD(repeats, kRepeatWords, JANKBOX_REPEATS_EXEMPLARS,                                           \
       o.repeats.every_incident = v == JANKBOX_REPEATS_EVERY,                                      \
       "Which incidents of one cause become reports: JANKBOX_REPEATS_….")                          \
  NUMBER(lag_ms, 2'000, 10, 3'600'000, kAnyTime, o.lag_ns = Ms(v),                                 \
         "A dispatch that takes this many milliseconds is a lag, which is between slow and not "   \
         "responding (as in Matrix). At least slow_message_ms.")                                   \
  NUMBER(anr_background_ms, 10'000, 10, 3'600'000, kAnyTime, o.anr_background_ns = Ms(v),          \
         "As anr_ms, while the app is in the background (as in Matrix). At least anr_ms.")         \
  WORD(sigquit, kSigquitWords, kSigquitDefault, o.sigquit = v == JANKBOX_SIGQUIT_ON,               \
       "Whether SIGQUIT makes Jankbox check the UI thread at once: JANKBOX_SIGQUIT_… (on "         \
       "Android the default is on).")                                                              \
  TEXT(watch_threads, "", nullptr, AnyText, o.watch_threads = v,                                   \
       "Threads besides the main one whose event loops are watched, by name: render,io-*. A * at " \
       "the end of a name matches any rest; * only matches all threads. Unset: none.")             \
  NUMBER(input_latency_ms, 2'000, 10, 60'000, kAtStart, o.input_latency_ns = Ms(v),                \
         "An input event that waits this many milliseconds is an incident (as in Matrix).")        \
  NUMBER(history_messages, 200, 1, 5'000, kAtStart, o.history_messages = v,                        \
         "How many messages before an incident its report lists one by one.")                      \
  WORD(frame_policy, kFramePolicyWords, JANKBOX_FRAME_POLICY_BANDS,                                \
       o.frame_policy = FramePolicyOf(v),                                                          \
       "Which frames become reports: JANKBOX_FRAME_POLICY_….")                                     \
  BITS(frame_sources, kFrameSourceWords,                                                           \
       JANKBOX_FRAMES_GTK | JANKBOX_FRAMES_SDL | JANKBOX_FRAMES_SWAP,                              \
       o.frame_sources = FrameSourcesOf(v),                                                        \
       "The libraries whose frames are noticed without a call: JANKBOX_FRAMES_….")                 \
  NUMBER(cold_start_ms, 10'000, 100, 3'600'000, kAnyTime, o.cold_start_ns = Ms(v),                 \
         "A start of the process that takes this many milliseconds to its first frame is slow "    \
         "(as in Matrix).")                                                                        \
  NUMBER(warm_start_ms, 4'000, 100, 3'600'000, kAnyTime, o.warm_start_ns = Ms(v),                  \
         "A return to the foreground that takes this many milliseconds to the next frame is slow " \
         "(as in Matrix).")                                                                        \
  TEXT(config_file, "", "JANKBOX_CONFIG", AnyText, o.config_file = v,                              \
       "A file of lines such as slow_message_ms = 300, # starts a comment: the options that may "  \
       "change while recording. It is read at the start and, within some seconds, after a change.")\
  WORD(sampler, kSamplerWords, JANKBOX_SAMPLER_AUTO, o.sampler_mode = SamplerModeOf(v),            \
       "How stack samples are taken: JANKBOX_SAMPLER_….")                                          \
  TEXT(ftrace_clock, "", nullptr, AnyText, o.kernel.trace_clock = v,                               \
       "The trace clock of the kernel's events, by its name in tracefs. Unset: the best one that " \
       "the kernel has.")                                                                          \
  TEXT(atrace_library, "", nullptr, AnyText, o.atrace_library = v,                                 \
       "The path of an atrace library that is loaded if the program has none. Unset: none.")       \
  TEXT(properties_file, "", nullptr, CheckPlainPath, o.properties_file = v,                        \
       "The absolute path of a file of lines key=value that replaces Android's system "            \
       "properties; it is read once a second. Unset: the environment at the start counts.")        \
  WORD(js_names, kJsNameWords, JANKBOX_JS_NAMES_OFF, o.js_names = v == JANKBOX_JS_NAMES_ON,        \
       "Whether reports name the JavaScript functions of a Node.js program that runs with "        \
       "--perf-basic-prof: JANKBOX_JS_NAMES_….")                                                   \
  NUMBER(slow_method_ms, 700, 10, UINT32_MAX, kAnyTime, o.slow_method_ns = Ms(NoneIsZero(v)),      \
         "A recorded call outside of any dispatch that takes this many milliseconds is a slow "    \
         "method (as Matrix' evil method). None: off.")                                            \
  WORD(slow_method_threads, kSlowMethodWords, JANKBOX_SLOW_METHODS_WATCHED,                        \
       o.slow_methods_of_all = v == JANKBOX_SLOW_METHODS_ALL,                                      \
       "The threads whose slow methods are reported: JANKBOX_SLOW_METHODS_….")                     \
  WORD(usage, kUsageWords, JANKBOX_USAGE_ON, o.usage = v == JANKBOX_USAGE_ON,                      \
       "Whether foreground time, sessions, frames and messages are counted by day and sent with "  \
       "the counts of incidents: JANKBOX_USAGE_….")                                                \
  WORD(texts, kTextWords, JANKBOX_TEXTS_CLEANED, o.clean_texts = v == JANKBOX_TEXTS_CLEANED,       \
       "How reports have the names, markers, states and other texts of the app: JANKBOX_TEXTS_….")
// clang-format on

#endif  // JANKBOX_SDK_API_OPTION_TABLE_H_
