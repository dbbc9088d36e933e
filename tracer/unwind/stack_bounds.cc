#include "tracer/unwind/stack_bounds.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/recorded_process.h"
#include "base/scoped_fd.h"

namespace jankbox {

namespace {

struct Range {
  uint64_t start = 0;
  uint64_t end = 0;
};

// "start-end perms …" in hexadecimal.
bool ParseRange(std::string_view line, Range* range) {
  const char* end = line.data() + line.size();
  auto [dash, error] = std::from_chars(line.data(), end, range->start, 16);
  if (error != std::errc() || dash == end || *dash != '-') return false;
  return std::from_chars(dash + 1, end, range->end, 16).ec == std::errc();
}

// Looks through whole lines of `text`; what is left of it is an unfinished line.
bool FindIn(std::string_view* text, uint64_t address, Range* range) {
  for (;;) {
    const size_t line_end = text->find('\n');
    if (line_end == std::string_view::npos) return false;
    if (ParseRange(text->substr(0, line_end), range) && address >= range->start &&
        address < range->end) {
      return true;
    }
    text->remove_prefix(line_end + 1);
  }
}

bool FindMapping(uint64_t address, Range* range) {
  char path[48];
  snprintf(path, sizeof(path), "%s/maps", RecordedProcess::folder());
  ScopedFd maps(open(path, O_RDONLY | O_CLOEXEC));
  if (!maps.valid()) return false;
  char buffer[8192];  // a line is shorter: a path has at most 4096 bytes
  size_t kept = 0;
  for (;;) {
    const ssize_t got = read(maps.get(), buffer + kept, sizeof(buffer) - kept);
    if (got <= 0) return false;
    std::string_view text(buffer, kept + static_cast<size_t>(got));
    if (FindIn(&text, address, range)) return true;
    kept = text.size() < sizeof(buffer) ? text.size() : 0;
    std::memmove(buffer, text.data(), kept);
  }
}

}  // namespace

uint64_t StackBounds::EndOf(uint64_t sp) {
  if (sp >= start_ && sp < end_) return end_;
  Range range;
  if (!FindMapping(sp, &range)) range = {};
  start_ = range.start;
  end_ = range.end;
  return end_;
}

}  // namespace jankbox
