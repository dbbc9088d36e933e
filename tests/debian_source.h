// What tests that compile a source package of Debian (debian_source.py) have in common.
#ifndef JANKBOX_TESTS_DEBIAN_SOURCE_H_
#define JANKBOX_TESTS_DEBIAN_SOURCE_H_

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace jankbox {

// Runs the shell command `script`, which builds from the source of `package`. Empty where all is
// there; else why the tests that need it are to be skipped. A failure of the test if the build
// itself failed.
inline std::string BuildFromDebianSource(const std::string& script, const std::string& package) {
  FILE* pipe = popen((script + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "no shell";
  std::string said;
  char piece[512];
  while (fgets(piece, sizeof(piece), pipe) != nullptr) said += piece;
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  const bool unavailable = WIFEXITED(status) && WEXITSTATUS(status) == 77;
  if (!unavailable) ADD_FAILURE() << script << " failed: " << said;
  return "the source of " + package + " is not to be had: " + said;
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_DEBIAN_SOURCE_H_
