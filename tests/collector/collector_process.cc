#include "tests/collector/collector_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/file.h"

namespace jankbox::collector {

TemporaryFolder::TemporaryFolder() {
  char name[] = "/tmp/jankbox-collector-test-XXXXXX";
  EXPECT_NE(mkdtemp(name), nullptr);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

CollectorProcess::CollectorProcess(std::vector<std::string> arguments,
                                   const std::function<bool()>& before_exec) {
  arguments.insert(arguments.begin(), JANKBOX_COLLECTOR);
  const auto in_child = [&before_exec] {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a crashed test leaves no server behind
    if (before_exec && !before_exec()) _exit(99);
  };
  EXPECT_EQ(process_.Start({.argv = std::move(arguments),
                            .out = ChildStream::kPiped,
                            .err = ChildStream::kPiped,
                            .in_child = in_child}),
            0);
  for (char c = 0; read(process_.out().get(), &c, 1) == 1 && c != '\n';) ready_line_ += c;
  const size_t comma = ready_line_.find(", data in ");
  const size_t colon = ready_line_.rfind(':', comma);
  if (comma != std::string::npos) port_ = atoi(ready_line_.c_str() + colon + 1);
}

CollectorProcess::~CollectorProcess() { End(SIGKILL); }

int CollectorProcess::End(int signal) {
  if (signal != 0) process_.Signal(signal);
  process_.Wait();
  return process_.wait_status();
}

std::string CollectorProcess::Errors() {
  std::string text;
  char block[4096];
  ssize_t size = 0;
  while ((size = read(process_.err().get(), block, sizeof(block))) > 0) {
    text.append(block, static_cast<size_t>(size));
  }
  return text;
}

void CollectorTest::SetUp() {
  // The client library writes to connections that the server has closed.
  signal(SIGPIPE, SIG_IGN);
  Start();
}

void CollectorTest::Start(const std::vector<std::string>& more_arguments) {
  std::vector<std::string> arguments = {"--listen", "127.0.0.1:0", "--data", folder_.path()};
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  collector_.emplace(arguments);
  ASSERT_NE(collector_->port(), 0) << collector_->Errors();
}

httplib::Client CollectorTest::NewClient() const {
  httplib::Client client("127.0.0.1", collector_->port());
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  client.set_read_timeout(60);
  return client;
}

httplib::Result CollectorTest::Upload(const std::string& body) const {
  httplib::Client client = NewClient();
  return PostReport(&client, body);
}

proto::UploadReply::Result CollectorTest::UploadResult(const std::string& body) const {
  const httplib::Result answer = Upload(body);
  proto::UploadReply reply;
  if (!answer || answer->status != 200) {
    ADD_FAILURE() << (answer ? std::to_string(answer->status) + " " + answer->body : "no answer");
    return reply.result();
  }
  EXPECT_EQ(answer->get_header_value("Content-Type"), "application/x-protobuf");
  EXPECT_TRUE(reply.ParseFromString(answer->body));
  return reply.result();
}

nlohmann::json CollectorTest::GetJson(const std::string& path) const {
  const httplib::Result answer = NewClient().Get(path);
  if (!answer || answer->status != 200) {
    ADD_FAILURE() << path << (answer ? ": " + std::to_string(answer->status) : ": no answer");
    return nullptr;
  }
  return nlohmann::json::parse(answer->body);
}

httplib::Result CollectorTest::PostSymbols(const std::string& body,
                                           const std::string& query) const {
  return NewClient().Post("/api/v1/symbols" + query, body, "application/x-jankbox-symbols");
}

std::string CollectorTest::SymbolsResult(const std::string& body, const std::string& query) const {
  const httplib::Result answer = PostSymbols(body, query);
  if (!answer || answer->status != 200) {
    ADD_FAILURE() << (answer ? std::to_string(answer->status) + " " + answer->body : "no answer");
    return "";
  }
  return nlohmann::json::parse(answer->body).at("result");
}

void CollectorTest::WaitUntilNamed() const {
  constexpr int kTries = 24'000;  // four minutes: each trace is read in a process of its own
  for (int i = 0; i < kTries; ++i) {
    const nlohmann::json pending = GetJson("/api/v1/symbols").at("pending");
    if (pending.at("reports") == 0 && pending.at("traces") == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << GetJson("/api/v1/symbols").dump(1);
}

std::vector<std::string> CollectorTest::BlobNames() const {
  return ListDirectory(JoinPath(folder_.path(), "blobs")).value();
}

httplib::Result PostReport(httplib::Client* client, const std::string& body) {
  return client->Post("/api/v1/reports", body, "application/x-perfetto-trace");
}

}  // namespace jankbox::collector
