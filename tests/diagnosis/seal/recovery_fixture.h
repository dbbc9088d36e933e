// The ring of a dead process in a folder of its own, made from a ring in memory whose header names
// a process that never was, and what recovery makes of it. `admit` shows each report before it is
// written.
#ifndef JANKBOX_TESTS_DIAGNOSIS_SEAL_RECOVERY_FIXTURE_H_
#define JANKBOX_TESTS_DIAGNOSIS_SEAL_RECOVERY_FIXTURE_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/seal/recovery.h"
#include "report/report.h"
#include "tests/fakes/fake_ring.h"
#include "tests/tracer/ring/private_ring_place.h"
#include "tests/uploader/temporary_folder.h"
#include "tracer/ring/ring_place.h"

namespace jankbox {

inline constexpr int32_t kUi = 55;
inline constexpr char kId[] = "01890a5d-ac96-774b-bcce-b302099a8057";

class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    ring_ = std::make_unique<FakeRing>();
    header()->process_start_ticks += 1;  // this pid, but a process that is no more
    begin_ns_ = header()->clock_at_start.ticks = header()->clock_at_start.monotonic_ns;
    SetLastSign(5000);
  }
  ~RecoveryTest() override { std::filesystem::remove_all(rings()); }

  RingHeader* header() { return ring_->header(); }
  // Milliseconds since the process began to record.
  uint64_t At(uint64_t ms) const { return begin_ns_ + ms * kNsPerMs; }
  void SetLastSign(uint64_t ms) { header()->heartbeat_ticks.store(At(ms)); }
  void Blocked(uint64_t from_ms, size_t index = 0) {
    ring_->Watch(index, kUi + static_cast<int32_t>(index));
    ring_->BeginDispatch(index, "Feed.bind", At(from_ms));
  }
  void Incident(RingIncidentState state, ReportKind kind, uint32_t sealed_revision,
                const char* id = kId, uint64_t begin_ms = 1000) {
    RingIncident& note = header()->incidents[0];
    StoreName(id, note.id, kIncidentIdWords);
    note.kind.store(static_cast<uint32_t>(kind));
    note.sealed_revision.store(sealed_revision);
    note.begin_ticks.store(At(begin_ms));
    note.end_ticks.store(state == RingIncidentState::kFinished ? At(2500) : 0);
    note.state.store(static_cast<uint32_t>(state));
  }
  std::string rings() const { return RingFolder(folder_.path()).value(); }
  std::string Path(const std::string& name) const { return rings() + "/" + name; }
  std::string Bytes() {
    return {reinterpret_cast<const char*>(ring_->file()->base()), ring_->file()->bytes()};
  }
  static void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  void Leave(const std::string& name = "ring-1-1.jbxring") { Write(Path(name), Bytes()); }
  // So long ago that no process is still filling it.
  static void MakeOld(const std::string& path) {
    const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  Result<std::vector<std::string>> Recover(const std::optional<ChildEnd>& child = {}) {
    Result<Spool> spool = Spool::Open(folder_.path(), {.min_free_bytes = 0});
    EXPECT_TRUE(spool.ok());
    return RecoverOrphanRings(
        folder_.path(), &spool.value(),
        [this](const ReportedIncident& incident, Report* report) {
          incidents_.push_back(incident);
          reports_.push_back(*report);
          return admits_;
        },
        child);
  }
  size_t Sealed() const {
    return static_cast<size_t>(std::count_if(
        std::filesystem::directory_iterator(folder_.path()), std::filesystem::directory_iterator(),
        [](const std::filesystem::directory_entry& entry) {
          return entry.path().string().ends_with(kReportFileSuffix);
        }));
  }

  PrivateRingPlace place_;
  TemporaryFolder folder_;
  std::unique_ptr<FakeRing> ring_;
  uint64_t begin_ns_ = 0;
  bool admits_ = true;
  std::vector<Report> reports_;
  std::vector<ReportedIncident> incidents_;  // of the same reports
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_DIAGNOSIS_SEAL_RECOVERY_FIXTURE_H_
