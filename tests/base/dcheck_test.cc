#include "base/dcheck.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

TEST(Dcheck, ConditionThatHoldsIsSilent) { DCHECK(1 + 1 == 2); }

TEST(DcheckDeathTest, DebugBuildAbortsAndNamesThePlaceReleaseBuildEvaluatesNothing) {
  int evaluated = 0;
#if defined(NDEBUG)
  DCHECK(++evaluated > 1);
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_DEATH(DCHECK(++evaluated > 1), "dcheck_test.cc:[0-9]+: DCHECK failed: .*evaluated > 1");
#endif
}

}  // namespace
}  // namespace jankbox
