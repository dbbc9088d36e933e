#include "tests/tools/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/clock.h"
#include "base/file.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kPatienceNs = 20 * kNsPerSecond;

bool IsDropped(std::string_view name) {
  return name == "NO_COLOR" || name == "COLUMNS" || name == "LD_PRELOAD" ||
         name.rfind("JANKBOX_", 0) == 0;
}

// One read of what is there; false at the end. A terminal says EIO for its end.
bool ReadSome(int fd, std::string* out) {
  char block[65536];
  const ssize_t n = read(fd, block, sizeof(block));
  if (n < 0 && errno == EINTR) return true;
  if (n > 0) out->append(block, static_cast<size_t>(n));
  return n > 0;
}

}  // namespace

int Finished::exit_status() const { return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1; }
int Finished::signal() const { return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0; }

Subprocess::Subprocess(const std::vector<std::string>& argv, const Environment& added,
                       bool terminal)
    : terminal_(terminal) {
  ChildOptions options = {
      .argv = argv, .environment = {added.begin(), added.end()}, .drops_variable = IsDropped};
  if (!terminal) {
    options.in = options.out = options.err = ChildStream::kPiped;
    if (process_.Start(options) != 0) abort();
    return;
  }
  const winsize size = {.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
  int master = -1;
  int slave = -1;
  if (openpty(&master, &slave, nullptr, nullptr, &size) != 0) abort();
  fcntl(master, F_SETFD, FD_CLOEXEC);
  options.in_child = [slave] { login_tty(slave); };
  if (process_.Start(options) != 0) abort();
  close(slave);
  process_.out().Reset(master);
}

Subprocess::~Subprocess() { process_.Kill(); }

void Subprocess::Write(const std::string& input) {
  (void)!WriteFully(terminal_ ? process_.out().get() : process_.in().get(), input).ok();
}

bool Subprocess::ReadUntil(int fd, std::string* read, const std::string& text) {
  const uint64_t end = MonotonicNs() + kPatienceNs;
  while (read->find(text) == std::string::npos) {
    pollfd ready{fd, POLLIN, 0};
    if (MonotonicNs() > end) return false;
    if (poll(&ready, 1, 100) == 1 && !ReadSome(fd, read)) return false;
  }
  return true;
}

bool Subprocess::WaitForOutput(const std::string& text) {
  return ReadUntil(process_.out().get(), &finished_.out, text);
}

bool Subprocess::WaitForErrorOutput(const std::string& text) {
  return ReadUntil(process_.err().get(), &finished_.err, text);
}

bool Subprocess::WaitForEnd(int timeout_ms) {
  const uint64_t end = MonotonicNs() + static_cast<uint64_t>(timeout_ms) * kNsPerMs;
  while (!process_.HasEnded()) {
    if (MonotonicNs() > end) return false;
    usleep(5000);
  }
  return true;
}

Finished Subprocess::Finish() {
  process_.in().Reset();
  bool out_open = true;
  bool err_open = process_.err().valid();
  while (out_open || err_open) {
    pollfd ready[] = {{out_open ? process_.out().get() : -1, POLLIN, 0},
                      {err_open ? process_.err().get() : -1, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[0].revents != 0) out_open = ReadSome(process_.out().get(), &finished_.out);
    if (ready[1].revents != 0) err_open = ReadSome(process_.err().get(), &finished_.err);
  }
  process_.Wait();
  finished_.wait_status = process_.wait_status();
  return finished_;
}

Finished RunToEnd(const std::vector<std::string>& argv, const Environment& added,
                  const std::string& input) {
  Subprocess process(argv, added);
  process.Write(input);
  return process.Finish();
}

Finished RunOnTerminal(const std::vector<std::string>& argv, const Environment& added) {
  return Subprocess(argv, added, /*terminal=*/true).Finish();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "jankbox-tools-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) abort();
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace jankbox::tools
