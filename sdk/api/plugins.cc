#include "sdk/api/plugins.h"

#include <new>

#include "base/mutex.h"

namespace jankbox {

// Calls of plugins are made by one thread at a time, without the lock; that thread may come again
// from within a call, to add another plugin.
class Plugins::Turn {
 public:
  explicit Turn(Plugins* plugins) : plugins_(plugins) {
    MutexLock lock(&plugins_->mutex_);
    while (plugins_->turns_ != 0 && plugins_->caller_ != pthread_self()) {
      plugins_->turn_ended_.Wait(&plugins_->mutex_);
    }
    plugins_->caller_ = pthread_self();
    ++plugins_->turns_;
  }
  ~Turn() {
    MutexLock lock(&plugins_->mutex_);
    if (--plugins_->turns_ == 0) plugins_->turn_ended_.NotifyAll();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Plugins* const plugins_;
};

Plugins& Plugins::Get() {
  return MakeOnce([] { return new Plugins(); });
}

Status Plugins::Add(const jankbox_plugin* given) {
  if (given == nullptr || given->size != sizeof(jankbox_plugin) || given->name == nullptr ||
      *given->name == '\0') {
    return Status(StatusCode::kInvalidArgument,
                  "a plugin needs a name, and its size must be sizeof(jankbox_plugin)");
  }
  const jankbox_plugin& plugin = *given;
  const Turn turn(this);
  bool start = false;
  {
    MutexLock lock(&mutex_);
    if (entries_.size() >= kMaxPlugins) {
      return Status(StatusCode::kNoSpace, "there are 16 plugins already");
    }
    start = running_;
    entries_.push_back({plugin.name, plugin, start});
  }
  if (plugin.init != nullptr) plugin.init(plugin.context);
  if (start && plugin.start != nullptr) plugin.start(plugin.context);
  return Status::Ok();
}

std::optional<jankbox_plugin> Plugins::At(size_t index) {
  MutexLock lock(&mutex_);
  if (index >= entries_.size()) return std::nullopt;
  return entries_[index].plugin;
}

std::optional<jankbox_plugin> Plugins::NextToStart() {
  MutexLock lock(&mutex_);
  running_ = true;
  for (Entry& entry : entries_) {
    if (entry.started) continue;
    entry.started = true;
    return entry.plugin;
  }
  return std::nullopt;
}

std::optional<jankbox_plugin> Plugins::NextToStop() {
  MutexLock lock(&mutex_);
  running_ = false;
  for (size_t i = entries_.size(); i > 0; --i) {
    if (!entries_[i - 1].started) continue;
    entries_[i - 1].started = false;
    return entries_[i - 1].plugin;
  }
  return std::nullopt;
}

void Plugins::OnForkInChild() {
  mutex_.AssertOwned();  // by nobody who is here
  if (turns_ != 0 && caller_ == pthread_self()) return;
  new (&mutex_) Mutex();
  new (&turn_ended_) CondVar();
  turns_ = 0;
}

void Plugins::Start() {
  const Turn turn(this);
  while (const std::optional<jankbox_plugin> plugin = NextToStart()) {
    if (plugin->start != nullptr) plugin->start(plugin->context);
  }
}

void Plugins::Stop() {
  const Turn turn(this);
  while (const std::optional<jankbox_plugin> plugin = NextToStop()) {
    if (plugin->stop != nullptr) plugin->stop(plugin->context);
  }
}

void Plugins::SetForeground(bool in_front) {
  const Turn turn(this);
  for (size_t i = 0; const std::optional<jankbox_plugin> plugin = At(i); ++i) {
    if (plugin->foreground != nullptr) plugin->foreground(plugin->context, in_front ? 1 : 0);
  }
}

std::string Plugins::Note() {
  MutexLock lock(&mutex_);
  std::string note;
  for (const Entry& entry : entries_) note += (note.empty() ? "Plugins: " : ", ") + entry.name;
  return note.empty() ? note : note + ".";
}

}  // namespace jankbox
