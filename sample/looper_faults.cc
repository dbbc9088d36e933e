// A small program on the real android::Looper that uses Jankbox's API. Each message has one fault,
// for which Jankbox gives one verdict:
//   busy   900 ms of computing             -> slow message, on the CPU
//   lock   900 ms until a thread unlocks   -> slow message, waiting for a lock
//   fsync  900 ms of small synced writes   -> slow message, waiting for the disk
//   block  6 s asleep                      -> first a slow message, then an ANR, with one id
// usage: looper_faults [--dir DIR] [--scratch DIR] [FAULT...]     (without FAULT: all of them)
#include <fcntl.h>
#include <unistd.h>
#include <utils/Looper.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "jankbox/android_looper.h"
#include "jankbox/jankbox.h"
#include "jankbox/trace.h"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFault(900);

volatile unsigned g_sink;

__attribute__((noinline)) void ComputeLayout(milliseconds how_long) {
  JANKBOX_TRACE_FUNC();
  const Clock::time_point end = Clock::now() + how_long;
  while (Clock::now() < end) {
    for (unsigned i = 0; i < 10000; ++i) g_sink = g_sink * 31 + i;
  }
}

std::mutex g_cache_mutex;

__attribute__((noinline)) void ReadFromCache() {
  JANKBOX_TRACE_FUNC();
  std::lock_guard<std::mutex> lock(g_cache_mutex);
  g_sink = g_sink + 1;
}

// The worker takes the cache's lock and keeps it.
void WaitBehindWorker() {
  std::atomic<bool> taken{false};
  std::thread worker([&] {
    std::lock_guard<std::mutex> lock(g_cache_mutex);
    taken = true;
    std::this_thread::sleep_for(kFault);
  });
  while (!taken) std::this_thread::yield();
  ReadFromCache();
  worker.join();
}

__attribute__((noinline)) void SavePreferences(const std::string& scratch) {
  JANKBOX_TRACE_FUNC();
  const std::string path = scratch + "/looper_faults." + std::to_string(getpid());
  const int fd = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {
    perror(path.c_str());
    return;
  }
  unlink(path.c_str());
  static const char block[65536] = {};
  const Clock::time_point end = Clock::now() + kFault;
  while (Clock::now() < end) {
    if (pwrite(fd, block, sizeof(block), 0) < 0 || fsync(fd) != 0) break;
  }
  close(fd);
}

__attribute__((noinline)) void AskServer() {
  JANKBOX_TRACE_FUNC();
  std::this_thread::sleep_for(std::chrono::seconds(6));
}

// Runs the faults, by name.
class FaultHandler : public android::MessageHandler {
 public:
  explicit FaultHandler(std::vector<std::function<void()>> faults) : faults_(std::move(faults)) {}

  void handleMessage(const android::Message& message) override {
    const size_t index = static_cast<size_t>(message.what);
    if (index < faults_.size()) faults_[index]();
    ++handled_;
  }
  size_t handled() const { return handled_; }

 private:
  const std::vector<std::function<void()>> faults_;
  size_t handled_ = 0;
};

[[noreturn]] void Usage(int status) {
  fprintf(status == 0 ? stdout : stderr,
          "usage: looper_faults [--dir DIR] [--scratch DIR] [busy|lock|fsync|block]...\n"
          "Plants faults in messages of a real android::Looper and lets Jankbox report them.\n"
          "  --dir DIR      where reports go (else Jankbox's default)\n"
          "  --scratch DIR  a folder on a disk, for fsync [/var/tmp]\n");
  exit(status);
}

}  // namespace

int main(int argc, char** argv) {
  std::string dir;
  std::string scratch = "/var/tmp";
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help") Usage(0);
    if ((word == "--dir" || word == "--scratch") && i + 1 < argc) {
      (word == "--dir" ? dir : scratch) = argv[++i];
    } else if (word[0] == '-') {
      Usage(2);
    } else {
      names.push_back(word);
    }
  }
  const std::map<std::string, std::function<void()>> known = {
      {"busy", [] { ComputeLayout(kFault); }},
      {"lock", [] { WaitBehindWorker(); }},
      {"fsync", [&] { SavePreferences(scratch); }},
      {"block", [] { AskServer(); }},
  };
  if (names.empty()) names = {"busy", "lock", "fsync", "block"};
  std::vector<std::function<void()>> faults;
  for (const std::string& name : names) {
    if (known.count(name) == 0) Usage(2);
    faults.push_back(known.at(name));
  }

  jankbox_options options{};
  options.size = sizeof(options);
  options.dir = dir.empty() ? nullptr : dir.c_str();
  options.app_name = "looper_faults";
  options.app_version = JANKBOX_VERSION;
  if (jankbox_start(&options) != JANKBOX_OK) {
    fprintf(stderr, "looper_faults: Jankbox did not start: %s\n", jankbox_last_error());
  }
  jankbox_watch_this_thread("android::Looper");

  android::sp<android::Looper> looper = android::Looper::prepare(0);
  android::sp<FaultHandler> handler = new FaultHandler(faults);
  android::sp<android::MessageHandler> watched =
      new jankbox::WatchedMessageHandler(handler, "FaultHandler");
  // A second of rest between two faults: an app that waits is not janky.
  nsecs_t at = systemTime(SYSTEM_TIME_MONOTONIC) + ms2ns(500);
  for (size_t i = 0; i < names.size(); ++i) {
    looper->sendMessageAtTime(at, watched, android::Message(static_cast<int>(i)));
    at += s2ns(names[i] == "block" ? 7 : 2);
  }
  while (handler->handled() < names.size()) looper->pollOnce(-1);
  jankbox_stop();
  return 0;
}
