// The page in a real browser.
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/uuid.h"
#include "report/report_encoder.h"
#include "report/report_json.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/named_program.h"
#include "tests/collector/sealed_report.h"
#include "tests/report/sample_report.h"
#include "tests/report/visible_texts.h"

namespace jankbox::collector {
namespace {

constexpr char kPayload[] =
    "<img src=x onerror=\"document.title='owned'\"><script>1</script>\" ' &";

bool HaveChromium() { return system("command -v chromium >/dev/null 2>&1") == 0; }

class PageTest : public CollectorTest {
 protected:
  // The document after its scripts have run.
  std::string Document(const std::string& path) {
    const TemporaryFolder profile;
    const std::string command =
        "HOME=" + profile.path() + " timeout 60 chromium --headless --no-sandbox --disable-gpu " +
        "--disable-dev-shm-usage --no-first-run --disable-background-networking " +
        "--disable-component-update --disable-sync --user-data-dir=" + profile.path() +
        " --virtual-time-budget=4000 --dump-dom '" + collector_->url() + path + "' 2>/dev/null";
    FILE* pipe = popen(command.c_str(), "r");
    std::string document;
    std::array<char, 4096> block;
    while (size_t size = fread(block.data(), 1, block.size(), pipe)) {
      document.append(block.data(), size);
    }
    pclose(pipe);
    return document;
  }

