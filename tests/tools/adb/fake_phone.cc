#include "tests/tools/adb/fake_phone.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/clock.h"

namespace jankbox::tools {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kStartNs = 20 * kNsPerSecond;

std::vector<std::string> Lines(const std::string& path) {
  std::istringstream in(FileBytes(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string FakePhone::Missing() {
  for (const char* program : {"adb", "mksh", "toybox"}) {
    const std::string path = std::string("/usr/bin/") + program;
    if (access(path.c_str(), X_OK) != 0) return std::string("Debian package ") + program;
  }
  return "";
}

FakePhone::FakePhone(int sdk) {
  for (const char* name :
       {"bin", "data/data", "debuggable", "run", "launch", "runtime", "storage"}) {
    fs::create_directories(*this / name);
  }
  // "toybox NAME": a link of the name does.
  for (const char* tool : {"cat", "cksum", "grep", "ls", "mv", "rm", "sleep", "tail"}) {
    if (std::string(tool) == "cksum" && sdk < 23) continue;  // Android 5 has none
    fs::create_symlink("/usr/bin/toybox", *this / (std::string("bin/") + tool));
  }
  fs::create_symlink("/usr/bin/toybox", *this / "bin/toybox");
  fs::create_symlink("/usr/bin/mksh", *this / "bin/sh");
  SetProperty("ro.build.version.sdk", std::to_string(sdk));
}

FakePhone::~FakePhone() {
  for (const fs::directory_entry& app : fs::directory_iterator(*this / "run")) {
    EndApp(app.path().filename());
  }
}

void FakePhone::Install(const std::string& package, bool debuggable) {
  fs::create_directories(*this / ("data/data/" + package));
  if (debuggable) WriteFile(*this / ("debuggable/" + package), "");
}

std::string FakePhone::OwnFolder(const std::string& package) const {
  const std::string folder = *this / ("data/data/" + package + "/no_backup/jankbox");
  fs::create_directories(folder);
  return folder;
}

std::string FakePhone::FilesFolder(const std::string& package) const {
  const std::string folder = *this / ("data/data/" + package + "/files/jankbox");
  fs::create_directories(folder);
  return folder;
}

std::string FakePhone::ExternalFolder(const std::string& package) const {
  const std::string folder = *this / ("storage/Android/data/" + package + "/files/jankbox");
  fs::create_directories(folder);
  return folder;
}

void FakePhone::InstallLauncher(const std::string& package, const std::string& folder) {
  const std::string path = *this / ("launch/" + package);
  WriteFile(path, "#!/bin/mksh\nexport XDG_RUNTIME_DIR=" + *this / "runtime" + "\nexec " +
                      JANKBOX_PHONE_APP + " " + (folder.empty() ? OwnFolder(package) : folder) +
                      " " + *this / "properties" + " " + package + " " + *this / ("ready") + "\n");
  chmod(path.c_str(), 0755);
}

void FakePhone::StartApp(const std::string& package, const std::string& folder) {
  InstallLauncher(package, folder);
  unlink((*this / "ready").c_str());
  std::vector<std::string> command = {"/usr/bin/env", "-i"};
  for (const std::string& entry : ShellEnvironment()) command.push_back(entry);
  for (const std::string& word : ShellCommand("monkey -p " + package + " 1")) {
    command.push_back(word);
  }
  RunToEnd(command);
  const uint64_t end_ns = MonotonicNs() + kStartNs;
  while (access((*this / "ready").c_str(), F_OK) != 0 && MonotonicNs() < end_ns) usleep(5000);
}

void FakePhone::EndApp(const std::string& package) {
  const std::string file = *this / ("run/" + package);
  const int pid = atoi(FileBytes(file).c_str());
  if (pid > 1) kill(pid, SIGKILL);
  unlink(file.c_str());
}

std::map<std::string, std::string> FakePhone::Properties() const {
  std::map<std::string, std::string> properties;
  for (const std::string& line : Lines(*this / "properties")) {
    properties[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  }
  return properties;
}

void FakePhone::SetProperty(const std::string& name, const std::string& value) {
  WriteFile(*this / "properties", FileBytes(*this / "properties") + name + "=" + value + "\n");
}

std::vector<std::string> FakePhone::PropertiesSet() const { return Lines(*this / "setprop.log"); }

std::vector<std::string> FakePhone::ShellCommand(const std::string& script) const {
  return {"/usr/bin/mksh", "-c", script};
}

std::vector<std::string> FakePhone::ShellEnvironment() const {
  return {"PATH=" JANKBOX_PHONE_BIN ":" + *this / "bin", "PHONE=" + folder_.path(),
          "EXTERNAL_STORAGE=" + *this / "storage"};
}

}  // namespace jankbox::tools
