#include "tests/e2e/run_program.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/file.h"
#include "report/report_file.h"

namespace jankbox {

Program::Program(const std::vector<std::string>& argv,
                 const std::map<std::string, std::string>& environment) {
  const int error = process_.Start({.argv = argv,
                                    .environment = {environment.begin(), environment.end()},
                                    .out = ChildStream::kPiped,
                                    .err = ChildStream::kPiped});
  if (error == 0) return;
  waited_ = true;
  outcome_.exit_status = 127;  // as a shell's
  outcome_.err = argv[0] + ": " + strerror(error);
}

Program::~Program() {
  if (!waited_) Wait(0);
}

void Program::Signal(int number) { process_.Signal(number); }

bool Program::Drain(int timeout_ms) {
  ScopedFd* streams[] = {&process_.out(), &process_.err()};
  pollfd wait[] = {{streams[0]->get(), POLLIN, 0}, {streams[1]->get(), POLLIN, 0}};
  poll(wait, 2, timeout_ms);
  for (int i = 0; i < 2; ++i) {
    if (!streams[i]->valid() || wait[i].revents == 0) continue;
    char block[4096];
    const ssize_t n = read(streams[i]->get(), block, sizeof(block));
    if (n > 0) {
      (i == 0 ? outcome_.out : outcome_.err).append(block, static_cast<size_t>(n));
    } else {
      streams[i]->Reset();
    }
  }
  return streams[0]->valid() || streams[1]->valid();
}

bool Program::WaitForOutput(const std::string& text, int timeout_ms) {
  const uint64_t end = MonotonicNs() + static_cast<uint64_t>(timeout_ms) * kNsPerMs;
  while (outcome_.out.find(text) == std::string::npos) {
    if (MonotonicNs() >= end || !Drain(50)) return outcome_.out.find(text) != std::string::npos;
  }
  return true;
}

Outcome Program::Wait(int timeout_ms) {
  if (waited_) return outcome_;
  const uint64_t end = MonotonicNs() + static_cast<uint64_t>(timeout_ms) * kNsPerMs;
  bool open = true;
  while (!process_.HasEnded()) {
    if (MonotonicNs() >= end) {
      process_.Kill();
    } else if (open) {
      open = Drain(20);
    } else {
      usleep(5000);
    }
  }
  waited_ = true;
  while (open && MonotonicNs() < end + kNsPerSecond) open = Drain(100);
  process_.out().Reset();
  process_.err().Reset();
  const int status = process_.wait_status();
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
  // Rings of other tests' dead programs are not for this test's to collect.
  char runtime[] = "/dev/shm/jankbox-e2e-XXXXXX";
  ASSERT_NE(mkdtemp(runtime), nullptr);
  runtime_ = runtime;
  setenv("XDG_RUNTIME_DIR", runtime, 1);
}

void EndToEndTest::TearDown() {
  if (HasFailure()) {
    fprintf(stderr, "left for a look: %s\n", root_.c_str());
  } else {
    RunProgram({"rm", "-rf", root_, runtime_});
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

bool EndToEndTest::StartDisplay(Environment* environment) {
  if (RunProgram({"sh", "-c", "command -v Xvfb"}).exit_status != 0) return false;
  display_ = std::make_unique<Program>(std::vector<std::string>{
      "Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-noreset", "-nolisten", "tcp"});
  if (!display_->WaitForOutput("\n", 20000)) return false;
  (*environment)["DISPLAY"] = ":" + display_->Output().substr(0, display_->Output().find('\n'));
  environment->insert({"SDL_VIDEODRIVER", "x11"});
  environment->insert({"QT_QPA_PLATFORM", "xcb"});
  environment->insert({"GDK_BACKEND", "x11"});
  return true;
}

uint64_t EndToEndTest::Sum(const proto::Verdict& v) {
  return v.running_ns() + v.runnable_ns() + v.lock_ns() + v.disk_ns() + v.fault_ns() + v.ipc_ns() +
         v.gc_ns() + v.sleeping_ns() + v.blocked_ns() + v.unknown_ns();
}

}  // namespace jankbox
