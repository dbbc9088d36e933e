// libunwind's remote interface, bound at run time from libunwind-<machine>.so.8. THREAD-SAFE once
// loaded; Load() is for Jankbox's own threads (takes the loader's lock, allocates).
#ifndef JANKBOX_TRACER_UNWIND_UNWIND_LIBRARY_H_
#define JANKBOX_TRACER_UNWIND_UNWIND_LIBRARY_H_

#include <libunwind.h>

#include <string>

namespace jankbox {

struct UnwindLibrary {
  // Exported and stable since libunwind 1.0, though no public header declares it.
  using SearchTable = int(unw_addr_space_t, unw_word_t, unw_dyn_info_t*, unw_proc_info_t*, int,
                          void*);

  void* handle = nullptr;
  decltype(unw_create_addr_space)* create_addr_space = nullptr;
  decltype(unw_destroy_addr_space)* destroy_addr_space = nullptr;
  decltype(unw_set_caching_policy)* set_caching_policy = nullptr;
  decltype(unw_set_cache_size)* set_cache_size = nullptr;
  decltype(unw_flush_cache)* flush_cache = nullptr;
  decltype(unw_init_remote)* init_remote = nullptr;
  decltype(unw_step)* step = nullptr;
  decltype(unw_get_reg)* get_reg = nullptr;
  decltype(unw_is_signal_frame)* is_signal_frame = nullptr;
  SearchTable* search_table = nullptr;

  // Empty if all is bound, else what is missing.
  std::string Load();
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_UNWIND_LIBRARY_H_
