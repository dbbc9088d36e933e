// Counts of ends, and their quota of reports.
#include "diagnosis/seal/end_book.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "base/clock.h"
#include "tests/uploader/temporary_folder.h"

namespace jankbox {
namespace {

using Counts = std::map<std::string, uint64_t>;

class EndBookTest : public testing::Test {
 protected:
  // True if its report was asked for.
  bool Count(const std::string& reason, const Status& sealed = Status::Ok()) {
    bool asked = false;
    status_ = CountEnd(folder_.path(), now_, reason, [&](const auto& counts) {
      asked = true;
      counts_.clear();
      for (const ReportEndCount& count : counts) counts_[count.reason] = count.count;
      return sealed;
    });
    return asked;
  }
  void Pass(uint64_t seconds) {
    now_.boottime_ns += seconds * kNsPerSecond;
    now_.realtime_ns += seconds * kNsPerSecond;
  }

  TemporaryFolder folder_;
  SpoolInstant now_{1'000'000 * kNsPerSecond, 1000 * kNsPerSecond, "boot"};
  Status status_ = Status::Ok();
  Counts counts_;
};

TEST_F(EndBookTest, CountsByReasonAcrossProcesses) {
  EXPECT_TRUE(Count("SIGSEGV"));
  EXPECT_TRUE(CountEnd(folder_.path(), now_, "SIGTERM", nullptr).ok());
  EXPECT_TRUE(Count("SIGSEGV"));
  EXPECT_EQ(counts_, (Counts{{"SIGSEGV", 2}, {"SIGTERM", 1}}));
}

TEST_F(EndBookTest, DayHasItsQuotaAndTheNextDayAnother) {
  for (uint64_t i = 0; i < kExitReportsADay; ++i) EXPECT_TRUE(Count("SIGSEGV")) << i;
  EXPECT_FALSE(Count("SIGSEGV"));
  Pass(24 * 3600 - 1);
  EXPECT_FALSE(Count("SIGABRT"));
  Pass(1);
  EXPECT_TRUE(Count("SIGABRT"));
  EXPECT_EQ(counts_, (Counts{{"SIGSEGV", kExitReportsADay + 1}, {"SIGABRT", 2}}))
      << "what got no report is counted";
}

TEST_F(EndBookTest, EndWhoseReportFailsIsOnlyCountedAndCostsNoneOfTheQuota) {
  for (uint64_t i = 0; i < kExitReportsADay; ++i) {
    EXPECT_TRUE(Count("SIGSEGV", Status(StatusCode::kNoSpace, "full"))) << i;
    EXPECT_TRUE(status_.ok()) << "a ring that waits for room would be kept";
  }
  EXPECT_TRUE(Count("SIGSEGV"));
  EXPECT_EQ(counts_, (Counts{{"SIGSEGV", kExitReportsADay + 1}}));
}

TEST_F(EndBookTest, DamagedFileIsBegunAgain) {
  Count("SIGSEGV");
  std::ifstream file(folder_ / ".ends", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(bytes.empty());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EndBook book;
    SpoolInstant last;
    EXPECT_FALSE(DecodeEnds(bytes.substr(0, size), &book, &last)) << size;
  }
  std::ofstream(folder_ / ".ends", std::ios::binary) << bytes.substr(1);
  EXPECT_TRUE(Count("SIGABRT"));
  EXPECT_EQ(counts_, (Counts{{"SIGABRT", 1}}));
}

}  // namespace
}  // namespace jankbox
