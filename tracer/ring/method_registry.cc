#include "tracer/ring/method_registry.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/mutex.h"
#include "tracer/event/event.h"
#include "tracer/event/watcher_wake.h"
#include "tracer/ring/ring_file.h"

namespace jankbox {

MethodRegistry& MethodRegistry::Get() {
  // Outlives every static destructor.
  return MakeOnce([] { return new MethodRegistry(); });
}

uint32_t MethodRegistry::IdOfName(std::string_view name) {
  MutexLock lock(&mutex_);
  auto it = ids_.find(std::string(name));
  if (it != ids_.end()) return it->second;
  const uint32_t id = Add({0, std::string(name), 0});
  if (id != 0) ids_.emplace(name, id);
  return id;
}

uint32_t MethodRegistry::NewIdOfAddress(uint64_t address) {
  MutexLock lock(&mutex_);
  return Add({0, "", address});
}

uint32_t MethodRegistry::Add(Entry entry) {
  if (entries_.size() >= kMaxMethodId) return 0;
  entry.id = static_cast<uint32_t>(entries_.size() + 1);
  entries_.push_back(std::move(entry));
  WriteToRing(entries_.back());
  return entries_.back().id;
}

void MethodRegistry::Attach(RingFile* ring) {
  MutexLock lock(&mutex_);
  ring_ = ring;
  for (const Entry& entry : entries_) WriteToRing(entry);
}

void MethodRegistry::Detach() {
  MutexLock lock(&mutex_);
  ring_ = nullptr;
}

std::vector<MethodRegistry::Entry> MethodRegistry::Entries() const {
  MutexLock lock(&mutex_);
  return entries_;
}

void MethodRegistry::WriteToRing(const Entry& entry) {
  if (ring_ == nullptr) return;
  RingHeader* header = ring_->mutable_header();
  const bool by_address = entry.name.empty();
  const void* bytes = by_address ? static_cast<const void*>(&entry.address) : entry.name.data();
  const size_t size =
      by_address ? sizeof(entry.address) : std::min<size_t>(entry.name.size(), UINT16_MAX);
  const uint64_t used = header->names_bytes.load(std::memory_order_relaxed);
  const uint64_t needed = (sizeof(RingName) + size + 7) & ~uint64_t{7};
  if (!ring_->HasSpaceForNames(used + needed)) {
    header->names_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  uint8_t* at = ring_->base() + header->names_offset + used;
  const RingName name = {entry.id,
                         by_address ? uint16_t{RingName::kAddress} : uint16_t{RingName::kText},
                         static_cast<uint16_t>(size)};
  memcpy(at, &name, sizeof(name));
  memcpy(at + sizeof(name), bytes, size);
  header->names_bytes.store(used + needed, std::memory_order_release);
  WatcherWake::OnActivity();  // calls are to be expected
}

}  // namespace jankbox
