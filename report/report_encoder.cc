#include "report/report_encoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/proto_writer.h"

namespace jankbox {
namespace {

// Symbols and messages are cut by rule, so that a report never outgrows kMaxReportMessageBytes.
constexpr size_t kMaxTextBytes = 1024;
constexpr size_t kMaxTopFrames = 256;
constexpr size_t kMaxListedTexts = 64;
constexpr size_t kMaxMessageNames = 512;
constexpr size_t kMaxMessages = 5000;

// Length of the well-formed UTF-8 sequence that `text` (not empty) begins with, 0 if there is none.
size_t Utf8SequenceLength(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool above_unicode = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || above_unicode ? 0 : length;
}

// proto3 readers refuse a message whose strings are not UTF-8, and thread and symbol names may hold
// any bytes: what is malformed becomes U+FFFD.
std::string CleanText(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const std::string_view piece = length == 0 ? "\xef\xbf\xbd" : text.substr(0, length);
    if (clean.size() + piece.size() > kMaxTextBytes) break;
    clean.append(piece);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return clean;
}

// proto3: a scalar at its default is not written.
class FieldWriter {
 public:
  explicit FieldWriter(std::string* out) : writer_(out) {}

  void Number(uint32_t field, uint64_t value) {
    if (value != 0) writer_.Varint(field, value);
  }
  void Signed(uint32_t field, int64_t value) {
    if (value != 0) writer_.Int(field, value);
  }
  void Text(uint32_t field, std::string_view value) {
    if (!value.empty()) writer_.Bytes(field, CleanText(value));
  }
  void Texts(uint32_t field, const std::vector<std::string>& values) {
    const size_t count = std::min(values.size(), kMaxListedTexts);
    for (size_t i = 0; i < count; ++i) writer_.Bytes(field, CleanText(values[i]));
  }
  // A nested message; left out when empty.
  void Nested(uint32_t field, std::string_view content) {
    if (!content.empty()) writer_.Bytes(field, content);
  }
  void Element(uint32_t field, std::string_view content) { writer_.Bytes(field, content); }

 private:
  ProtoWriter writer_;
};

std::string EncodeFrame(const ReportFrame& frame) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, frame.function);
  out.Text(2, frame.module);
  out.Number(3, frame.rel_pc);
  out.Text(4, frame.build_id);
  return bytes;
}

std::string EncodeShare(const ReportShare& share) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, share.name);
  out.Number(2, share.ns);
  out.Text(3, share.source);
  out.Number(4, share.estimate ? 1 : 0);
  out.Text(5, share.detail);
  return bytes;
}

std::string EncodeVerdict(const ReportVerdict& verdict) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Number(1, verdict.running_ns);
  out.Number(2, verdict.runnable_ns);
  out.Number(3, verdict.lock_ns);
  out.Number(4, verdict.disk_ns);
  out.Number(5, verdict.fault_ns);
  out.Number(6, verdict.ipc_ns);
  out.Number(7, verdict.gc_ns);
  out.Number(8, verdict.sleeping_ns);
  out.Number(9, verdict.blocked_ns);
  out.Number(10, verdict.unknown_ns);
  out.Text(11, verdict.summary);
  out.Texts(12, verdict.sources);
  for (const ReportShare& share : verdict.shares) out.Element(13, EncodeShare(share));
  out.Signed(14, verdict.lock_owner_tid);
  out.Text(15, verdict.lock_owner);
  for (const ReportFrame& frame : verdict.lock_owner_frames) out.Element(16, EncodeFrame(frame));
  return bytes;
}

std::string EncodeWindow(const Report& report) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Number(1, report.window_from_ns);
  out.Number(2, report.window_to_ns);
  out.Number(3, report.window_to_realtime_ns);
  return bytes;
}

std::string EncodeLosses(const ReportLosses& losses) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Number(1, losses.overwritten_chunks);
  out.Number(2, losses.torn_chunks);
  out.Number(3, losses.dropped_events);
  out.Number(4, losses.truncated_stacks);
  out.Number(5, losses.lost_samples);
  out.Number(6, losses.unmatched_ends);
  out.Number(7, losses.open_slices);
  out.Number(8, losses.suppressed_incidents);
  out.Number(9, losses.spool_dropped_reports);
  out.Number(10, losses.unnamed_methods);
  out.Number(11, losses.corrupt_chunks);
  out.Number(12, losses.repaired_slices);
  out.Number(13, losses.unknown_markers);
  out.Number(14, losses.lost_kernel_events);
  return bytes;
}

