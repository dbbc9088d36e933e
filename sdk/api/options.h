// The options of one start, from all channels (sdk/api/option_layers.h) and checked once: after
// this nothing can be out of range. Reads $HOME for the default folder, else pure; allocates.
#ifndef JANKBOX_SDK_API_OPTIONS_H_
#define JANKBOX_SDK_API_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "diagnosis/seal/repeat_policy.h"
#include "jankbox/jankbox.h"
#include "monitors/frame/frame_hooks.h"
#include "monitors/frame/frame_policy.h"
#include "sdk/api/option_layers.h"
#include "sdk/api/thresholds.h"
#include "tracer/atrace/marker_tap.h"
#include "tracer/ftrace/kernel_recorder.h"
#include "tracer/interpose/source_hooks.h"
#include "tracer/ring/ring_format.h"
#include "tracer/sampling/stack_sampler.h"

namespace jankbox {

struct Options : Thresholds {
  std::string dir;  // absolute
  std::string app_name;
  std::string app_version;
  std::string upload_url;
  std::string config_file;  // empty: none
  uint64_t window_ns = 0;
  uint32_t ring_bytes = 0;
  bool sigquit = false;
  FramePolicy frame_policy = FramePolicy::kBands;
  FrameHookSet frame_sources;
  uint32_t sample_interval_ms = 0;
  uint64_t min_free_bytes = 0;
  uint32_t cpu_budget_permille = 10;     // of a core; 0: none
  std::optional<RecordMode> fixed_mode;  // none: the governor chooses
  bool loop_hooks = true;
  uint32_t history_messages = 200;
  uint64_t input_latency_ns = 0;
  std::string watch_threads;  // names of threads whose loops are watched besides the main one's
  MarkerMode markers = MarkerMode::kPassOn;
  std::optional<uint64_t> atrace_tags;  // to turn on in the host's atrace library; none: leave it
  std::string atrace_library;           // loaded where the host has none; empty: none
  std::string properties_file;          // empty: the environment
  SourceSet sources;
  KernelRecorderOptions kernel;
  RepeatLimits repeats;
  bool slow_methods_of_all = false;  // of every recorded thread, else of watched ones
  bool js_names = false;             // of functions that Node.js compiled, from its perf map
  bool usage = true;                 // how much the app is used is counted
  bool clean_texts = true;
  StackSampler::Mode sampler_mode = StackSampler::Mode::kAuto;

  // For changes while recording: the thresholds as if nothing were pinned, and those that are.
  jankbox_options unpinned_thresholds = {};
  jankbox_options pinned_thresholds = {};
};

// The options of a caller whose struct may be older (smaller) than today's; null: all zero.
Result<jankbox_options> WholeOptions(const jankbox_options* options);

// kInvalidArgument names the field that is wrong and its range. `fields` may be null or older
// (smaller) than today's struct.
Result<Options> ValidateOptions(const jankbox_options* fields, const OptionLayers& layers = {});

// `values` with defaults for what is unset, where an ANR is always the slowest: a follower that is
// too low is raised.
jankbox_options OrderedThresholds(const jankbox_options& values);
Thresholds ThresholdsOf(const jankbox_options& values);

// Only what may change while recording; the rest is unset.
jankbox_options OnlyThresholds(const jankbox_options& options);

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_OPTIONS_H_
