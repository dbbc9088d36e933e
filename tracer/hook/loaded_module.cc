#include "tracer/hook/loaded_module.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <utility>

namespace jankbox {
namespace {

struct Listing {
  LoaderCounts counts;
  std::vector<LoadedModule> modules;
};

LoaderCounts CountsOf(const dl_phdr_info& module, size_t size) {
  // Older loaders hand out a shorter struct.
  if (size < offsetof(dl_phdr_info, dlpi_subs) + sizeof(module.dlpi_subs)) return {};
  return {module.dlpi_adds, module.dlpi_subs};
}

int TakeCounts(dl_phdr_info* module, size_t size, void* counts) {
  *static_cast<LoaderCounts*>(counts) = CountsOf(*module, size);
  return 1;
}

int AddModule(dl_phdr_info* module, size_t size, void* argument) {
  auto* listing = static_cast<Listing*>(argument);
  listing->counts = CountsOf(*module, size);
  LoadedModule& added = listing->modules.emplace_back();
  added.path = module->dlpi_name == nullptr ? "" : module->dlpi_name;
  added.is_program = added.path.empty() && listing->modules.size() == 1;
  added.load_bias = module->dlpi_addr;
  added.headers = module->dlpi_phdr;
  added.header_count = module->dlpi_phnum;
  return 0;
}

int FindModule(dl_phdr_info* module, size_t /*size*/, void* argument) {
  const auto* wanted = static_cast<const LoadedModule*>(argument);
  if (module->dlpi_addr != wanted->load_bias || module->dlpi_phdr != wanted->headers) return 0;
  return wanted->is_program || wanted->path == module->dlpi_name ? 1 : 0;
}

}  // namespace

LoaderCounts ReadLoaderCounts() {
  LoaderCounts counts;
  dl_iterate_phdr(TakeCounts, &counts);
  return counts;
}

std::vector<LoadedModule> ListLoadedModules(LoaderCounts* counts) {
  Listing listing;
  dl_iterate_phdr(AddModule, &listing);
  *counts = listing.counts;
  if (!listing.modules.empty() && listing.modules[0].is_program) {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    if (length > 0) listing.modules[0].path.assign(path, static_cast<size_t>(length));
  }
  return std::move(listing.modules);
}

HeldModule::HeldModule(const LoadedModule& module)
    : handle_(dlopen(module.is_program ? nullptr : module.path.c_str(), RTLD_NOLOAD | RTLD_LAZY)) {
  // The name may mean another module by now; the one that is held cannot change any more.
  LoadedModule wanted = module;
  if (handle_ != nullptr && dl_iterate_phdr(FindModule, &wanted) == 0) {
    dlclose(handle_);
    handle_ = nullptr;
  }
}

HeldModule::HeldModule(HeldModule&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

HeldModule::~HeldModule() {
  if (handle_ != nullptr) dlclose(handle_);
}

}  // namespace jankbox
