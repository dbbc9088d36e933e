// The real collector, started on a free port.
#ifndef JANKBOX_TESTS_E2E_COLLECTOR_PROGRAM_H_
#define JANKBOX_TESTS_E2E_COLLECTOR_PROGRAM_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "tests/e2e/run_program.h"

namespace jankbox {

class CollectorProgram {
 public:
  // `binary` keeps its reports in `data`.
  CollectorProgram(const std::string& binary, const std::string& data)
      : binary_(binary), data_(data) {}

  // False, and a failure of the test, if it does not listen. A second time: on the same port.
  bool Start() {
    program_ = std::make_unique<Program>(
        std::vector<std::string>{binary_, "--listen", listen_, "--data", data_});
    const bool listens = program_->WaitForOutput("listening on http://", 10000);
    EXPECT_TRUE(listens) << program_->Output();
    if (!listens) return false;
    const std::string& out = program_->Output();
    const size_t at = out.find("http://");
    url_ = out.substr(at, out.find(',', at) - at);
    listen_ = url_.substr(strlen("http://"));
    return true;
  }

  const std::string& url() const { return url_; }
  Program* operator->() { return program_.get(); }

 private:
  const std::string binary_;
  const std::string data_;
  std::string listen_ = "127.0.0.1:0";
  std::string url_;
  std::unique_ptr<Program> program_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_E2E_COLLECTOR_PROGRAM_H_
