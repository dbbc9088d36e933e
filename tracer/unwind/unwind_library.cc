#include "tracer/unwind/unwind_library.h"

#include "base/private_library.h"

namespace jankbox {

namespace {

// libunwind's own macros spell the names: _Ux86_64_step, libunwind-x86_64.so.8.
#define JANKBOX_QUOTE2(text) #text
#define JANKBOX_QUOTE(text) JANKBOX_QUOTE2(text)
constexpr char kSoname[] = "libunwind-" JANKBOX_QUOTE(UNW_TARGET) ".so.8";
constexpr char kPrefix[] = "_U" JANKBOX_QUOTE(UNW_TARGET) "_";
#undef JANKBOX_QUOTE
#undef JANKBOX_QUOTE2

template <typename Function>
bool Bind(void* library, const char* name, Function** function) {
  return BindSymbol(library, (std::string(kPrefix) + name).c_str(), function);
}

}  // namespace

std::string UnwindLibrary::Load() {
  void* library = OpenPrivateLibrary(kSoname);
  if (library == nullptr) return std::string(kSoname) + " is not installed";
  const bool bound = Bind(library, "create_addr_space", &create_addr_space) &&
                     Bind(library, "destroy_addr_space", &destroy_addr_space) &&
                     Bind(library, "set_caching_policy", &set_caching_policy) &&
                     Bind(library, "set_cache_size", &set_cache_size) &&
                     Bind(library, "flush_cache", &flush_cache) &&
                     Bind(library, "init_remote", &init_remote) && Bind(library, "step", &step) &&
                     Bind(library, "get_reg", &get_reg) &&
                     Bind(library, "is_signal_frame", &is_signal_frame) &&
                     Bind(library, "dwarf_search_unwind_table", &search_table);
  return bound ? std::string() : std::string(kSoname) + " lacks required functions";
}

}  // namespace jankbox
