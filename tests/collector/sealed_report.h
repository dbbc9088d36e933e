// Sealed report files made with libzstd and libprotobuf, apart from the SDK's own encoder.
#ifndef JANKBOX_TESTS_COLLECTOR_SEALED_REPORT_H_
#define JANKBOX_TESTS_COLLECTOR_SEALED_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "report/report.pb.h"

namespace jankbox::collector {

// A plausible ANR with two frames and a verdict; a new id each time.
proto::Report SampleReport(uint32_t revision = 1);

// `bytes` that do not compress, the same for the same seed.
std::string Noise(size_t bytes, uint64_t seed);

std::string ZstdFrame(std::string_view content, int window_log = 0);
std::string SkippableFrameOf(std::string_view content);

// A zstd frame of `trace` followed by the report.
std::string Seal(const proto::Report& report, std::string_view trace = "trace bytes");

}  // namespace jankbox::collector

#endif  // JANKBOX_TESTS_COLLECTOR_SEALED_REPORT_H_
