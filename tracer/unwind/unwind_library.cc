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
  handle = OpenPrivateLibrary(kSoname);
  if (handle == nullptr) return std::string(kSoname) + NotOpenedText();
  const bool bound = Bind(handle, "create_addr_space", &create_addr_space) &&
                     Bind(handle, "destroy_addr_space", &destroy_addr_space) &&
                     Bind(handle, "set_caching_policy", &set_caching_policy) &&
                     Bind(handle, "set_cache_size", &set_cache_size) &&
                     Bind(handle, "flush_cache", &flush_cache) &&
                     Bind(handle, "init_remote", &init_remote) && Bind(handle, "step", &step) &&
                     Bind(handle, "get_reg", &get_reg) &&
                     Bind(handle, "is_signal_frame", &is_signal_frame) &&
                     Bind(handle, "dwarf_search_unwind_table", &search_table);
  return bound ? std::string() : std::string(kSoname) + " lacks required functions";
}

}  // namespace jankbox
