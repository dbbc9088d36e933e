#include "tests/tools/adb/phone_test.h"

namespace jankbox::tools {

std::vector<std::string> PhoneTest::Command(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {JANKBOX_BINARY};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

}  // namespace jankbox::tools
