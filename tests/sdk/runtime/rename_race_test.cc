// Loops get new names from their own threads and from others while reports that carry the names are
// sealed. Each report has one of the names, whole; under TSan, no access to a name is a race.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include "base/clock.h"
#include "jankbox/jankbox.h"
#include "monitors/looper/dispatch_monitor.h"
#include "report/report_file.h"

namespace jankbox {
namespace {

// No two agree in any of the ring's 8-byte words: a mix of two is none of them.
constexpr const char* kNames[] = {"a loop of GLib with a long name", "AndroidOSLooper", "x",
                                  "Another library's loop: libuv 1"};

void DispatchSlowly(int number) {
  jankbox_dispatch_begin(("message " + std::to_string(number)).c_str(), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  jankbox_dispatch_end();
}

std::set<std::string> LoopsOfReports(const std::string& folder) {
  std::set<std::string> loops;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().string().ends_with(kReportFileSuffix)) continue;
    const Result<proto::Report> report = ReadReportFile(entry.path());
    EXPECT_TRUE(report.ok()) << report.status().message();
    if (report.ok()) loops.insert(report->loop());
  }
  return loops;
}

TEST(RenameRace, ReportsSealedMeanwhileNameTheLoopWhole) {
  std::string folder = (std::filesystem::temp_directory_path() / "jankbox-rename-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  jankbox_options options = {};
  options.size = sizeof(options);
  options.dir = folder.c_str();
  options.slow_message_ms = 10;
  options.ring_bytes = 1 << 20;
  options.cpu_budget_permille = UINT32_MAX;
  options.min_free_mib = UINT32_MAX;
  ASSERT_EQ(jankbox_start(&options), JANKBOX_OK) << jankbox_last_error();

  // Renames its loop all the time, also while its earlier messages are sealed.
  std::thread renamer([] {
    for (size_t i = 0; i < 10; ++i) {
      jankbox_dispatch_begin(("message " + std::to_string(100 + i)).c_str(), 0);
      const uint64_t end_ns = MonotonicNs() + 15 * kNsPerMs;
      for (size_t n = i; MonotonicNs() < end_ns; ++n) {
        ASSERT_EQ(jankbox_watch_this_thread(kNames[n % std::size(kNames)]), JANKBOX_OK);
      }
      jankbox_dispatch_end();
    }
  });
  for (int i = 0; i < 6; ++i) {
    std::thread([i] {
      for (int n = 0; n < 2; ++n) {
        DispatchMonitor::NameLoop(kNames[static_cast<size_t>(i + n) % std::size(kNames)]);
        DispatchSlowly(2 * i + n);
      }
    }).join();
  }
  renamer.join();
  EXPECT_EQ(jankbox_flush(200'000), JANKBOX_OK);
  jankbox_stop();

  const std::set<std::string> loops = LoopsOfReports(folder);
  EXPECT_FALSE(loops.empty());
  std::set<std::string> names(std::begin(kNames), std::end(kNames));
  names.insert("api");  // before the first one was given
  for (const std::string& loop : loops) EXPECT_TRUE(names.contains(loop)) << loop;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace jankbox
