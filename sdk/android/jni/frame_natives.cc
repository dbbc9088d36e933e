// Frames from the Choreographer and FrameMetrics, on the thread that made them.
#include <algorithm>
#include <array>

#include "base/clock.h"
#include "jankbox/frames.h"
#include "monitors/frame/frame_metrics.h"
#include "sdk/android/jni/incident_facts.h"
#include "sdk/android/jni/native_methods.h"

namespace jankbox {
namespace {

void Frame(jlong vsync_ns, jlong deadline_ns, jlong interval_ns, jlong begin_ns, jlong end_ns) {
  jankbox_frame(static_cast<uint64_t>(vsync_ns), static_cast<uint64_t>(deadline_ns),
                static_cast<uint64_t>(interval_ns), static_cast<uint64_t>(begin_ns),
                static_cast<uint64_t>(end_ns));
}

// `metrics`: FrameMetrics.getMetric() of 0, 1, 2, …, as many as the API level has.
void JNICALL FrameMetricsOf(JNIEnv* env, jclass, jlongArray metrics, jlong interval_ns) {
  if (metrics == nullptr) return;
  std::array<jlong, kFrameMetrics> values{};
  const jsize count = std::min(env->GetArrayLength(metrics), static_cast<jsize>(kFrameMetrics));
  env->GetLongArrayRegion(metrics, 0, count, values.data());
  const FrameEvent frame = FrameOfMetrics({values.data(), static_cast<size_t>(count)},
                                          static_cast<uint64_t>(interval_ns), MonotonicNs());
  jankbox_frame_info info = {};
  info.size = sizeof(info);
  info.flags = JANKBOX_FRAME_METRICS;
  info.vsync_id = static_cast<int64_t>(frame.vsync_id);
  info.vsync_ns = frame.vsync_ns;
  info.deadline_ns = frame.deadline_ns;
  info.interval_ns = frame.interval_ns;
  info.begin_ns = frame.start_ns;
  info.end_ns = frame.end_ns;
  std::copy_n(frame.phase_ns, static_cast<size_t>(JANKBOX_PHASES), info.phase_ns);
  jankbox_frame_ex(&info, nullptr);
}

void JNICALL FrameJankOf(JNIEnv*, jclass, jlong vsync_id, jint type, jlong scheduled_ns,
                         jlong actual_ns) {
  IncidentFacts::Get().NoteFrameJank(
      {vsync_id, static_cast<uint32_t>(type), scheduled_ns, actual_ns});
}

}  // namespace

void AddFrameMethods(CallForm form, std::vector<JNINativeMethod>* methods) {
  for (const HotMethod& method :
       {Critical<Frame>("frame", "!(JJJJJ)V"),
        HotMethod{"frameMetrics", "!([JJ)V", reinterpret_cast<void*>(FrameMetricsOf), nullptr}}) {
    methods->push_back(MethodOf(method, form));
  }
  methods->push_back({const_cast<char*>("frameJank"), const_cast<char*>("(JIJJ)V"),
                      reinterpret_cast<void*>(FrameJankOf)});
}

}  // namespace jankbox
