#include "tracer/snapshot/wait_slices.h"

#include <algorithm>
#include <iterator>

#include "tracer/ring/wait_record.h"

namespace jankbox {
namespace {

// By StackSample::FdClass.
constexpr const char* kFdClasses[] = {"", "file", "pipe", "socket", "event", "other"};
static_assert(std::size(kFdClasses) == wait_event::kMaxFdClass + 1);

bool Transfers(WaitClass what) { return what >= WaitClass::kRead && what <= WaitClass::kPwrite; }

}  // namespace

std::string WaitName(const WaitEvent& begin, const std::string& owner_name) {
  if (begin.call != nullptr) return begin.call;
  std::string name = WaitClassName(begin.what);
  if (!IsFileWait(begin.what)) {
    if (begin.owner_tid == 0) return name;
    name += begin.what == WaitClass::kJoin ? " (" : " (owner ";
    if (!owner_name.empty()) name += owner_name + " ";
    return name + "[" + std::to_string(begin.owner_tid) + "])";
  }
  std::string inside = kFdClasses[std::min<size_t>(begin.fd_class, wait_event::kMaxFdClass)];
  if (Transfers(begin.what)) {
    if (!inside.empty()) inside += ", ";
    inside += std::to_string(begin.bytes) + (begin.bytes == 1 ? " byte" : " bytes");
  }
  return inside.empty() ? name : name + " (" + inside + ")";
}

}  // namespace jankbox
