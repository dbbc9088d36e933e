// A phone's user land for the tests of `jankbox record` and `pull`: a folder with properties, apps
// and their files, Android's own shell (mksh) and tools (toybox) from Debian, and what neither has
// (phone_bin/) as short scripts. Apps on it are real programs with the real SDK (phone_app.cc).
#ifndef JANKBOX_TESTS_TOOLS_ADB_FAKE_PHONE_H_
#define JANKBOX_TESTS_TOOLS_ADB_FAKE_PHONE_H_

#include <map>
#include <string>
#include <vector>

#include "tests/tools/subprocess.h"

namespace jankbox::tools {

class FakePhone {
 public:
  // `sdk`: 21 (Android 5.0) and later.
  explicit FakePhone(int sdk = 34);
  ~FakePhone();  // ends its apps
  FakePhone(const FakePhone&) = delete;
  FakePhone& operator=(const FakePhone&) = delete;

  // Empty, or which Debian package is missing.
  static std::string Missing();

  std::string operator/(const std::string& path) const { return folder_.path() + "/" + path; }

  void Install(const std::string& package, bool debuggable);
  // Folders of reports; made by the call.
  std::string OwnFolder(const std::string& package) const;
  std::string FilesFolder(const std::string& package) const;
  std::string ExternalFolder(const std::string& package) const;
  // As a finger on the icon does; waits until it records. It writes its reports to `folder`, its
  // own one if that is empty.
  void StartApp(const std::string& package, const std::string& folder = "");
  // The same without starting it.
  void InstallLauncher(const std::string& package, const std::string& folder = "");
  void EndApp(const std::string& package);

  std::map<std::string, std::string> Properties() const;
  void SetProperty(const std::string& name, const std::string& value);
  // Each "name=value" that setprop was called for, in order.
  std::vector<std::string> PropertiesSet() const;

  // How to run `script` in its shell, and in which environment.
  std::vector<std::string> ShellCommand(const std::string& script) const;
  std::vector<std::string> ShellEnvironment() const;

 private:
  TemporaryFolder folder_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TESTS_TOOLS_ADB_FAKE_PHONE_H_
