// The app's plugins (jankbox/plugin.h) and their lifecycle. One registry a process. Any thread but
// the app's UI thread if it matters: a call waits for the calls of another thread.
#ifndef JANKBOX_SDK_API_PLUGINS_H_
#define JANKBOX_SDK_API_PLUGINS_H_

#include <pthread.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "jankbox/plugin.h"

namespace jankbox {

class Plugins {
 public:
  static constexpr size_t kMaxPlugins = 16;

  static Plugins& Get();

  // `plugin` may be null: an error.
  Status Add(const jankbox_plugin* plugin);

  void Start();
  void Stop();
  void SetForeground(bool in_front);

  // "" if there is none.
  std::string Note();

  // A call that another thread makes in the parent does not end in the child.
  void OnForkInChild();

 private:
  struct Entry {
    std::string name;
    jankbox_plugin plugin;
    bool started = false;
  };
  class Turn;

  std::optional<jankbox_plugin> At(size_t index) EXCLUDES(mutex_);
  // The next plugin that is not started, or is, in the order of starting and stopping.
  std::optional<jankbox_plugin> NextToStart() EXCLUDES(mutex_);
  std::optional<jankbox_plugin> NextToStop() EXCLUDES(mutex_);

  Mutex mutex_;
  CondVar turn_ended_;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  bool running_ GUARDED_BY(mutex_) = false;
  pthread_t caller_ GUARDED_BY(mutex_) = {};  // whose turn it is
  uint32_t turns_ GUARDED_BY(mutex_) = 0;     // that thread's, nested
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_PLUGINS_H_
