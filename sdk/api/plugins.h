// The app's plugins (jankbox/plugin.h) and their lifecycle. One registry a process. Any thread but
// the app's UI thread where it matters: calls are made under a lock.
#ifndef JANKBOX_SDK_API_PLUGINS_H_
#define JANKBOX_SDK_API_PLUGINS_H_

#include <mutex>
#include <string>
#include <vector>

#include "jankbox/plugin.h"

namespace jankbox {

class Plugins {
 public:
  static constexpr size_t kMaxPlugins = 16;

  static Plugins& Get();

  // A code of jankbox.h.
  int Add(const jankbox_plugin& plugin);

  void Start();
  void Stop();
  void SetForeground(bool in_front);

  // "" where there is none.
  std::string Note();

 private:
  struct Entry {
    std::string name;
    jankbox_plugin plugin;
  };

  std::recursive_mutex mutex_;  // a plugin may add another one
  std::vector<Entry> entries_;
  bool running_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_PLUGINS_H_
