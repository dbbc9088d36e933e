// The modules that the loader knows, and references that keep one from being unmapped while it is
// read and patched. On Jankbox's own threads only: takes the loader's locks and allocates.
// HoldModule() waits until a dlopen() in another thread is over, constructors included, so that the
// module is fully relocated: never call it from a constructor, nor wait for its caller there.
#ifndef JANKBOX_TRACER_HOOK_LOADED_MODULE_H_
#define JANKBOX_TRACER_HOOK_LOADED_MODULE_H_

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace jankbox {

struct LoadedModule {
  std::string path;  // of the program: what /proc/self/exe says
  bool is_program = false;
  uintptr_t load_bias = 0;
  const ElfW(Phdr) * headers = nullptr;  // in the module's own memory: read only with a reference
  size_t header_count = 0;
  bool is_permanent = false;  // see MarkPermanent()
};

// How many modules were ever loaded and unloaded.
struct LoaderCounts {
  uint64_t loads = 0;
  uint64_t unloads = 0;
};

LoaderCounts ReadLoaderCounts();

// The modules of the loader namespace of this library, the program first, and the counts as of that
// list.
std::vector<LoadedModule> ListLoadedModules(LoaderCounts* counts);

// The path of the library that contains `address` (code or data); empty if that is the program, or
// nobody's.
std::string LibraryPathOf(const void* address);

// A reference to a module. Releasing the last one unmaps the module, with its destructors, as
// dlclose() does.
class HeldModule {
 public:
  // No reference if the module is gone, or if the loader gives this library no reference to it.
  explicit HeldModule(const LoadedModule& module);
  HeldModule(HeldModule&& other) noexcept;
  HeldModule& operator=(HeldModule&&) = delete;
  HeldModule(const HeldModule&) = delete;
  ~HeldModule();

  bool held() const { return is_permanent_ || handle_ != nullptr; }
  // No reference, but still listed: it is in a namespace that this library must not open.
  bool out_of_reach() const { return out_of_reach_; }

 private:
  bool is_permanent_ = false;  // is never unmapped, and needs no handle
  void* handle_ = nullptr;
  bool out_of_reach_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_LOADED_MODULE_H_
