#include "base/cpu_features.h"

#include <gtest/gtest.h>

#if defined(__x86_64__)

namespace jankbox {
namespace {

TEST(CpuFeatures, AreThoseThatTheCompilersLibraryFinds) {
  EXPECT_EQ(HasSse42(), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(HasAvx2(), __builtin_cpu_supports("avx2") != 0);
}

}  // namespace
}  // namespace jankbox

#endif
