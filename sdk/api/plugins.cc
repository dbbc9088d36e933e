#include "sdk/api/plugins.h"

namespace jankbox {

Plugins& Plugins::Get() {
  static auto* plugins = new Plugins();
  return *plugins;
}

int Plugins::Add(const jankbox_plugin& plugin) {
  if (plugin.size != sizeof(jankbox_plugin) || plugin.name == nullptr || *plugin.name == '\0') {
    return JANKBOX_INVALID_ARGUMENT;
  }
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  if (entries_.size() >= kMaxPlugins) return JANKBOX_NO_SPACE;
  entries_.reserve(kMaxPlugins);  // so that a plugin that adds another one stays where it is
  entries_.push_back({plugin.name, plugin});
  if (plugin.init != nullptr) plugin.init(plugin.context);
  if (running_ && plugin.start != nullptr) plugin.start(plugin.context);
  return JANKBOX_OK;
}

void Plugins::Start() {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  running_ = true;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const jankbox_plugin& plugin = entries_[i].plugin;
    if (plugin.start != nullptr) plugin.start(plugin.context);
  }
}

void Plugins::Stop() {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  running_ = false;
  for (size_t i = entries_.size(); i > 0; --i) {
    const jankbox_plugin& plugin = entries_[i - 1].plugin;
    if (plugin.stop != nullptr) plugin.stop(plugin.context);
  }
}

void Plugins::SetForeground(bool in_front) {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  for (size_t i = 0; i < entries_.size(); ++i) {
    const jankbox_plugin& plugin = entries_[i].plugin;
    if (plugin.foreground != nullptr) plugin.foreground(plugin.context, in_front ? 1 : 0);
  }
}

std::string Plugins::Note() {
  std::lock_guard<std::recursive_mutex> lock(mutex_);
  std::string note;
  for (const Entry& entry : entries_) note += (note.empty() ? "Plugins: " : ", ") + entry.name;
  return note.empty() ? note : note + ".";
}

}  // namespace jankbox
