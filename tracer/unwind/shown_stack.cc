#include "tracer/unwind/shown_stack.h"

#include <algorithm>
#include <iterator>

namespace jankbox {
namespace {

constexpr std::string_view kCLibraries[] = {"libc.so", "libc-2",    "libpthread", "ld-linux",
                                            "ld-musl", "libc.musl", "linker64"};

constexpr std::string_view kEntries[] = {"_start",
                                         "_start_c",
                                         "_dl_start_user",
                                         "__libc_start_main",
                                         "__libc_start_main_impl",
                                         "__libc_start_call_main",
                                         "__libc_init",
                                         "start_thread",
                                         "__start_thread",
                                         "__pthread_start",
                                         "__pthread_start(void*)",
                                         "clone",
                                         "clone3",
                                         "__clone",
                                         "__clone3",
                                         "__clone_internal"};

std::string_view WithoutVersion(std::string_view function) {
  return function.substr(0, function.find('@'));
}

// Functions that apps call keep their place in a stack.
bool IsProxy(const ResolvedFrame& frame) {
  return IsJankbox(frame.module) && !frame.function.starts_with("jankbox_");
}

class Frames {
 public:
  Frames(const StackSample& sample, const FrameTable* table) : sample_(sample), table_(table) {}

  // Null if nothing is known of it.
  const ResolvedFrame* At(uint32_t i) const {
    const auto it = table_->find(sample_.pcs[i]);
    return it == table_->end() ? nullptr : &it->second;
  }

  // The number of frames from the innermost one to main() or the thread's function.
  uint32_t DepthWithoutEntry() const {
    uint32_t depth = std::min(sample_.depth, StackSample::kMaxDepth);
    bool complete = !sample_.truncated;
    for (uint32_t i = depth; i > 0; --i) {
      const ResolvedFrame* frame = At(i - 1);
      if (frame == nullptr) continue;
      if (!IsCalledByEntry(frame->exported) && !IsCalledByEntry(frame->function)) continue;
      depth = i - 1;
      complete = true;
    }
    while (depth > 1 && IsEntry(At(depth - 1), complete)) --depth;
    return depth;
  }

 private:
  // The C library's functions without a name at the outer end of a complete stack start threads.
  static bool IsEntry(const ResolvedFrame* frame, bool complete) {
    if (frame == nullptr) return false;
    return frame->function.empty() ? complete && IsCLibrary(frame->module)
                                   : IsProcessEntry(frame->function);
  }

  const StackSample& sample_;
  const FrameTable* table_;
};

}  // namespace

bool IsCLibrary(std::string_view module) {
  return std::any_of(std::begin(kCLibraries), std::end(kCLibraries),
                     [module](std::string_view name) { return module.starts_with(name); });
}

bool IsProcessEntry(std::string_view function) {
  const std::string_view name = WithoutVersion(function);
  return std::find(std::begin(kEntries), std::end(kEntries), name) != std::end(kEntries);
}

bool IsCalledByEntry(std::string_view function) {
  return function.starts_with("__libc_start_main") || WithoutVersion(function) == "__libc_init";
}

bool IsJankbox(std::string_view module) { return module.starts_with("libjankbox"); }

uint32_t ShownStack(const StackSample& sample, const FrameTable* frames, uint64_t* pcs) {
  const uint32_t all = std::min(sample.depth, StackSample::kMaxDepth);
  if (frames == nullptr || all == 0) {
    std::copy_n(sample.pcs, all, pcs);
    return all;
  }
  const Frames resolved(sample, frames);
  const uint32_t depth = resolved.DepthWithoutEntry();
  uint32_t shown = 0;
  for (uint32_t i = 0; i < depth; ++i) {
    const ResolvedFrame* frame = resolved.At(i);
    if (frame == nullptr || !IsProxy(*frame)) pcs[shown++] = sample.pcs[i];
  }
  if (shown == 0) pcs[shown++] = sample.pcs[0];
  return shown;
}

}  // namespace jankbox
