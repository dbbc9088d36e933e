// Runs real programs for the tests of the command: through pipes or on a pseudo-terminal.
#ifndef JANKBOX_TESTS_TOOLS_SUBPROCESS_H_
#define JANKBOX_TESTS_TOOLS_SUBPROCESS_H_

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/process_runner.h"

namespace jankbox::tools {

struct Finished {
  int wait_status = 0;  // as waitpid says
  std::string out;
  std::string err;

  int exit_status() const;  // -1 if a signal ended it
  int signal() const;       // 0 if it exited
};

using Environment = std::map<std::string, std::string>;

// A program that runs. The environment is the test's own without NO_COLOR, COLUMNS, LD_PRELOAD and
// JANKBOX_*, then `added`.
class Subprocess {
 public:
  Subprocess(const std::vector<std::string>& argv, const Environment& added, bool terminal = false);
  ~Subprocess();  // kills it
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return process_.pid(); }
  void Write(const std::string& input);
  void CloseInput() { process_.in().Reset(); }
  // Reads stdout until `text` has come; false at its end or after 20 s.
  bool WaitForOutput(const std::string& text);
  // The same of stderr.
  bool WaitForErrorOutput(const std::string& text);
  // What came on stdout so far.
  const std::string& output() const { return finished_.out; }
  // True if it ended within `timeout_ms`.
  bool WaitForEnd(int timeout_ms);
  // Reads what is left and waits.
  Finished Finish();

 private:
  bool ReadUntil(int fd, std::string* read, const std::string& text);

  bool terminal_;
  ChildProcess process_;  // a terminal is its out()
  Finished finished_;
};

Finished RunToEnd(const std::vector<std::string>& argv, const Environment& added = {},
                  const std::string& input = "");

// stdout and stderr together, as a terminal of 24 x `columns` shows them.
Finished RunOnTerminal(const std::vector<std::string>& argv, const Environment& added = {});

// A folder of its own, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void WriteFile(const std::string& path, const std::string& bytes);
std::string FileBytes(const std::string& path);

}  // namespace jankbox::tools

#endif  // JANKBOX_TESTS_TOOLS_SUBPROCESS_H_
