#include "tests/android/vm_test.h"

#include "tests/debian_source.h"

namespace jankbox {

void VmTest::SetUp() {
  EndToEndTest::SetUp();
  // Fetched and compiled once; empty if all is there, else why not.
  static const std::string why_not =
      BuildFromDebianSource(JANKBOX_TEST_BUILD_CLASSES, "android-platform-frameworks-base");
  if (!why_not.empty()) GTEST_SKIP() << why_not;
}

std::vector<std::string> VmTest::Java(const std::string& main_class,
                                      const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& options) {
  // As on Android, where no waits are hooked: what runs between messages is in no dispatch.
  std::vector<std::string> argv = {"/usr/bin/env",
                                   "JANKBOX_OPTIONS=flags=no_loop_hooks",
                                   JANKBOX_TEST_JAVA,
                                   "-Xcheck:jni",
                                   "-Xmx128m",
                                   "-XX:+UseSerialGC",
                                   "-cp",
                                   JANKBOX_TEST_CLASSES,
                                   "-Djava.library.path=" JANKBOX_TEST_LIBRARIES};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.push_back(main_class);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

std::vector<std::string> VmTest::JavaScenario(const std::string& scenario,
                                              const std::string& folder,
                                              const std::vector<std::string>& options) {
  return Java("dev.jankbox.Scenario", {JANKBOX_TEST_POLL_LAYER, folder, scenario}, options);
}

size_t VmTest::JniWarnings(const Outcome& outcome) {
  size_t count = 0;
  for (const std::string& text : {outcome.out, outcome.err}) {
    for (size_t at = text.find("WARNING in native method"); at != std::string::npos;
         at = text.find("WARNING in native method", at + 1)) {
      ++count;
    }
  }
  return count;
}

}  // namespace jankbox
