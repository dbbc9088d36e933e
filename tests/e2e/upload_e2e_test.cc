#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/e2e/collector_program.h"
#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using nlohmann::json;

class UploadTest : public EndToEndTest {
 protected:
  json List(const std::string& from) {
    const Outcome list = RunProgram({Binary("jankbox"), "list", "--json", from});
    EXPECT_EQ(list.exit_status, 0) << list.err;
    return json::parse(list.out, nullptr, false);
  }
};

TEST_F(UploadTest, ReportIsThereAfterTheCollectorIsKilled) {
  CollectorProgram collector(Binary("jankbox-collector"), Folder("data"));
  ASSERT_TRUE(collector.Start());
  const Outcome driver = RunProgram({Binary("sdk_driver"), Folder("spool"), "busy", "900"},
                                    {{"SDK_DRIVER_UPLOAD_URL", collector.url()}});
  EXPECT_EQ(driver.exit_status, 0) << driver.err;
  EXPECT_TRUE(Reports(Folder("spool")).empty());  // acknowledged, so gone from the spool
  collector->Signal(SIGKILL);
  collector->Wait(5000);
  ASSERT_TRUE(collector.Start());
  const json reports = List(collector.url());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0]["kind"], "slow_message");
  EXPECT_THAT(reports[0]["duration_ms"].get<double>(), LastsAbout(900));
}

TEST_F(UploadTest, OfflineKeepsTheReportUntilTheNextRun) {
  const Outcome offline = RunProgram({Binary("sdk_driver"), Folder("spool"), "busy", "900"},
                                     {{"SDK_DRIVER_UPLOAD_URL", "http://127.0.0.1:9"}});
  EXPECT_EQ(offline.exit_status, 0);
  ASSERT_EQ(Reports(Folder("spool")).size(), 1u);
  CollectorProgram collector(Binary("jankbox-collector"), Folder("data"));
  ASSERT_TRUE(collector.Start());
  EXPECT_EQ(RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"), "--upload",
                        collector.url(), "--", "true"},
                       ForeignEnvironment())
                .exit_status,
            0);
  EXPECT_TRUE(Reports(Folder("spool")).empty());
  EXPECT_EQ(List(collector.url()).size(), 1u);
}

TEST_F(UploadTest, FolderAndCollectorListTheSameKeys) {
  ASSERT_EQ(RunProgram({Binary("sdk_driver"), Folder("spool"), "busy", "900"}).exit_status, 0);
  const json local = List(Folder("spool"));
  ASSERT_EQ(local.size(), 1u);
  CollectorProgram collector(Binary("jankbox-collector"), Folder("data"));
  ASSERT_TRUE(collector.Start());
  ASSERT_EQ(RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"), "--upload",
                        collector.url(), "--", "true"},
                       ForeignEnvironment())
                .exit_status,
            0);
  const json remote = List(collector.url());
  ASSERT_EQ(remote.size(), 1u);
  for (const char* key : {"id", "kind", "duration_ms", "process", "pid", "thread", "tid",
                          "fingerprint", "verdict", "top_frames", "window", "losses"}) {
    ASSERT_TRUE(local[0].contains(key)) << key;
    EXPECT_EQ(local[0][key], remote[0][key]) << key;
  }
  double sum = 0;
  for (const auto& [key, value] : local[0]["verdict"].items()) {
    if (key.size() > 3 && key.compare(key.size() - 3, 3, "_ms") == 0) sum += value.get<double>();
  }
  EXPECT_NEAR(sum, local[0]["duration_ms"].get<double>(), 0.1);
}

}  // namespace
}  // namespace jankbox
