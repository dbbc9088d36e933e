#include "tests/tracer/hook/fixture.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>

#include "base/file.h"

namespace jankbox {
namespace {

constexpr std::string_view kCopyPrefix = "hook_copy_";

std::vector<std::string> SplitPaths(const char* list) {
  std::vector<std::string> paths;
  std::istringstream all(list);
  for (std::string path; std::getline(all, path, ':');) paths.push_back(path);
  return paths;
}

}  // namespace

std::vector<std::string> FixturePaths() { return SplitPaths(JANKBOX_HOOK_FIXTURES); }

std::vector<std::string> ForeignFixturePaths() { return SplitPaths(JANKBOX_FOREIGN_FIXTURES); }

bool IsFixtureCopy(std::string_view path) {
  return BaseName(path).substr(0, kCopyPrefix.size()) == kCopyPrefix;
}

FixtureFolder::FixtureFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "jankbox-hook-XXXXXX").string();
  path_ = mkdtemp(path.data());
}

FixtureFolder::~FixtureFolder() { std::filesystem::remove_all(path_); }

std::string FixtureFolder::Copy(const std::string& library, const std::string& name) const {
  std::string copy = JoinPath(path_, std::string(kCopyPrefix) + name + ".so");
  std::filesystem::copy_file(library, copy);
  return copy;
}

Fixture::Fixture(const std::string& path)
    : path_(path), handle_(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
  if (handle_ == nullptr) return;
  poll_ = reinterpret_cast<decltype(poll_)>(dlsym(handle_, "fixture_poll"));
  close_ = reinterpret_cast<decltype(close_)>(dlsym(handle_, "fixture_close"));
  write_ = reinterpret_cast<decltype(write_)>(dlsym(handle_, "fixture_write"));
  getppid_ = reinterpret_cast<decltype(getppid_)>(dlsym(handle_, "fixture_getppid"));
  table_getppid_ =
      reinterpret_cast<decltype(table_getppid_)>(dlsym(handle_, "fixture_table_getppid"));
  absent_ = reinterpret_cast<decltype(absent_)>(dlsym(handle_, "fixture_absent"));
}

Fixture::~Fixture() {
  if (handle_ != nullptr) dlclose(handle_);
}

uint64_t Fixture::load_bias() const {
  link_map* map = nullptr;
  dlinfo(handle_, RTLD_DI_LINKMAP, &map);
  return map->l_addr;
}

}  // namespace jankbox
