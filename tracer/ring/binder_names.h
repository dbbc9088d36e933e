// The names of binder calls in traces and verdicts: "binder call IActivityTaskManager.getTasks".
// The process's table of methods, filled as interfaces are seen, and the texts that readers hold.
// THREAD-SAFE (a mutex); allocates. Recording never comes here.
#ifndef JANKBOX_TRACER_RING_BINDER_NAMES_H_
#define JANKBOX_TRACER_RING_BINDER_NAMES_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "tracer/event/binder_call.h"
#include "tracer/ring/binder_methods.h"

namespace jankbox {

class BinderNames {
 public:
  static constexpr size_t kMaxTexts = 4096;  // bounds the texts for any ring

  static BinderNames& Get();

  // One constant of a stub class, as BinderMethods::Add().
  bool Add(std::string_view stub_class, std::string_view constant, int64_t code);

  // Valid permanently, and the same pointer for calls of the same name.
  const char* NameOf(const BinderCall& call);

 private:
  Mutex mutex_;
  BinderMethods methods_ GUARDED_BY(mutex_);
  bool sorted_ GUARDED_BY(mutex_) = true;
  std::set<std::string> texts_ GUARDED_BY(mutex_);
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_BINDER_NAMES_H_