std::string EncodeSelfCost(const Report& report) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Number(1, report.self_cpu_ns);
  out.Number(2, report.ring_bytes);
  out.Number(3, report.start_us);
  out.Number(4, report.recorded_ns);
  out.Number(5, report.uptime_ns);
  out.Number(6, report.cpu_budget_permille);
  return bytes;
}

std::string EncodeMode(const ReportMode& mode) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, mode.mode);
  out.Text(2, mode.reason);
  out.Number(3, mode.from_ns);
  out.Number(4, mode.to_ns);
  return bytes;
}

std::string EncodeAtrace(const ReportAtrace& atrace) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, atrace.state);
  out.Number(2, atrace.tags);
  out.Number(3, atrace.added_tags);
  out.Text(4, atrace.categories);
  out.Text(5, atrace.library);
  out.Number(6, atrace.start_ns);
  return bytes;
}

std::string EncodeThread(const ReportThread& thread) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Signed(1, thread.tid);
  out.Text(2, thread.name);
  out.Text(3, thread.state);
  out.Text(4, thread.wait);
  out.Signed(5, thread.waits_for_tid);
  out.Number(6, thread.deadlocked ? 1 : 0);
  for (const ReportFrame& frame : thread.frames) out.Element(7, EncodeFrame(frame));
  return bytes;
}

std::string EncodeRefusal(const ReportRefusal& refusal) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, refusal.reason);
  out.Number(2, refusal.count);
  out.Number(3, refusal.last_ns);
  return bytes;
}

std::string EncodeMethod(const ReportMethod& method) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, method.function);
  out.Number(2, method.depth);
  out.Number(3, method.count);
  out.Number(4, method.duration_ns);
  out.Number(5, method.open ? 1 : 0);
  return bytes;
}

std::string EncodeRenderWork(const ReportRenderWork& work) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, work.name);
  out.Number(2, static_cast<uint64_t>(work.tid));
  out.Number(3, work.count);
  out.Number(4, work.duration_ns);
  out.Number(5, work.open ? 1 : 0);
  return bytes;
}

std::string EncodeExtra(const ReportExtra& extra) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, extra.function);
  out.Number(2, extra.extra_ns);
  out.Number(3, extra.usual_ns);
  return bytes;
}

std::string EncodeStartup(const ReportStartup& startup) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Number(1, startup.cold ? 1 : 0);
  out.Number(2, startup.recorder_ns);
  out.Number(3, startup.first_dispatch_ns);
  out.Number(4, startup.first_frame_ns);
  out.Number(5, startup.drawn_ns);
  return bytes;
}

std::string EncodeAttribute(const ReportAttribute& attribute) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, attribute.key);
  out.Text(2, attribute.value);
  return bytes;
}

std::string EncodeMessage(const ReportMessage& message) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Number(1, message.name);
  out.Number(2, message.before_ns);
  out.Number(3, message.wall_ns);
  out.Number(4, message.count);
  return bytes;
}

std::string EncodeHistory(const ReportHistory& history) {
  std::string bytes;
  FieldWriter out(&bytes);
  if (history.count == 0) return bytes;
  out.Number(1, history.from_ns);
  out.Number(2, history.count);
  out.Number(3, history.busy_ns);
  out.Number(4, history.left_out);
  const size_t names = std::min(history.names.size(), kMaxMessageNames);
  for (size_t i = 0; i < names; ++i) out.Element(5, CleanText(history.names[i]));
  for (const ReportMessage& message : history.longest) out.Element(6, EncodeMessage(message));
  const size_t messages = std::min(history.last.size(), kMaxMessages);
  for (size_t i = 0; i < messages; ++i) out.Element(7, EncodeMessage(history.last[i]));
  return bytes;
}

std::string EncodeJankyFrame(const ReportJankyFrame& frame) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Number(1, frame.vsync_id);
  out.Number(2, frame.total_ns);
  out.Number(3, frame.jitter_ns);
  out.Number(4, frame.deadline_overrun_ns);
  for (uint32_t i = 0; i < 5; ++i) out.Number(5 + i, frame.phase_ns[i]);
  out.Text(10, frame.band);
  out.Text(11, frame.scene);
  out.Number(12, frame.presented_late_ns);
  return bytes;
}

