#include "tools/terminal/progress_line.h"

#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kPatienceNs = 2 * kNsPerSecond;
constexpr uint64_t kBetweenNs = 200 * kNsPerMs;
constexpr char kWipe[] = "\r\x1b[K";

}  // namespace

ProgressLine::ProgressLine()
    : terminal_(DetectTextStyle(STDERR_FILENO).tty), begin_ns_(MonotonicNs()) {}

ProgressLine::~ProgressLine() {
  if (shown_ns_ != 0) fputs(kWipe, stderr);
}

void ProgressLine::Show(const std::string& what, double done) {
  if (!terminal_) return;
  const uint64_t now = MonotonicNs();
  if (now - begin_ns_ < kPatienceNs || now - shown_ns_ < kBetweenNs) return;
  shown_ns_ = now;
  fprintf(stderr, "%s%s: %d %%", kWipe, Printable(what).c_str(), static_cast<int>(done * 100));
  fflush(stderr);
}

}  // namespace jankbox::tools