  static proto::Report PoisonedReport() {
    proto::Report report = SampleReport();
    report.set_what(kPayload);
    report.set_process(kPayload);
    report.set_thread(kPayload);
    report.set_loop(kPayload);
    report.set_app_name(kPayload);
    report.set_os(kPayload);
    report.add_notes(kPayload);
    report.mutable_verdict()->set_summary(kPayload);
    report.mutable_losses()->set_lost_samples(3);
    report.mutable_top_frames(0)->set_function(kPayload);
    report.mutable_top_frames(0)->set_module(kPayload);
    return report;
  }
};

TEST_F(PageTest, NamesFromReportsAreTextAndNeverElements) {
  if (!HaveChromium()) GTEST_SKIP() << "chromium is not installed";
  const proto::Report report = PoisonedReport();
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  const std::string document = Document("/#" + report.fingerprint());
  ASSERT_NE(document.find("class=\"group open\""), std::string::npos) << document;
  ASSERT_NE(document.find(report.id()), std::string::npos) << document;
  EXPECT_NE(document.find("&lt;img src=x onerror="), std::string::npos) << document;
  EXPECT_NE(document.find("3 lost samples"), std::string::npos) << document;
  EXPECT_EQ(document.find("<img"), std::string::npos) << document;
  EXPECT_EQ(document.find("<script>"), std::string::npos) << document;
  EXPECT_NE(document.find("<title>Jankbox</title>"), std::string::npos) << document;
}

TEST_F(PageTest, EveryFieldOfAReportIsShown) {
  if (!HaveChromium()) GTEST_SKIP() << "chromium is not installed";
  proto::Report report;
  ASSERT_TRUE(report.ParseFromString(EncodeReport(FilledReport())));
  report.set_id(SampleReport().id());
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  const nlohmann::json json = ReportToJson(report);
  const std::string document =
      Document("/#" + json.at("identity").at("group_key").get<std::string>());
  ASSERT_NE(document.find(report.id()), std::string::npos) << document;
  for (const std::string& one : VisibleTexts(json)) {
    if (one.find_first_of("<>&\xa0") != std::string::npos) continue;  // escaped in the document
    EXPECT_NE(document.find(one), std::string::npos) << one;
  }
}

TEST_F(PageTest, LinkToAGroupWhoseFunctionsGotNamesLeadsToItsReports) {
  if (!HaveChromium()) GTEST_SKIP() << "chromium is not installed";
  const NamedProgram program(1);
  const std::vector<std::string>& functions = NamedProgram::Functions();
  std::vector<std::string> ids;
  for (const std::string& function : functions) {
    const proto::Report report = program.Report(function);
    ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
    ids.push_back(report.id());
  }
  const proto::Report alone = program.Report(functions[0], "save");
  ASSERT_EQ(UploadResult(Seal(alone)), proto::UploadReply::STORED);
  const auto link_to = [this](const std::string& id) {
    const nlohmann::json report = GetJson("/api/v1/reports/" + id);
    return "/#" + report.at("identity").at("group_key").get<std::string>();
  };
  const std::string to_many = link_to(ids[0]);
  const std::string to_one = link_to(alone.id());
  ASSERT_EQ(SymbolsResult(program.Bytes()), "stored");
  WaitUntilNamed();
  ASSERT_NE(link_to(alone.id()), to_one);

  std::string document = Document(to_one);
  EXPECT_NE(document.find("class=\"group open\""), std::string::npos) << document;
  EXPECT_NE(document.find(alone.id()), std::string::npos) << document;
  document = Document(to_many);
  EXPECT_NE(document.find("Its reports are in 3 groups"), std::string::npos) << document;
  size_t rows = 0;
  for (size_t at = 0; (at = document.find("class=\"group\"", at)) != std::string::npos; ++at)
    ++rows;
  EXPECT_EQ(rows, 3u) << "and not that of the other message: " << document;
}

TEST_F(PageTest, UsageIsShownWithItsRates) {
  if (!HaveChromium()) GTEST_SKIP() << "chromium is not installed";
  proto::Counts counts;
  counts.set_format(1);
  counts.set_epoch(NewUuid(1));
  counts.set_installation(NewUuid(1));
  counts.set_seq(1);
  counts.set_usage_seq(1);
  proto::Usage* usage = counts.add_usage();
  usage->set_day(20'500);
  usage->set_app(kPayload);
  usage->set_version("7.4");
  usage->set_foreground_ms(5'400'000);
  usage->set_messages(123'456);
  proto::Counter* counter = counts.add_counters();
  counter->set_key("key");
  counter->set_app(kPayload);
  counter->set_version("7.4");
  counter->set_incidents(3);
  counter->add_buckets()->set_incidents(3);
  ASSERT_EQ(NewClient()
                .Post("/api/v1/counts", counts.SerializeAsString(), "application/x-jankbox-counts")
                ->status,
            200);
  const std::string document = Document("/");
  EXPECT_NE(document.find("<section id=\"usage\">"), std::string::npos) << document;
  for (const char* shown :
       {">7.4<", ">1.5 h<", ">123,456<", ">2<", ">0.24<", ">–<", "2026-02-16"}) {
    EXPECT_NE(document.find(shown), std::string::npos) << shown << document;
  }
  EXPECT_EQ(document.find("<img"), std::string::npos) << document;
}

TEST_F(PageTest, EmptyStateSaysHowToUpload) {
  if (!HaveChromium()) GTEST_SKIP() << "chromium is not installed";
  const std::string document = Document("/");
  EXPECT_NE(document.find("<section id=\"empty\">"), std::string::npos) << document;
  EXPECT_NE(document.find("jankbox run --upload " + collector_->url()), std::string::npos);
}

TEST_F(PageTest, JsonCarriesNamesUnchanged) {
  const proto::Report report = PoisonedReport();
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  const nlohmann::json groups = GetJson("/api/v1/groups").at("groups");
  EXPECT_EQ(groups.at(0).at("title"), kPayload);
  EXPECT_EQ(NewClient().Get("/api/v1/groups")->get_header_value("Content-Type"),
            "application/json; charset=utf-8");
}

TEST_F(PageTest, PageHasNothingInline) {
  const std::string page = NewClient().Get("/")->body;
  EXPECT_NE(page.find("<script src=\"/app.js\""), std::string::npos);
  for (const char* inline_code : {"<script>", "<style", "style=", "onclick", "javascript:"}) {
    EXPECT_EQ(page.find(inline_code), std::string::npos) << inline_code;
  }
  for (const char* path : {"/app.js", "/usage.js", "/style.css", "/icon.svg"}) {
    EXPECT_EQ(NewClient().Get(path)->status, 200) << path;
  }
}

}  // namespace
}  // namespace jankbox::collector