std::string EncodeSceneFrames(const ReportSceneFrames& scene) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, scene.scene);
  out.Number(2, scene.frames);
  out.Number(3, scene.from_ns);
  out.Number(4, scene.to_ns);
  out.Number(5, scene.fps_milli);
  for (uint32_t i = 0; i < 5; ++i) out.Number(6 + i, scene.bands[i]);
  out.Number(11, scene.dropped);
  out.Number(12, scene.janky);
  out.Number(13, scene.above_700_ms);
  out.Number(14, scene.discarded);
  out.Number(15, scene.presented_late);
  for (uint32_t i = 0; i < 5; ++i) out.Number(16 + i, scene.phase_ns[i]);
  out.Number(21, scene.jitter_ns);
  out.Number(22, scene.p50_ns);
  out.Number(23, scene.p90_ns);
  out.Number(24, scene.p95_ns);
  out.Number(25, scene.p99_ns);
  out.Number(26, scene.interval_ns);
  out.Text(27, scene.source);
  return bytes;
}

std::string EncodeState(const ReportState& state) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, state.key);
  out.Text(2, state.value);
  out.Number(3, state.from_ns);
  out.Number(4, state.to_ns);
  return bytes;
}

void AppendLittleEndian32(uint32_t value, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

}  // namespace

std::string EncodeReport(const Report& report) {
  std::string bytes;
  FieldWriter out(&bytes);
  out.Text(1, report.id);
  out.Number(2, report.revision);
  out.Number(3, static_cast<uint32_t>(report.kind));
  out.Number(4, report.duration_ns);
  out.Number(5, report.ongoing ? 1 : 0);
  out.Text(6, report.what);
  out.Text(7, report.process);
  out.Signed(8, report.pid);
  out.Text(9, report.thread);
  out.Signed(10, report.tid);
  out.Text(11, report.fingerprint);
  out.Nested(12, EncodeVerdict(report.verdict));
  const size_t frames = std::min(report.top_frames.size(), kMaxTopFrames);
  for (size_t i = 0; i < frames; ++i) out.Element(13, EncodeFrame(report.top_frames[i]));
  out.Nested(14, EncodeWindow(report));
  out.Nested(15, EncodeLosses(report.losses));
  out.Nested(16, EncodeSelfCost(report));
  out.Text(17, report.sampler);
  out.Text(18, report.loop);
  out.Number(19, report.sample_count);
  out.Text(20, report.app_name);
  out.Text(21, report.app_version);
  out.Text(22, report.os);
  out.Text(23, report.sdk_version);
  out.Number(24, report.frame_dropped);
  out.Number(25, report.frame_interval_ns);
  out.Text(26, report.clock);
  out.Number(27, report.ring_in_memory_only ? 1 : 0);
  out.Texts(28, report.notes);
  out.Number(29, report.sched_switches);
  for (const ReportMode& mode : report.modes) out.Element(30, EncodeMode(mode));
  out.Number(31, report.clock_error_ns);
  out.Nested(32, EncodeAtrace(report.atrace));
  for (const ReportRefusal& refusal : report.refusals) out.Element(33, EncodeRefusal(refusal));
  out.Text(34, report.frame_source);
  if (report.janky_frame.total_ns != 0) out.Element(35, EncodeJankyFrame(report.janky_frame));
  for (const ReportSceneFrames& scene : report.scenes) out.Element(36, EncodeSceneFrames(scene));
  for (const ReportState& state : report.states) out.Element(37, EncodeState(state));
  out.Number(38, report.uncounted_frames);
  for (const ReportRenderWork& work : report.render_work) out.Element(39, EncodeRenderWork(work));
  out.Nested(40, EncodeHistory(report.history));
  out.Text(41, report.idle_callback);
  out.Number(42, report.idle_callback_ns);
  out.Number(43, report.input_wait_ns);
  out.Number(45, report.held_ns);
  out.Number(46, report.background ? 1 : 0);
  out.Number(47, report.anr_limit_ns);
  for (const ReportThread& thread : report.threads) out.Element(48, EncodeThread(thread));
  out.Number(49, report.threads_without_stack);
  out.Number(50, report.threads_not_listed);
  out.Number(51, report.sigquits);
  for (const ReportMethod& method : report.methods) out.Element(52, EncodeMethod(method));
  out.Number(53, report.methods_left_out);
  out.Text(54, report.exemplar);
  out.Number(55, report.repeat_count);
  for (const ReportAttribute& attribute : report.attributes) {
    out.Element(56, EncodeAttribute(attribute));
  }
  out.Nested(57, EncodeStartup(report.startup));
  for (const ReportExtra& extra : report.extra) out.Element(58, EncodeExtra(extra));
  out.Number(59, report.healthy_messages);
  out.Number(60, report.healthy_median_ns);
  return bytes;
}

std::string SkippableFrame(std::string_view content) {
  std::string frame;
  frame.reserve(8 + content.size());
  AppendLittleEndian32(kReportFrameMagic, &frame);
  AppendLittleEndian32(static_cast<uint32_t>(content.size()), &frame);
  frame.append(content);
  return frame;
}

}  // namespace jankbox
