#include "tests/tools/sealed_report.h"

#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/tools/subprocess.h"

namespace jankbox::tools {

proto::Report SampleReport(int number) {
  proto::Report report;
  char id[64];
  snprintf(id, sizeof(id), "01960000-%04x-7abc-8def-0123456789ab", static_cast<unsigned>(number));
  report.set_id(id);
  report.set_revision(1);
  report.set_kind(proto::SLOW_MESSAGE);
  report.set_duration_ns(912'000'000);
  report.set_what("timer 7");
  report.set_process("gtk3-widget-fac");
  report.set_pid(4000 + number);
  report.set_thread("gtk3-widget-fac");
  report.set_tid(4000 + number);
  report.set_fingerprint("3fa9c1d2e4b5968778695a4b3c2d1e0f");
  report.mutable_verdict()->set_running_ns(893'760'000);
  report.mutable_verdict()->set_lock_ns(18'240'000);
  report.mutable_verdict()->set_summary("The thread was computing for 98 % of the time.");
  report.mutable_verdict()->add_sources("schedstat");
  const auto frame = [&](const char* function, const char* module, uint64_t pc) {
    proto::Frame* added = report.add_top_frames();
    added->set_function(function);
    added->set_module(module);
    added->set_rel_pc(pc);
  };
  frame("memcpy", "libc.so.6", 0x1000);
  frame("gtk_builder_add_from_resource", "libgtk-3.so.0", 0x2000);
  frame("", "gtk3-widget-factory", 0x3456);
  // 2020-03-01T12:00:00Z, and a minute for each number.
  report.mutable_window()->set_from_ns(1'000'000'000);
  report.mutable_window()->set_to_ns(11'000'000'000);
  report.mutable_window()->set_to_realtime_ns(
      (1583064000ull + 60ull * static_cast<uint64_t>(number)) * 1'000'000'000);
  report.mutable_losses()->set_lost_samples(3);
  report.mutable_self_cost()->set_ring_bytes(8 << 20);
  report.set_sampler("perf");
  report.set_loop("glib");
  report.set_sample_count(91);
  return report;
}

std::string SealReport(const proto::Report& report, const std::string& trace) {
  std::string file(ZSTD_compressBound(trace.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 20);
  const size_t size = ZSTD_compress2(context, file.data(), file.size(), trace.data(), trace.size());
  ZSTD_freeCCtx(context);
  if (ZSTD_isError(size)) abort();
  file.resize(size);
  const std::string message = report.SerializeAsString();
  for (uint32_t word : {uint32_t{0x184D2A50}, static_cast<uint32_t>(message.size())}) {
    for (int shift = 0; shift < 32; shift += 8) file += static_cast<char>(word >> shift);
  }
  return file + message;
}

std::string SealReportFile(const std::string& directory, const proto::Report& report,
                           const std::string& trace) {
  const std::string path = directory + "/" + report.id() + ".pftrace.zst";
  WriteFile(path, SealReport(report, trace));
  return path;
}

}  // namespace jankbox::tools
