// The abilities of a stream (colour, glyphs, width), and text that fits it. Used by every
// subcommand; pure but for DetectTextStyle. Reports come from other machines: every string of
// theirs goes through Printable() before it reaches a terminal. Threads: any; allocates.
#ifndef JANKBOX_TOOLS_TERMINAL_TERMINAL_H_
#define JANKBOX_TOOLS_TERMINAL_TERMINAL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace jankbox::tools {

struct TextStyle {
  bool tty = false;     // someone is looking: progress may be drawn
  bool colour = false;  // ANSI escapes
  bool unicode = true;  // block elements, dashes and ellipses
  size_t columns = 0;   // 0: as wide as it gets
};

// Colour needs a terminal that is not "dumb" and no NO_COLOR; the width comes from COLUMNS, else
// the terminal; glyphs beyond ASCII need a UTF-8 locale, or no terminal (files and pipes are
// UTF-8).
TextStyle DetectTextStyle(int fd);

enum class Colour { kNone, kBold, kDim, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan };

// `text` between the escapes of `colour`, or as it is where the style has no colour.
std::string Paint(const TextStyle& style, Colour colour, std::string_view text);

// Control characters (escape sequences among them) and malformed UTF-8 replaced by '?'.
std::string Printable(std::string_view text);

// Columns that `text` (printable UTF-8 without escapes) takes.
size_t DisplayWidth(std::string_view text);

// `text` cut to `columns`, its end replaced by an ellipsis if something was cut.
std::string Clip(const TextStyle& style, std::string_view text, size_t columns);

// Writes all of `text`; false (with one line on stderr, unless the reader is gone) if that
// fails.
bool WriteText(int fd, std::string_view text);

// "jankbox: <message>\n" on stderr, cleaned by Printable().
void PrintError(std::string_view message);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_TERMINAL_H_
