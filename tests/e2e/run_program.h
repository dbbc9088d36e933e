// Runs real programs and reads what they left, for the end-to-end tests.
#ifndef JANKBOX_TESTS_E2E_RUN_PROGRAM_H_
#define JANKBOX_TESTS_E2E_RUN_PROGRAM_H_

#include <gmock/gmock.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/process_runner.h"
#include "report/report.pb.h"

namespace jankbox {

struct Outcome {
  int exit_status = -1;  // -1: did not exit by itself
  int signal = 0;
  std::string out;
  std::string err;
};

// A running program with its output captured.
class Program {
 public:
  Program(const std::vector<std::string>& argv,
          const std::map<std::string, std::string>& environment = {});
  ~Program();  // kills it if it still runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return process_.pid(); }
  void Signal(int number);
  // Reads its output until `text` appears on stdout; false after `timeout_ms` or at its end.
  bool WaitForOutput(const std::string& text, int timeout_ms);
  const std::string& Output() const { return outcome_.out; }
  // Waits for its end; kills it after `timeout_ms`.
  Outcome Wait(int timeout_ms);

 private:
  bool Drain(int timeout_ms);  // false once both pipes are closed

  ChildProcess process_;
  bool waited_ = false;
  Outcome outcome_;
};

Outcome RunProgram(const std::vector<std::string>& argv,
                   const std::map<std::string, std::string>& environment = {},
                   int timeout_ms = 60000);

using Environment = std::map<std::string, std::string>;

// For what was planted to last so many milliseconds: on a busy machine it takes longer, but not
// twice as long, as it would with the time before or after it.
inline auto LastsAbout(double ms) {
  return ::testing::AllOf(::testing::Ge(0.95 * ms), ::testing::Lt(2 * ms));
}

// A fresh folder that is removed at the end, and what the programs of this build are called.
class EndToEndTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  static std::string Binary(const std::string& name);  // build/<preset>/bin/<name>
  // Environment for programs that are not ours and get the agent: a sanitizer's runtime has to come
  // first.
  static std::map<std::string, std::string> ForeignEnvironment();
  std::string Folder(const std::string& name) const { return root_ + "/" + name; }
  // All reports in `folder`, oldest first; each file also passes `zstd -t`.
  static std::vector<proto::Report> Reports(const std::string& folder);
  static uint64_t Sum(const proto::Verdict& verdict);
  // An X server of this test's own, ended with it; what programs need to show windows there is
  // added to `environment`. False if there is none.
  bool StartDisplay(Environment* environment);

  std::string root_;
  std::string runtime_;  // XDG_RUNTIME_DIR

 private:
  std::unique_ptr<Program> display_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_E2E_RUN_PROGRAM_H_
