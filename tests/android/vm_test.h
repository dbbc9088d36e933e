// Programs on a JVM with AOSP's own Looper, Handler and Message, our Java shim, its JNI and
// libjankbox.so.
#ifndef JANKBOX_TESTS_ANDROID_VM_TEST_H_
#define JANKBOX_TESTS_ANDROID_VM_TEST_H_

#include <string>
#include <vector>

#include "tests/e2e/run_program.h"

namespace jankbox {

class VmTest : public EndToEndTest {
 protected:
  // Skips the test if AOSP's sources are not to be had.
  void SetUp() override;

  // A program of tests/android/java under -Xcheck:jni; `options` are before its class.
  static std::vector<std::string> Java(const std::string& main_class,
                                       const std::vector<std::string>& arguments,
                                       const std::vector<std::string>& options = {});
  // Scenario.java, which keeps its reports in `folder`.
  static std::vector<std::string> JavaScenario(const std::string& scenario,
                                               const std::string& folder,
                                               const std::vector<std::string>& options = {});

  static size_t JniWarnings(const Outcome& outcome);
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_ANDROID_VM_TEST_H_
