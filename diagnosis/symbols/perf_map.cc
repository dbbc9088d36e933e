#include "diagnosis/symbols/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>

#include "base/scoped_fd.h"

namespace jankbox {
namespace {

constexpr off_t kMaxBytes = 64 << 20;
constexpr size_t kPieceBytes = 64 << 10;
constexpr size_t kMaxLineBytes = 4 << 10;
constexpr size_t kMaxNameBytes = 256;

// Sorted by address.
using Unnamed = std::map<uint64_t, ResolvedFrame*>;

Unnamed FramesWithoutModule(FrameTable* frames) {
  Unnamed unnamed;
  for (auto& [address, frame] : *frames) {
    if (address != 0 && frame.module.empty()) unnamed[address] = &frame;
  }
  return unnamed;
}

// Takes a hexadecimal number and the blank after it from the front of `line`.
bool TakeNumber(std::string_view* line, uint64_t* number) {
  const char* end = line->data() + line->size();
  const auto [rest, error] = std::from_chars(line->data(), end, *number, 16);
  if (error != std::errc() || rest == end || *rest != ' ') return false;
  line->remove_prefix(static_cast<size_t>(rest - line->data()) + 1);
  return true;
}

void TakeLine(std::string_view line, Unnamed* unnamed) {
  uint64_t start = 0;
  uint64_t size = 0;
  if (!TakeNumber(&line, &start) || !TakeNumber(&line, &size) || line.empty()) return;
  if (size > UINT64_MAX - start) return;
  for (auto at = unnamed->lower_bound(start); at != unnamed->end() && at->first < start + size;
       ++at) {
    at->second->function = CleanPerfMapName(line);
    at->second->function_start = start;
  }
}

// Invalid if the file is not to be read.
ScopedFd OpenMap(const std::string& path, bool* is_cut) {
  ScopedFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat st {};
  if (!fd.valid() || fstat(fd.get(), &st) != 0) return ScopedFd();
  if (!S_ISREG(st.st_mode) || st.st_uid != geteuid()) return ScopedFd();
  *is_cut = st.st_size > kMaxBytes;
  if (*is_cut && lseek(fd.get(), -kMaxBytes, SEEK_END) < 0) return ScopedFd();
  return fd;
}

std::string_view BaseNameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// "view.js:10:5" without the column.
std::string_view WithoutColumn(std::string_view place) {
  const size_t last = place.rfind(':');
  const bool has_two = last != std::string_view::npos && place.find(':') != last;
  return has_two ? place.substr(0, last) : place;
}

}  // namespace

std::string PerfMapPath(pid_t pid) { return "/tmp/perf-" + std::to_string(pid) + ".map"; }

void NameFramesFromPerfMap(const std::string& path, FrameTable* frames) {
  Unnamed unnamed = FramesWithoutModule(frames);
  if (unnamed.empty()) return;
  bool skip_line = false;  // the first one of a file that is cut
  const ScopedFd fd = OpenMap(path, &skip_line);
  if (!fd.valid()) return;
  std::string text;
  off_t left = kMaxBytes;
  while (left > 0) {
    const size_t kept = text.size();
    text.resize(kept + kPieceBytes);
    const ssize_t count = read(fd.get(), text.data() + kept, kPieceBytes);
    if (count <= 0) return;  // a last line without its end is still being written
    left -= count;
    text.resize(kept + static_cast<size_t>(count));
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (!skip_line) TakeLine(std::string_view(text).substr(begin, end - begin), &unnamed);
      skip_line = false;
    }
    text.erase(0, begin);
    if (text.size() <= kMaxLineBytes) continue;
    text.clear();
    skip_line = true;
  }
}

std::string CleanPerfMapName(std::string_view name) {
  if (name.starts_with("RegExp:")) return "RegExp";
  for (const std::string_view tag : {"LazyCompile:", "Function:", "Script:", "Eval:", "JS:"}) {
    if (!name.starts_with(tag)) continue;
    name.remove_prefix(tag.size());
    break;
  }
  constexpr std::string_view kTiers = "~*^+";  // of V8's compilers
  if (!name.empty() && kTiers.find(name[0]) != std::string_view::npos) name.remove_prefix(1);
  const size_t blank = name.find(' ');
  const std::string_view function = BaseNameOf(name.substr(0, blank));
  std::string clean(function.empty() ? "(anonymous)" : function);
  if (blank != std::string_view::npos) {
    const std::string_view place = WithoutColumn(BaseNameOf(name.substr(blank + 1)));
    if (!place.empty()) clean.append(" ").append(place);
  }
  clean.resize(std::min(clean.size(), kMaxNameBytes));
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return clean;
}

}  // namespace jankbox
