// The fixture libraries of this folder, loaded from copies with names of their own, so that each
// test has its own import tables.
#ifndef JANKBOX_TESTS_TRACER_HOOK_FIXTURE_H_
#define JANKBOX_TESTS_TRACER_HOOK_FIXTURE_H_

#include <poll.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jankbox {

// Each way of linking.
std::vector<std::string> FixturePaths();

// Libraries for Android's machines, which this machine does not load: <machine>_<packing>.so. Empty
// if clang or lld are missing.
std::vector<std::string> ForeignFixturePaths();

// True for the copies that the tests load. A HookRequest's caller_matches.
bool IsFixtureCopy(std::string_view path);

// A private folder, removed with all that is in it.
class FixtureFolder {
 public:
  FixtureFolder();
  ~FixtureFolder();
  std::string Copy(const std::string& library, const std::string& name) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Fixture {
 public:
  explicit Fixture(const std::string& path);  // dlopen
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture();  // dlclose

  bool loaded() const { return handle_ != nullptr; }
  const std::string& path() const { return path_; }
  uint64_t load_bias() const;

  int Poll(pollfd* fds, unsigned long count, int timeout_ms) const {
    return poll_(fds, count, timeout_ms);
  }
  int Close(int fd) const { return close_(fd); }
  ssize_t Write(int fd, const void* bytes, size_t count) const { return write_(fd, bytes, count); }
  pid_t Getppid() const { return getppid_(); }
  pid_t TableGetppid(int which) const { return table_getppid_(which); }
  int Absent() const { return absent_(); }

 private:
  std::string path_;
  void* handle_;
  int (*poll_)(pollfd*, unsigned long, int) = nullptr;
  int (*close_)(int) = nullptr;
  long (*write_)(int, const void*, unsigned long) = nullptr;
  pid_t (*getppid_)() = nullptr;
  pid_t (*table_getppid_)(int) = nullptr;
  int (*absent_)() = nullptr;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_HOOK_FIXTURE_H_
