// A spool in a folder of its own with clocks that the test sets.
#ifndef JANKBOX_TESTS_UPLOADER_SPOOL_SPOOL_FIXTURE_H_
#define JANKBOX_TESTS_UPLOADER_SPOOL_SPOOL_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "tests/report/sample_report.h"
#include "tests/uploader/temporary_folder.h"
#include "uploader/spool/spool.h"

namespace jankbox {

// Sealed bytes of about `size_bytes`.
inline std::string SealedBytesOfSize(const std::string& id, size_t size_bytes) {
  Report report = FilledReport();
  report.id = id;
  const std::string empty = SealedBytes(report, "");
  std::string noise;
  uint64_t state = 88172645463325252;
  while (noise.size() + empty.size() < size_bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    noise.append(reinterpret_cast<const char*>(&state), 8);
  }
  return SealedBytes(report, noise);
}

inline Status WriteReport(Spool* spool, const std::string& id, const std::string& bytes) {
  Result<SpoolWriter> writer = spool->NewReport(id, bytes.size());
  if (!writer.ok()) return writer.status();
  Status status = writer->Write(bytes);
  return status.ok() ? writer->Seal() : status;
}

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() { now_ = KernelInstant(); }

  Spool OpenSpool(SpoolLimits limits = {}) {
    limits.min_free_bytes = 0;
    Result<Spool> spool = Spool::Open(dir(), limits, [this] { return now_; });
    EXPECT_TRUE(spool.ok()) << spool.status().message();
    return std::move(spool.value());
  }

  std::string dir() const { return folder_ / "spool"; }

  void Advance(uint64_t ns) {
    now_.realtime_ns += ns;
    now_.boottime_ns += ns;
  }

  std::string Seal(Spool* spool, size_t size_bytes = 1000) {
    const std::string id = NewUuid(RealtimeNs() / kNsPerMs);
    const Status status = WriteReport(spool, id, SealedBytesOfSize(id, size_bytes));
    EXPECT_TRUE(status.ok()) << status.message();
    return id;
  }

  static std::vector<std::string> Ids(Spool* spool) {
    std::vector<std::string> ids;
    Result<std::vector<SpoolEntry>> entries = spool->List();
    EXPECT_TRUE(entries.ok()) << entries.status().message();
    for (const SpoolEntry& entry : entries.value()) ids.push_back(entry.id);
    return ids;
  }

  static uint64_t Fate(Spool* spool, SpoolFate fate) {
    return spool->Counts()->fates[static_cast<size_t>(fate)];
  }

  static void ExpectBalanced(Spool* spool) {
    const SpoolCounts counts = spool->Counts().value();
    EXPECT_EQ(counts.written, counts.sent + counts.kept + counts.dropped());
  }

  TemporaryFolder folder_;
  SpoolInstant now_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_UPLOADER_SPOOL_SPOOL_FIXTURE_H_
