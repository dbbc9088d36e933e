#include "tests/report/sample_report.h"

#include <zstd.h>

#include "report/report_encoder.h"

namespace jankbox {

Report FilledReport() {
  Report report;
  report.id = "01890a5d-ac96-774b-bcce-b302099a8057";
  report.revision = 3;
  report.kind = ReportKind::kAnr;
  report.duration_ns = 5'912'345'678;
  report.ongoing = true;
  report.what = "GtkButton::clicked";
  report.process = "gedit";
  report.pid = 4211;
  report.thread = "main-thread";
  report.tid = 4212;
  report.fingerprint = "00112233445566778899aabbccddeeff";
  report.verdict = {1001,
                    1002,
                    1003,
                    1004,
                    1005,
                    1006,
                    1007,
                    1008,
                    1009,
                    uint64_t{1} << 63,
                    "waited for a lock",
                    {"schedstat", "syscall samples"},
                    {{"fault", 1011, "fault count", true, "in page faults"}},
                    4213,
                    "worker-3",
                    {{"ImageCache::Decode", "app", 4023, "beef03"}}};
  report.top_frames = {{"pthread_mutex_lock", "libc.so.6", 0x9a3f0, "beef01"},
                       {"Größe::berechnen()", "[method]", 0xffff'ffff'ffff'fff0, "beef02"}};
  report.window_from_ns = 20'000'000'001;
  report.window_to_ns = 30'000'000'002;
  report.window_to_realtime_ns = 1'772'366'400'123'456'789;  // 2026-03-01T12:00:00.123Z
  report.losses = {2001, 2002, 2003, 2004, 2005, 2006, 2007,
                   2008, 2009, 2010, 2011, 2012, 2013, 2014};
  report.self_cpu_ns = 3001;
  report.ring_bytes = 3002;
  report.start_us = 3003;
  report.sampler = "perf+proc";
  report.loop = "glib";
  report.sample_count = 4001;
  report.app_name = "org.gnome.gedit";
  report.app_version = "43.2";
  report.os = "Linux 6.1.0 x86_64";
  report.sdk_version = "0.1.0";
  report.frame_dropped = 4002;
  report.frame_interval_ns = 16'666'667;
  report.clock = "tsc";
  report.ring_in_memory_only = true;
  report.notes = {"no perf events", "no schedstat"};
  report.sched_switches = 4003;
  report.recorded_ns = 3004;
  report.uptime_ns = 3005;
  report.cpu_budget_permille = 3006;
  report.modes = {{"coarse", "over budget", 20'000'000'003, 30'000'000'004}};
  report.clock_error_ns = 4004;
  report.atrace = {"on", 4005, 4006, "always gfx", "libcutils.so", 4007};
  report.refusals = {{"stopped", 4008, 4009}};
  report.history = {
      5001, 5002, 5003, 5004, {"scroll"}, {{5005, 5006, 5007, 5008}}, {{5009, 5010, 5011, 5012}}};
  report.idle_callback = "prefetch";
  report.idle_callback_ns = 5013;
  report.input_wait_ns = 5014;
  report.frame_source = "gtk";
  report.janky_frame = {6001,     6002,   6003, 6004, {6005, 6006, 6007, 6008, 6009},
                        "middle", "Cart", 6010};
  report.scenes = {{"Checkout",
                    6011,
                    6012,
                    6013,
                    6014,
                    {6015, 6016, 6017, 6018, 6019},
                    6020,
                    6021,
                    6022,
                    6023,
                    6024,
                    {6025, 6026, 6027, 6028, 6029},
                    6030,
                    6031,
                    6032,
                    6033,
                    6034,
                    6035,
                    "sdl"}};
  report.states = {{"screen", "Feed", 6036, 6037}};
  report.uncounted_frames = 6038;
  report.render_work = {{"upload texture: atlas", 6039, 6040, 6041, true}};
  report.held_ns = 4501;
  report.background = true;
  report.anr_limit_ns = 4502;
  report.threads = {
      {4503, "worker", "S", "lock", 4504, true, {{"futex_wait", "libc.so.6", 4505, "beef03"}}}};
  report.threads_without_stack = 4506;
  report.threads_not_listed = 4507;
  report.sigquits = 4508;
  report.methods = {{"Feed::Bind", 4010, 4011, 4012, true}};
  report.methods_left_out = 4013;
  report.exemplar = "worst";
  report.repeat_count = 4014;
  report.attributes = {{"cart", "full"}};
  report.startup = {true, 4019, 4020, 4021, 4022};
  report.extra = {{"Feed::Decode", 4015, 4016}};
  report.healthy_messages = 4017;
  report.healthy_median_ns = 4018;
  return report;
}

std::string CompressedTrace(std::string_view content, int window_log) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log != 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

std::string SealedBytes(const Report& report, std::string_view trace) {
  return CompressedTrace(trace) + SkippableFrame(EncodeReport(report));
}

}  // namespace jankbox
