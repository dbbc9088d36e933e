#include "tests/collector/sealed_report.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <memory>
#include <random>

#include "base/clock.h"
#include "base/uuid.h"

namespace jankbox::collector {

proto::Report SampleReport(uint32_t revision) {
  proto::Report report;
  report.set_id(NewUuid(RealtimeNs() / kNsPerMs));
  report.set_revision(revision);
  report.set_kind(proto::ANR);
  report.set_duration_ns(6'000'000'000);
  report.set_what("MainLoop");
  report.set_process("gallery");
  report.set_pid(4711);
  report.set_thread("main");
  report.set_tid(4711);
  report.set_fingerprint("00112233445566778899aabbccddeeff");
  report.mutable_verdict()->set_lock_ns(5'000'000'000);
  report.mutable_verdict()->set_running_ns(1'000'000'000);
  report.mutable_verdict()->set_summary("waited for a lock held by db-writer");
  report.mutable_verdict()->add_sources("syscall samples");
  for (const char* function : {"LoadThumbnails", "OnClick"}) {
    proto::Frame* frame = report.add_top_frames();
    frame->set_function(function);
    frame->set_module("libgallery.so");
    frame->set_rel_pc(0x1234);
  }
  report.mutable_window()->set_from_ns(1'000'000'000);
  report.mutable_window()->set_to_ns(9'000'000'000);
  report.mutable_window()->set_to_realtime_ns(RealtimeNs());
  return report;
}

std::string Noise(size_t bytes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string noise(bytes, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  return noise;
}

std::string ZstdFrame(std::string_view content, int window_log) {
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                   &ZSTD_freeCCtx);
  if (window_log != 0) {
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log);
    // Without it a small frame is one segment, whose window is its content.
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0);
  }
  std::string frame(ZSTD_compressBound(content.size()) + 64, '\0');
  ZSTD_inBuffer in{content.data(), content.size(), 0};
  ZSTD_outBuffer out{frame.data(), frame.size(), 0};
  // Begun before the size is known, or zstd shrinks the window to the content.
  if (window_log != 0) ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_flush);
  EXPECT_EQ(ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_end), 0u);
  frame.resize(out.pos);
  return frame;
}

std::string SkippableFrameOf(std::string_view content) {
  std::string frame("\x50\x2A\x4D\x18", 4);
  for (int shift = 0; shift < 32; shift += 8) {
    frame += static_cast<char>((content.size() >> shift) & 0xff);
  }
  frame += content;
  return frame;
}

std::string Seal(const proto::Report& report, std::string_view trace) {
  return ZstdFrame(trace) + SkippableFrameOf(report.SerializeAsString());
}

}  // namespace jankbox::collector
