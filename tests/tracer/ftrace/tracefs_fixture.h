// Tests on the machine's own tracefs: skipped by name if it cannot be written.
#ifndef JANKBOX_TESTS_TRACER_FTRACE_TRACEFS_FIXTURE_H_
#define JANKBOX_TESTS_TRACER_FTRACE_TRACEFS_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "tracer/ftrace/private_instance.h"
#include "tracer/ftrace/tracefs_file.h"

namespace jankbox::testing {

class TracefsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::string> tracefs = FindTracefs();
    if (!tracefs.ok()) GTEST_SKIP() << tracefs.status().message();
    tracefs_ = tracefs.value();
  }

  static std::string Setting(const PrivateInstance& instance, const std::string& file) {
    std::string text = ReadProcFile(instance.path() + "/" + file);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  std::string tracefs_;
};

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_TRACER_FTRACE_TRACEFS_FIXTURE_H_
