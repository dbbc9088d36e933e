#include "monitors/frame/state_tags.h"

#include <algorithm>

#include "base/mutex.h"

namespace jankbox {

std::atomic<uint32_t> StateTags::scene_{0};

StateTags& StateTags::Get() {
  // Never destroyed: the app may say its state at any time.
  return MakeOnce([] { return new StateTags(); });
}

bool StateTags::Set(std::string_view key, std::string_view value, uint64_t now_ns) {
  key = key.substr(0, kMaxKeyBytes);
  value = value.substr(0, kMaxValueBytes);
  if (key.empty()) return false;
  MutexLock lock(&mutex_);
  for (size_t i = 0; i < held_.size(); ++i) {
    if (held_[i].key != key) continue;
    if (held_[i].value == value) return true;
    End(i, now_ns);
    break;
  }
  if (held_.size() == kMaxHeld) return false;
  held_.push_back({std::string(key), std::string(value), now_ns, 0});
  if (key == kSceneKey) scene_.store(SceneOf(held_.back().value), std::memory_order_relaxed);
  return true;
}

void StateTags::Remove(std::string_view key, uint64_t now_ns) {
  MutexLock lock(&mutex_);
  for (size_t i = 0; i < held_.size(); ++i) {
    if (held_[i].key != key.substr(0, kMaxKeyBytes)) continue;
    End(i, now_ns);
    if (key == kSceneKey) scene_.store(0, std::memory_order_relaxed);
    return;
  }
}

void StateTags::End(size_t index, uint64_t now_ns) {
  if (ended_.size() == kMaxEnded) ended_.erase(ended_.begin());
  held_[index].to_ns = now_ns;
  ended_.push_back(std::move(held_[index]));
  held_.erase(held_.begin() + static_cast<ptrdiff_t>(index));
}

uint32_t StateTags::SceneOf(const std::string& name) {
  uint32_t index = 0;
  while (index < scenes_.size() && scenes_[index] != name) ++index;
  if (index == kMaxScenes) return kMaxScenes;
  if (index == scenes_.size()) scenes_.push_back(name);
  return index + 1;
}

std::vector<StateTag> StateTags::Between(uint64_t begin_ns, uint64_t end_ns) const {
  MutexLock lock(&mutex_);
  std::vector<StateTag> tags;
  for (const StateTag& tag : ended_) {
    if (tag.from_ns <= end_ns && tag.to_ns > begin_ns) tags.push_back(tag);
  }
  for (const StateTag& tag : held_) {
    if (tag.from_ns <= end_ns) tags.push_back(tag);
  }
  return tags;
}

std::string StateTags::SceneName(uint32_t scene) const {
  MutexLock lock(&mutex_);
  if (scene == 0 || scene > scenes_.size()) return "";
  return scene == kMaxScenes ? "(others)" : scenes_[scene - 1];
}

}  // namespace jankbox
