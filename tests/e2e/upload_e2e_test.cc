#include <signal.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/e2e/run_program.h"

namespace jankbox {
namespace {

using nlohmann::json;

class UploadTest : public EndToEndTest {
 protected:
  // Starts the collector on a free port and returns it; `url_` is where it listens.
  std::unique_ptr<Program> StartCollector() {
    auto collector = std::make_unique<Program>(std::vector<std::string>{
        Binary("jankbox-collector"), "--listen", listen_, "--data", Folder("data")});
    EXPECT_TRUE(collector->WaitForOutput("listening on http://", 10000));
    const std::string out = collector->Output();
    const size_t at = out.find("http://");
    url_ = out.substr(at, out.find(',', at) - at);
    listen_ = url_.substr(strlen("http://"));  // the same port after a restart
    return collector;
  }
  json List(const std::string& from) {
    const Outcome list = RunProgram({Binary("jankbox"), "list", "--json", from});
    EXPECT_EQ(list.exit_status, 0) << list.err;
    return json::parse(list.out, nullptr, false);
  }

  std::string listen_ = "127.0.0.1:0";
  std::string url_;
};

TEST_F(UploadTest, ReportIsThereAfterTheCollectorIsKilled) {
  std::unique_ptr<Program> collector = StartCollector();
  const Outcome driver = RunProgram({Binary("sdk_driver"), Folder("spool"), "busy", "900"},
                                    {{"SDK_DRIVER_UPLOAD_URL", url_}});
  EXPECT_EQ(driver.exit_status, 0) << driver.err;
  EXPECT_TRUE(Reports(Folder("spool")).empty());  // acknowledged, so gone from the spool
  collector->Signal(SIGKILL);
  collector->Wait(5000);
  collector = StartCollector();
  const json reports = List(url_);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0]["kind"], "slow_message");
  EXPECT_NEAR(reports[0]["duration_ms"].get<double>(), 900, 90);
}

TEST_F(UploadTest, OfflineKeepsTheReportUntilTheNextRun) {
  const Outcome offline = RunProgram({Binary("sdk_driver"), Folder("spool"), "busy", "900"},
                                     {{"SDK_DRIVER_UPLOAD_URL", "http://127.0.0.1:9"}});
  EXPECT_EQ(offline.exit_status, 0);
  ASSERT_EQ(Reports(Folder("spool")).size(), 1u);
  std::unique_ptr<Program> collector = StartCollector();
  EXPECT_EQ(RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"), "--upload", url_, "--",
                        "true"},
                       ForeignEnvironment())
                .exit_status,
            0);
  EXPECT_TRUE(Reports(Folder("spool")).empty());
  EXPECT_EQ(List(url_).size(), 1u);
}

TEST_F(UploadTest, FolderAndCollectorListTheSameKeys) {
  ASSERT_EQ(RunProgram({Binary("sdk_driver"), Folder("spool"), "busy", "900"}).exit_status, 0);
  const json local = List(Folder("spool"));
  ASSERT_EQ(local.size(), 1u);
  std::unique_ptr<Program> collector = StartCollector();
  ASSERT_EQ(RunProgram({Binary("jankbox"), "run", "--dir", Folder("spool"), "--upload", url_, "--",
                        "true"},
                       ForeignEnvironment())
                .exit_status,
            0);
  const json remote = List(url_);
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
