// States that the app sets, as JankStats' states: "screen" is "Checkout". They are
// in every report, and the state "screen" is the scene that frames are counted under. Bounded, and
// copied. THREAD-SAFE; a lock and allocations, but for CurrentScene(), which is HOT.
#ifndef JANKBOX_MONITORS_FRAME_STATE_TAGS_H_
#define JANKBOX_MONITORS_FRAME_STATE_TAGS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"

namespace jankbox {

struct StateTag {
  std::string key;
  std::string value;
  uint64_t from_ns = 0;  // CLOCK_MONOTONIC
  uint64_t to_ns = 0;    // 0: still set
};

class StateTags {
 public:
  static constexpr size_t kMaxHeld = 32;
  static constexpr size_t kMaxEnded = 32;  // kept, the latest, for reports about the past
  static constexpr size_t kMaxKeyBytes = 64;
  static constexpr size_t kMaxValueBytes = 128;
  static constexpr uint32_t kMaxScenes = 64;
  static constexpr std::string_view kSceneKey = "screen";

  static StateTags& Get();

  // False if kMaxHeld others are set or the key is empty. Longer texts are cut.
  bool Set(std::string_view key, std::string_view value, uint64_t now_ns);
  void Remove(std::string_view key, uint64_t now_ns);

  // Those that were set at any moment from `begin_ns` to `end_ns`: first those that ended since, in
  // the order in which they did.
  std::vector<StateTag> Between(uint64_t begin_ns, uint64_t end_ns) const;

  // The scene now: 0 if none was said. HOT.
  static uint32_t CurrentScene() { return scene_.load(std::memory_order_relaxed); }

  // "" for 0. The last number represents all scenes that came after the others.
  std::string SceneName(uint32_t scene) const;

 private:
  void End(size_t index, uint64_t now_ns) REQUIRES(mutex_);
  uint32_t SceneOf(const std::string& name) REQUIRES(mutex_);

  static std::atomic<uint32_t> scene_;
  mutable Mutex mutex_;
  std::vector<StateTag> held_ GUARDED_BY(mutex_);
  std::vector<StateTag> ended_ GUARDED_BY(mutex_);  // oldest first
  std::vector<std::string> scenes_ GUARDED_BY(mutex_);
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_STATE_TAGS_H_
