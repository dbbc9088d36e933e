#include <clocale>

#include "tools/jankbox/command_line.h"

int main(int argc, char** argv) {
  setlocale(LC_CTYPE, "C.UTF-8");  // widths of characters
  return jankbox::tools::RunCommandLine(std::vector<std::string>(argv + 1, argv + argc));
}
