#include "tracer/atrace/atrace_symbols.h"

#include <dlfcn.h>

#include <vector>

#include "base/loader_use.h"
#include "tracer/hook/loaded_module.h"
#include "tracer/hook/permanent_modules.h"

namespace jankbox {
namespace {

constexpr const char* kTags = "atrace_enabled_tags";
constexpr const char* kMarkerFd = "atrace_marker_fd";

constexpr AtraceSymbolNames kTable[] = {
    {21, nullptr, kTags, kMarkerFd},
    {18, "libcutils.so", kTags, kMarkerFd},
    {0, "libutils.so", "_ZN7android6Tracer12sEnabledTagsE", "_ZN7android6Tracer8sTraceFDE"},
};

template <typename Function>
void Lookup(void* scope, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(scope, name));
}

// Both variables out of one scope, or nothing.
bool LookupBoth(void* scope, const AtraceSymbolNames& names, AtraceSymbols* symbols) {
  symbols->enabled_tags = static_cast<AtraceTags*>(dlsym(scope, names.enabled_tags));
  symbols->marker_fd = static_cast<int*>(dlsym(scope, names.marker_fd));
  if (symbols->enabled_tags == nullptr || symbols->marker_fd == nullptr) return false;
  Lookup(scope, "atrace_setup", &symbols->setup);
  Lookup(scope, "atrace_init", &symbols->refresh);
  Dl_info module{};
  if (dladdr(symbols->marker_fd, &module) != 0 && module.dli_fname != nullptr) {
    symbols->library = module.dli_fname;
    // Never closed. The program itself is no file that could be opened, and stays anyway.
    dlopen(module.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  }
  return true;
}

// The scope of a module that is loaded already. Closing it again leaves the module as it was.
bool LookupInModule(const LoadedModule& module, AtraceSymbols* symbols) {
  void* scope = dlopen(module.path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (scope == nullptr) return false;
  const bool found = LookupBoth(scope, kTable[0], symbols);
  dlclose(scope);
  return found;
}

}  // namespace

std::span<const AtraceSymbolNames> AtraceSymbolTable() { return kTable; }

const AtraceSymbolNames& AtraceSymbolsOfApiLevel(int api_level) {
  const AtraceSymbolNames* names = kTable;
  while (names->first_api_level > api_level) ++names;
  return *names;
}

Result<AtraceSymbols> AtraceSearch::Find(const std::string& load_library) {
  LoaderUse use;
  AtraceSymbols symbols;
  if (!load_library.empty()) {
    void* scope = dlopen(load_library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (scope != nullptr && LookupBoth(scope, kTable[0], &symbols)) return symbols;
    if (scope != nullptr) dlclose(scope);
  }
  const AtraceSymbolNames& names = AtraceSymbolsOfApiLevel(DeviceApiLevel());
  void* scope = RTLD_DEFAULT;
  if (names.library != nullptr) scope = dlopen(names.library, RTLD_LAZY);
  if ((names.library == nullptr || scope != nullptr) && LookupBoth(scope, names, &symbols)) {
    return symbols;
  }
  LoaderCounts counts;
  std::vector<LoadedModule> modules = ListLoadedModules(&counts);
  MarkPermanent(&modules);
  for (const LoadedModule& module : modules) {
    // The program and what it needs are in the global scope; a name without a folder is the
    // kernel's own module.
    const bool is_file = !module.is_permanent && !module.is_program && module.path.starts_with('/');
    if (!is_file || !without_.emplace(module.load_bias, module.path).second) continue;
    if (LookupInModule(module, &symbols)) return symbols;
  }
  return Status(StatusCode::kNotFound, "no module of this process has atrace_enabled_tags");
}

}  // namespace jankbox
