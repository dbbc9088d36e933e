#include "tracer/ring/binder_names.h"

#include "base/mutex.h"

namespace jankbox {

BinderNames& BinderNames::Get() {
  return MakeOnce([] { return new BinderNames(); });
}

bool BinderNames::Add(std::string_view stub_class, std::string_view constant, int64_t code) {
  MutexLock lock(&mutex_);
  if (!methods_.Add(stub_class, constant, code)) return false;
  sorted_ = false;
  return true;
}

const char* BinderNames::NameOf(const BinderCall& call) {
  MutexLock lock(&mutex_);
  if (!sorted_) methods_.Finish();
  sorted_ = true;
  // Without a name the object is reported by its number, which means something in this process
  // alone.
  const std::string interface =
      call.interface_bytes != 0 ? std::string(call.name()) : "#" + std::to_string(call.handle);
  const std::string text = "binder call " + methods_.Find(interface, call.code);
  if (texts_.size() >= kMaxTexts && !texts_.contains(text)) return "binder call";
  return texts_.insert(text).first->c_str();
}

}  // namespace jankbox
