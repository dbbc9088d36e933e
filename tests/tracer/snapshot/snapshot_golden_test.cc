// The bytes of a tiny snapshot, so that no change of the format goes unseen. Checked by hand
// against `protoc --decode_raw`.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (char byte : bytes) {
    char digits[3];
    snprintf(digits, sizeof(digits), "%02x", static_cast<uint8_t>(byte));
    hex += digits;
  }
  return hex;
}

TEST(SnapshotGolden, OneMethodInOneDispatch) {
  const RingWindow window =
      MakeWindow(1000, 2000,
                 {MakeThread(11, {MakeChunk({DispatchBegin("msg", 1100), Begin(1, 1200),
                                             End(1, 1500), DispatchEnd(1501)})})});
  std::string error;
  const std::string trace = DecompressTrace(Snapshot(window).file, &error);
  EXPECT_EQ(Hex(trace),
            "0a3650016801b8050132aa8080000a88808000080610d0cbc1960b0a85808000080310d00f0a8c80"
            "8000080110d08fa8b1e39fe7cb171006"
            "0a2b50016802e203a18080000880808080909c8480011a9280800008e121320b636f6d2e6578616d"
            "706c65384d"
            "0a3350016802e203a9808000088b808080909c8480022880808080909c848001229080800008e121"
            "100b2a097468726561642d3131"
            "0adb0150086801b8050132b98080000a88808000080610ccc4c1960b0a85808000080310cc080a8c"
            "808000080110cc88a8b1e39fe7cb170a8c808000084010ccc4c1960b18012001da0392808000d003"
            "405a8a808000588b808080909c84800262f98080000a8a808000080112066d6574686f640a8c8080"
            "000802120864697370617463680a8b80800008031207696e7374616e740a89808000080412056173"
            "796e630a8b8080000805120773616d706c65640a8a808000080612066174726163650a8880800008"
            "071204776169740a8a80800008081206746872656164"
            "0a1550086802628c8080001287808000080112036d7367"
            "0a10500868025a0748011802508100408000"
            "0a1450086802628b8080001286808000080212026d31"
            "0a10500868025a074801180150820040e400"
            "0a0b500868025a02480240ac02"
            "0a0b500868025a024802408100");
}

}  // namespace
}  // namespace jankbox::testing
