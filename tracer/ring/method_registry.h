// The names of method ids, for the life of the process: an id means the same before start,
// after stop and in every ring. THREAD-SAFE (a mutex): registering is cold, recording never comes
// here. Copied into the ring file so that names survive a crash.
#ifndef JANKBOX_TRACER_RING_METHOD_REGISTRY_H_
#define JANKBOX_TRACER_RING_METHOD_REGISTRY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

class RingFile;

class MethodRegistry {
 public:
  struct Entry {
    uint32_t id;
    std::string name;  // empty for one known by address only
    uint64_t address = 0;
  };

  static MethodRegistry& Get();

  // The id of `name`, a new one on its first call; 0 if all 2^24 - 1 are taken.
  uint32_t IdOfName(std::string_view name);

  // A new id for the instrumented function at `address`. The caller remembers it
  // (tracer/instrument/).
  uint32_t NewIdOfAddress(uint64_t address);

  // Writes all names, now and later ones, into the ring's names section until Detach(). Counts what
  // does not fit.
  void Attach(RingFile* ring);
  void Detach();

  // A copy of all entries, for a snapshot.
  std::vector<Entry> Entries() const;

 private:
  uint32_t Add(Entry entry) REQUIRES(mutex_);
  void WriteToRing(const Entry& entry) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::unordered_map<std::string, uint32_t> ids_ GUARDED_BY(mutex_);
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  RingFile* ring_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_METHOD_REGISTRY_H_
