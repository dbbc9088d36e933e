// Which files the collector takes as symbols, which it refuses, and what it says of both.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "base/file.h"
#include "tests/collector/collector_process.h"
#include "tests/collector/named_program.h"
#include "tests/collector/sealed_report.h"

namespace jankbox::collector {
namespace {

using nlohmann::json;

constexpr char kMapping[] = "com.example.Editor -> a.b:\n    void save() -> c\n";

class SymbolUploadTest : public CollectorTest {
 protected:
  std::vector<std::string> SymbolFiles() const {
    return ListDirectory(JoinPath(folder_.path(), "symbols")).value();
  }
  std::pair<int, std::string> Refusal(const std::string& body,
                                      const std::string& query = "") const {
    const httplib::Result answer = PostSymbols(body, query);
    if (!answer) return {0, "no answer"};
    return {answer->status, json::parse(answer->body).value("error", "")};
  }

  const NamedProgram program_{1};
};

TEST_F(SymbolUploadTest, StoredFileIsListedWithTheReportsThatWantIt) {
  const proto::Report report = program_.Report("decode_image");
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  WaitUntilNamed();
  const json before = GetJson("/api/v1/symbols");
  EXPECT_EQ(before.at("symbols"), json::array());
  ASSERT_EQ(before.at("missing").size(), 1u);
  EXPECT_EQ(before.at("missing")[0],
            json({{"build_id", program_.build_id()}, {"module", "named_program"}, {"reports", 1}}));

  const httplib::Result answer = PostSymbols(program_.Bytes());
  ASSERT_EQ(answer->status, 200) << answer->body;
  const json told = json::parse(answer->body);
  EXPECT_EQ(told.at("result"), "stored");
  EXPECT_EQ(told.at("build_id"), program_.build_id());
  EXPECT_EQ(told.at("contents"), "debug info");
  EXPECT_EQ(told.at("bytes"), program_.Bytes().size());
  EXPECT_EQ(told.at("reports"), 1);
  const json after = GetJson("/api/v1/symbols");
  ASSERT_EQ(after.at("symbols").size(), 1u);
  EXPECT_EQ(after.at("symbols")[0].at("build_id"), program_.build_id());
  EXPECT_EQ(after.at("missing"), json::array());
  ASSERT_EQ(SymbolFiles().size(), 1u);
  EXPECT_TRUE(SymbolFiles()[0].starts_with(program_.build_id() + "."));
  EXPECT_EQ(GetJson("/api/v1/symbols?build_id=" + program_.build_id()).at("symbols").size(), 1u);
  EXPECT_EQ(GetJson("/api/v1/symbols?build_id=00").at("symbols").size(), 0u);
}

TEST_F(SymbolUploadTest, SameFileIsADuplicateAndALesserOneIsNotTaken) {
  const TemporaryFolder folder;
  const std::string symbols_only = JoinPath(folder.path(), "symbols");
  const std::string strip = "strip -g -o " + symbols_only + " " + program_.path();
  ASSERT_EQ(system(strip.c_str()), 0);
  const std::string lesser = ReadFile(symbols_only, 64 << 20).value();
  EXPECT_EQ(SymbolsResult(lesser), "stored");
  EXPECT_EQ(GetJson("/api/v1/symbols").at("symbols")[0].at("contents"), "symbols");
  EXPECT_EQ(SymbolsResult(program_.Bytes()), "stored") << "it says more";
  EXPECT_EQ(SymbolsResult(program_.Bytes()), "duplicate");
  EXPECT_EQ(SymbolsResult(lesser), "kept");
  EXPECT_EQ(GetJson("/api/v1/symbols").at("symbols")[0].at("contents"), "debug info");
  EXPECT_EQ(SymbolFiles().size(), 1u) << "of each key one file";
}

TEST_F(SymbolUploadTest, MappingIsReplacedByANewOne) {
  const std::string query = "?app=com.example&version=1";
  EXPECT_EQ(SymbolsResult(kMapping, query), "stored");
  EXPECT_EQ(SymbolsResult(kMapping, query), "duplicate");
  EXPECT_EQ(SymbolsResult(std::string(kMapping) + "# more\n", query), "stored");
  EXPECT_EQ(SymbolsResult(kMapping, "?app=com.example&version="), "stored") << "no version";
  EXPECT_EQ(GetJson("/api/v1/symbols").at("symbols").size(), 2u);
  EXPECT_EQ(SymbolFiles().size(), 2u);
}

TEST_F(SymbolUploadTest, UselessFilesAreBadRequestsThatSayWhy) {
  const std::string stripped = ReadFile(program_.stripped_path(), 64 << 20).value();
  EXPECT_EQ(Refusal(stripped),
            (std::pair<int, std::string>(400,
                                         "it has no symbols: it was stripped. Send the file from "
                                         "before")));
  for (const std::string& body : {std::string(), std::string("text"), Noise(100'000, 1),
                                  program_.Bytes().substr(0, 64), std::string(kMapping)}) {
    const auto [status, error] = Refusal(body);
    EXPECT_EQ(status, 400) << body.size();
    EXPECT_NE(error.find("build id"), std::string::npos) << error;
  }
  EXPECT_EQ(Refusal("text", "?app=a&version=1").first, 400);
  EXPECT_EQ(Refusal(kMapping, "?app=a").first, 400);
  EXPECT_EQ(Refusal(kMapping, "?version=1").first, 400);
  EXPECT_EQ(Refusal(kMapping, "?app=" + std::string(300, 'a') + "&version=1").first, 400);
  EXPECT_EQ(NewClient().Post("/api/v1/symbols", kMapping, "text/plain")->status, 415);
  EXPECT_EQ(SymbolFiles(), std::vector<std::string>());
  EXPECT_EQ(GetJson("/api/v1/symbols").at("symbols"), json::array());
}

TEST_F(SymbolUploadTest, TooLargeIs413AndLeavesNothing) {
  collector_->End(SIGTERM);
  Start({"--max-symbols-mib", "1"});
  const std::string large = program_.Bytes() + std::string(1 << 20, '\0');
  // A client that only sends may find the connection closed before it reads the answer.
  const httplib::Result with_length = PostSymbols(large);
  EXPECT_TRUE(!with_length || with_length->status == 413);
  httplib::Client client = NewClient();
  const httplib::Result in_chunks = client.Post(
      "/api/v1/symbols",
      [&](size_t offset, httplib::DataSink& sink) {
        if (offset >= large.size()) {
          sink.done();
          return true;
        }
        return sink.write(large.data() + offset, std::min<size_t>(65536, large.size() - offset));
      },
      "application/x-jankbox-symbols");
  EXPECT_TRUE(!in_chunks || in_chunks->status == 413);
  EXPECT_EQ(SymbolsResult(program_.Bytes()), "stored");
  EXPECT_EQ(SymbolFiles().size(), 1u);
}

// Hostile ELF files end only the process that reads them.
TEST_F(SymbolUploadTest, DamagedFilesDoNotHarmTheCollector) {
  const proto::Report report = program_.Report("decode_image");
  ASSERT_EQ(UploadResult(Seal(report)), proto::UploadReply::STORED);
  std::mt19937 random(7);
  const std::string whole = program_.Bytes();
  int taken = 0;
  for (int i = 0; i < 60; ++i) {
    std::string damaged = whole;
    for (int change = 0; change < 40; ++change) {
      // In half of the files the headers, which lead everywhere.
      const size_t range = i % 2 == 0 ? 64 : damaged.size();
      damaged[random() % range] = static_cast<char>(random());
    }
    const httplib::Result answer = PostSymbols(damaged);
    ASSERT_TRUE(answer) << i;
    EXPECT_TRUE(answer->status == 200 || answer->status == 400) << answer->body;
    taken += answer->status == 200 ? 1 : 0;
  }
  EXPECT_GT(taken, 0) << "some are damaged in their DWARF only";
  WaitUntilNamed();
  EXPECT_EQ(NewClient().Get("/healthz")->body, "ok");
  SymbolsResult(whole);
  WaitUntilNamed();
  EXPECT_EQ(GetJson("/api/v1/reports/" + report.id()).at("top_frames")[1].at("function"),
            "decode_image");
}

TEST_F(SymbolUploadTest, FolderIsReadAtTheStartAndLater) {
  const NamedProgram second(2);
  const TemporaryFolder symbols;
  std::filesystem::copy_file(program_.path(), JoinPath(symbols.path(), "any name"));
  std::ofstream(JoinPath(symbols.path(), "no ELF file")) << "text";
  collector_->End(SIGTERM);
  Start({"--symbols", symbols.path()});
  const proto::Report one = program_.Report("decode_image");
  const proto::Report two = second.Report("decode_image");
  ASSERT_EQ(UploadResult(Seal(one)), proto::UploadReply::STORED);
  ASSERT_EQ(UploadResult(Seal(two)), proto::UploadReply::STORED);
  const auto await_name = [&](const proto::Report& report) {
    for (int i = 0; i < 6000; ++i) {
      const json found = GetJson("/api/v1/reports/" + report.id());
      if (found.at("identity").at("provisional") == false) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  EXPECT_TRUE(await_name(one));
  std::filesystem::create_directory(JoinPath(symbols.path(), "release 2"));
  std::filesystem::copy_file(second.path(), JoinPath(symbols.path(), "release 2/app"));
  EXPECT_TRUE(await_name(two));
  EXPECT_EQ(GetJson("/api/v1/symbols").at("symbols")[0].at("uploaded"), false);
}

TEST_F(SymbolUploadTest, StartRemovesWhatACrashLeft) {
  ASSERT_EQ(SymbolsResult(program_.Bytes()), "stored");
  const std::vector<std::string> before = SymbolFiles();
  collector_->End(SIGKILL);
  const std::string symbols = JoinPath(folder_.path(), "symbols");
  for (const char* name : {".tmp-0195a3c2-7f01-7000-8000-000000000001", "00ff.1.debug"}) {
    std::ofstream(JoinPath(symbols, name)) << "left";
  }
  Start();
  EXPECT_EQ(SymbolFiles(), before);
}

// The collector asks the servers of DEBUGINFOD_URLS for what reports want.
TEST(DebuginfodTest, ServerGivesTheDebugFile) {
  const NamedProgram program(1);
  httplib::Server server;
  const std::string bytes = program.Bytes();
  server.Get("/buildid/" + program.build_id() + "/debuginfo",
             [&](const httplib::Request&, httplib::Response& response) {
               response.set_content(bytes, "application/octet-stream");
             });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread listener([&] { server.listen_after_bind(); });
  const TemporaryFolder folder;
  setenv("DEBUGINFOD_URLS", ("http://127.0.0.1:" + std::to_string(port)).c_str(), 1);
  {
    CollectorProcess collector({"--listen", "127.0.0.1:0", "--data", folder.path()});
    unsetenv("DEBUGINFOD_URLS");
    ASSERT_NE(collector.port(), 0) << collector.Errors();
    httplib::Client client("127.0.0.1", collector.port());
    const proto::Report report = program.Report("decode_image");
    ASSERT_EQ(PostReport(&client, Seal(report))->status, 200);
    bool named = false;
    for (int i = 0; i < 6000 && !named; ++i) {
      const httplib::Result found = client.Get("/api/v1/reports/" + report.id());
      named = json::parse(found->body).at("identity").at("provisional") == false;
      if (!named) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(named);
  }
  server.stop();
  listener.join();
}

}  // namespace
}  // namespace jankbox::collector
