// A fake phone at a fake adb server, Debian's adb between it and the command.
#ifndef JANKBOX_TESTS_TOOLS_ADB_PHONE_TEST_H_
#define JANKBOX_TESTS_TOOLS_ADB_PHONE_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/tools/adb/fake_adb_server.h"
#include "tests/tools/adb/fake_phone.h"
#include "tests/tools/subprocess.h"

namespace jankbox::tools {

class PhoneTest : public ::testing::Test {
 protected:
  static constexpr char kApp[] = "com.example.app";
  static constexpr char kSerial[] = "emulator-5554";

  void SetUp() override {
    const std::string missing = FakePhone::Missing();
    if (!missing.empty()) GTEST_SKIP() << missing << " is not installed";
    UsePhone(34);
  }

  void UsePhone(int sdk) {
    phone_ = std::make_unique<FakePhone>(sdk);
    server_.SetDevices({{kSerial, "device", phone_.get()}});
  }

  Environment AdbEnvironment() const {
    return {{"ADB_SERVER_SOCKET", server_.address()}, {"HOME", out_.path()}};
  }

  // The command's own, with `arguments`.
  static std::vector<std::string> Command(const std::vector<std::string>& arguments);

  Finished Jankbox(const std::vector<std::string>& arguments, Environment added = {}) const {
    Environment environment = AdbEnvironment();
    for (const auto& [name, value] : added) environment[name] = value;
    return RunToEnd(Command(arguments), environment);
  }

  // "jankbox record -a APP -t 200ms -o OUT", with `more` in place of or besides these.
  Finished Record(const std::vector<std::string>& more, Environment added = {}) const {
    std::vector<std::string> arguments = {"record", "-a", kApp};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto has = [&](const char* option) {
      return std::find(more.begin(), more.end(), option) != more.end();
    };
    if (!has("-t")) arguments.insert(arguments.end(), {"-t", "200ms"});
    if (!has("-o")) arguments.insert(arguments.end(), {"-o", Out()});
    return Jankbox(arguments, added);
  }

  Finished Pull(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"pull", "-a", kApp, "--dir", out_ / "reports"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Jankbox(arguments);
  }

  std::string Out() const { return out_ / "out.pftrace"; }

  TemporaryFolder out_;
  std::unique_ptr<FakePhone> phone_;
  FakeAdbServer server_;  // ends before the phone does
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TESTS_TOOLS_ADB_PHONE_TEST_H_
