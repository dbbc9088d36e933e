#include "tools/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/status.h"
#include "base/utf8.h"

namespace jankbox::tools {
namespace {

constexpr size_t kMinColumns = 40;
constexpr size_t kMaxColumns = 1000;

const char* Escape(Colour colour) {
  switch (colour) {
    case Colour::kBold:
      return "\x1b[1m";
    case Colour::kDim:
      return "\x1b[2m";
    case Colour::kRed:
      return "\x1b[31m";
    case Colour::kGreen:
      return "\x1b[32m";
    case Colour::kYellow:
      return "\x1b[33m";
    case Colour::kBlue:
      return "\x1b[34m";
    case Colour::kMagenta:
      return "\x1b[35m";
    case Colour::kCyan:
      return "\x1b[36m";
    case Colour::kNone:
      break;
  }
  return "";
}

bool IsSet(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && *value != '\0';
}

bool LocaleIsUtf8() {
  const char* locale = IsSet("LC_ALL")     ? getenv("LC_ALL")
                       : IsSet("LC_CTYPE") ? getenv("LC_CTYPE")
                                           : getenv("LANG");
  return locale != nullptr && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

size_t Columns(int fd) {
  size_t columns = 0;
  if (const char* text = getenv("COLUMNS")) columns = strtoul(text, nullptr, 10);
  winsize size{};
  if (columns == 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns == 0 ? 0 : std::clamp(columns, kMinColumns, kMaxColumns);
}

// C0, DEL, C1, and the marks that turn the direction of text or end a line.
bool IsControl(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0) ||
         (code_point >= 0x200b && code_point <= 0x200f) ||
         (code_point >= 0x2028 && code_point <= 0x202e) ||
         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0xfeff;
}

size_t Width(uint32_t code_point) {
  const int width = wcwidth(static_cast<wchar_t>(code_point));
  return width < 0 ? 1 : static_cast<size_t>(width);
}

}  // namespace

TextStyle DetectTextStyle(int fd) {
  TextStyle style;
  const char* term = getenv("TERM");
  style.tty = isatty(fd) == 1;
  style.colour = style.tty && !IsSet("NO_COLOR") && term != nullptr && strcmp(term, "dumb") != 0;
  style.unicode = !style.tty || LocaleIsUtf8();
  style.columns = Columns(fd);
  return style;
}

std::string Paint(const TextStyle& style, Colour colour, std::string_view text) {
  if (!style.colour || colour == Colour::kNone || text.empty()) return std::string(text);
  return Escape(colour) + std::string(text) + "\x1b[0m";
}

std::string Printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character decoded = DecodeUtf8(text);
    const size_t bytes = std::max<size_t>(decoded.bytes, 1);
    if (decoded.bytes == 0 || IsControl(decoded.code_point)) {
      clean += '?';
    } else {
      clean += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return clean;
}

size_t DisplayWidth(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Utf8Character decoded = DecodeUtf8(text);
    columns += decoded.bytes == 0 ? 1 : Width(decoded.code_point);
    text.remove_prefix(std::max<size_t>(decoded.bytes, 1));
  }
  return columns;
}

std::string Clip(const TextStyle& style, std::string_view text, size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  const std::string_view ellipsis = style.unicode ? "…" : "..";
  const size_t room = columns - std::min(columns, DisplayWidth(ellipsis));
  size_t used = 0;
  size_t kept = 0;
  while (kept < text.size()) {
    const Utf8Character decoded = DecodeUtf8(text.substr(kept));
    const size_t width = decoded.bytes == 0 ? 1 : Width(decoded.code_point);
    if (used + width > room) break;
    used += width;
    kept += std::max<size_t>(decoded.bytes, 1);
  }
  return std::string(text.substr(0, kept)).append(ellipsis);
}

bool WriteText(int fd, std::string_view text) {
  const Status status = WriteFully(fd, text);
  if (!status.ok() && errno != EPIPE) PrintError(status.message());
  return status.ok();
}

void PrintError(std::string_view message) {
  // Nothing is left to say it to if stderr itself fails.
  (void)!WriteFully(STDERR_FILENO, "jankbox: " + Printable(message) + "\n").ok();
}

}  // namespace jankbox::tools
