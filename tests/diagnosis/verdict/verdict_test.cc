#include "diagnosis/verdict/verdict.h"

#include <gmock/gmock.h>

#include "base/clock.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kMs = kNsPerMs;

VerdictShare Of(VerdictCause cause, VerdictSource source, uint64_t ms) {
  return {.cause = cause, .source = source, .ns = ms * kMs};
}

TEST(Verdict, SharesThatAreAlikeAreOne) {
  Verdict verdict;
  verdict.Add(Of(VerdictCause::kLock, VerdictSource::kHooks, 10));
  verdict.Add(Of(VerdictCause::kLock, VerdictSource::kHooks, 5));
  verdict.Add(Of(VerdictCause::kLock, VerdictSource::kSystemCall, 3));
  verdict.Add(Of(VerdictCause::kDisk, VerdictSource::kHooks, 0));
  EXPECT_EQ(verdict.shares.size(), 2u);
  EXPECT_EQ(verdict.Of(VerdictCause::kLock), 18 * kMs);
  EXPECT_EQ(verdict.total_ns(), 18 * kMs);
  EXPECT_THAT(verdict.Sources(), ElementsAre("hooks", "system calls"));
}

TEST(VerdictSentence, NamesTheOwnerOfTheLockAndWhatItDid) {
  Verdict verdict;
  VerdictShare lock = Of(VerdictCause::kLock, VerdictSource::kHooks, 78);
  lock.owner_tid = 123;
  verdict.Add(lock);
  verdict.Add(Of(VerdictCause::kRunning, VerdictSource::kFtrace, 12));
  verdict.Add(Of(VerdictCause::kDisk, VerdictSource::kFtrace, 10));
  Culprit culprit;
  culprit.function = "Feed::Bind";
  EXPECT_EQ(VerdictSentence(verdict, culprit),
            "78 % waiting for a lock held by tid 123, in Feed::Bind");
  culprit.owner_name = "Worker-3";
  culprit.owner_function = "ImageCache::Decode";
  EXPECT_EQ(VerdictSentence(verdict, culprit),
            "78 % waiting for a lock held by 'Worker-3' (tid 123) in ImageCache::Decode, in "
            "Feed::Bind");
}

TEST(VerdictSentence, NamesTheCallAndWhatItWasOn) {
  Verdict verdict;
  VerdictShare sync = Of(VerdictCause::kDisk, VerdictSource::kHooks, 91);
  sync.call = "fdatasync";
  sync.on = "a regular file";
  verdict.Add(sync);
  verdict.Add(Of(VerdictCause::kDisk, VerdictSource::kFtrace, 9));
  EXPECT_EQ(VerdictSentence(verdict, {}), "100 % in fdatasync on a regular file");
}

TEST(VerdictSentence, NamesWhoHadTheCpu) {
  Verdict verdict;
  verdict.Add(Of(VerdictCause::kRunnable, VerdictSource::kFtrace, 66));
  verdict.Add(Of(VerdictCause::kRunning, VerdictSource::kFtrace, 34));
  Culprit culprit;
  culprit.rivals = "2 threads of this process, 'gcc' of another";
  EXPECT_EQ(VerdictSentence(verdict, culprit),
            "66 % ready to run while others had the CPU: 2 threads of this process, 'gcc' of "
            "another and 34 % on the CPU");
}

TEST(VerdictSentence, MarksAnEstimateAndSaysNothingOfNothing) {
  Verdict verdict;
  EXPECT_EQ(VerdictSentence(verdict, {}), "");
  VerdictShare faults = Of(VerdictCause::kFault, VerdictSource::kFaultCount, 90);
  faults.estimate = true;
  verdict.Add(faults);
  verdict.Add(Of(VerdictCause::kRunning, VerdictSource::kFtrace, 10));
  EXPECT_EQ(VerdictSentence(verdict, {}), "90 % in page faults (estimate)");
}

TEST(KeyCause, HasThreeFifthsOfTheTimeThatIsKnown) {
  Verdict verdict;
  EXPECT_STREQ(KeyCause(verdict), "unknown");
  verdict.Add(Of(VerdictCause::kUnknown, VerdictSource::kNothing, 500));
  EXPECT_STREQ(KeyCause(verdict), "unknown");
  verdict.Add(Of(VerdictCause::kLock, VerdictSource::kHooks, 60));
  verdict.Add(Of(VerdictCause::kDisk, VerdictSource::kHooks, 40));
  EXPECT_STREQ(KeyCause(verdict), "lock");
  verdict.Add(Of(VerdictCause::kDisk, VerdictSource::kHooks, 1));
  EXPECT_STREQ(KeyCause(verdict), "mixed");
}

TEST(KeyCause, LoadOfTheMachineMakesNoOtherCause) {
  Verdict verdict;
  verdict.Add(Of(VerdictCause::kSleeping, VerdictSource::kSystemCall, 58));
  EXPECT_STREQ(KeyCause(verdict), "sleeping");
  verdict.Add(Of(VerdictCause::kRunnable, VerdictSource::kSchedstat, 42));
  EXPECT_STREQ(KeyCause(verdict), "sleeping");
}

TEST(KeyCause, TimeWithoutACpuCountsAsRunningIfItIsMostOfIt) {
  Verdict verdict;
  verdict.Add(Of(VerdictCause::kRunning, VerdictSource::kFtrace, 10));
  verdict.Add(Of(VerdictCause::kRunnable, VerdictSource::kFtrace, 60));
  verdict.Add(Of(VerdictCause::kSleeping, VerdictSource::kFtrace, 30));
  EXPECT_STREQ(KeyCause(verdict), "running") << "the load is another one in each run";
}

}  // namespace
}  // namespace jankbox
