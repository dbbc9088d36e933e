#include "tests/e2e/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "report/report_file.h"

extern char** environ;

namespace jankbox {

Program::Program(const std::vector<std::string>& argv,
                 const std::map<std::string, std::string>& environment) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) abort();
  std::vector<char*> arguments;
  for (const std::string& word : argv) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    dup2(out[1], 1);
    dup2(err[1], 2);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  fds_[0] = out[0];
  fds_[1] = err[0];
}

Program::~Program() {
  if (pid_ > 0) Wait(0);
}

void Program::Signal(int number) { kill(pid_, number); }

bool Program::Drain(int timeout_ms) {
  pollfd wait[2] = {{fds_[0], POLLIN, 0}, {fds_[1], POLLIN, 0}};
  poll(wait, 2, timeout_ms);
  for (int i = 0; i < 2; ++i) {
    if (fds_[i] < 0 || wait[i].revents == 0) continue;
    char block[4096];
    const ssize_t n = read(fds_[i], block, sizeof(block));
    if (n > 0) {
      (i == 0 ? outcome_.out : outcome_.err).append(block, static_cast<size_t>(n));
    } else {
      close(fds_[i]);
      fds_[i] = -1;
    }
  }
  return fds_[0] >= 0 || fds_[1] >= 0;
}

bool Program::WaitForOutput(const std::string& text, int timeout_ms) {
  const uint64_t end = MonotonicNs() + static_cast<uint64_t>(timeout_ms) * kNsPerMs;
  while (outcome_.out.find(text) == std::string::npos) {
    if (MonotonicNs() >= end || !Drain(50)) return outcome_.out.find(text) != std::string::npos;
  }
  return true;
}

Outcome Program::Wait(int timeout_ms) {
  const uint64_t end = MonotonicNs() + static_cast<uint64_t>(timeout_ms) * kNsPerMs;
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (MonotonicNs() >= end) {
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      break;
    }
    if (fds_[0] >= 0 || fds_[1] >= 0) {
      Drain(20);
    } else {
      usleep(5000);
    }
  }
  pid_ = -1;
  while ((fds_[0] >= 0 || fds_[1] >= 0) && MonotonicNs() < end + kNsPerSecond && Drain(100)) {
  }
  for (int& fd : fds_) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  if (WIFEXITED(status)) outcome_.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  return outcome_;
}

Outcome RunProgram(const std::vector<std::string>& argv,
                   const std::map<std::string, std::string>& environment, int timeout_ms) {
  return Program(argv, environment).Wait(timeout_ms);
}

void EndToEndTest::SetUp() {
  char name[] = "/tmp/jankbox-e2e-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  root_ = name;
}

void EndToEndTest::TearDown() {
  if (HasFailure()) {
    fprintf(stderr, "left for a look: %s\n", root_.c_str());
  } else {
    RunProgram({"rm", "-rf", root_});
  }
}

std::string EndToEndTest::Binary(const std::string& name) {
  return std::string(JANKBOX_BIN_DIR) + "/" + name;
}

std::map<std::string, std::string> EndToEndTest::ForeignEnvironment() {
  const char* preload = getenv("JANKBOX_TEST_PRELOAD");
  if (preload == nullptr) return {};
  // The host's own leaks are not ours to report.
  return {{"LD_PRELOAD", preload}, {"ASAN_OPTIONS", "detect_leaks=0"}};
}

std::vector<proto::Report> EndToEndTest::Reports(const std::string& folder) {
  std::vector<proto::Report> reports;
  Result<std::vector<std::string>> names = ListDirectory(folder);
  if (!names.ok()) return reports;
  for (const std::string& name : names.value()) {
    if (name.front() == '.' || name.find(kReportFileSuffix) == std::string::npos) continue;
    const std::string path = JoinPath(folder, name);
    EXPECT_EQ(RunProgram({"zstd", "-q", "-t", path}).exit_status, 0) << path;
    Result<proto::Report> report = ReadReportFile(path);
    EXPECT_TRUE(report.ok()) << path << ": " << report.status().message();
    if (report.ok()) reports.push_back(report.value());
  }
  return reports;  // names are UUIDv7: in order of time
}

uint64_t EndToEndTest::Sum(const proto::Verdict& v) {
  return v.running_ns() + v.runnable_ns() + v.lock_ns() + v.disk_ns() + v.fault_ns() + v.ipc_ns() +
         v.gc_ns() + v.sleeping_ns() + v.blocked_ns() + v.unknown_ns();
}

}  // namespace jankbox
