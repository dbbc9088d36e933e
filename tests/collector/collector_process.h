// The real jankbox-collector as a child process on a free port, and an HTTP client for it.
#ifndef JANKBOX_TESTS_COLLECTOR_COLLECTOR_PROCESS_H_
#define JANKBOX_TESTS_COLLECTOR_COLLECTOR_PROCESS_H_

#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/process_runner.h"
#include "report/report.pb.h"

namespace jankbox::collector {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class CollectorProcess {
 public:
  // `before_exec` runs in the child (async-signal-safe as far as a forked thread may); false ends
  // it with status 99.
  explicit CollectorProcess(std::vector<std::string> arguments,
                            const std::function<bool()>& before_exec = nullptr);
  ~CollectorProcess();

  // The line that it prints when it is ready; empty if it ended instead.
  const std::string& ready_line() const { return ready_line_; }
  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  pid_t pid() const { return process_.pid(); }

  // Sends `signal` (0: none) and waits; the wait status as of waitpid().
  int End(int signal);
  // What it wrote to stderr. REQUIRES End().
  std::string Errors();

 private:
  int port_ = 0;
  std::string ready_line_;
  ChildProcess process_;
};

// A collector over an empty folder, for each test.
class CollectorTest : public testing::Test {
 protected:
  void SetUp() override;

  void Start(const std::vector<std::string>& more_arguments = {});
  httplib::Client NewClient() const;
  // POST of a sealed file.
  httplib::Result Upload(const std::string& body) const;
  // The reply's result to an upload that is answered 200.
  proto::UploadReply::Result UploadResult(const std::string& body) const;
  // GET of JSON that is answered 200.
  nlohmann::json GetJson(const std::string& path) const;
  // POST of a debug file, or with `query` of a mapping.
  httplib::Result PostSymbols(const std::string& body, const std::string& query = "") const;
  // The answer's result to one that is answered 200.
  std::string SymbolsResult(const std::string& body, const std::string& query = "") const;
  // Waits until every report and trace has the names that are known.
  void WaitUntilNamed() const;
  // Blobs in the data folder.
  std::vector<std::string> BlobNames() const;

  TemporaryFolder folder_;
  std::optional<CollectorProcess> collector_;
};

httplib::Result PostReport(httplib::Client* client, const std::string& body);

}  // namespace jankbox::collector

#endif  // JANKBOX_TESTS_COLLECTOR_COLLECTOR_PROCESS_H_
