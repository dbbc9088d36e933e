#include "tracer/hook/loaded_module.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <utility>

#include "base/loader_use.h"

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

struct AddressSearch {
  uintptr_t address;
  size_t modules_seen;
  std::string library;
};

bool Holds(const dl_phdr_info& module, uintptr_t address) {
  for (size_t i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = module.dlpi_phdr[i];
    const uintptr_t begin = module.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address - begin < header.p_memsz) {
      return true;
    }
  }
  return false;
}

int FindHolder(dl_phdr_info* module, size_t /*size*/, void* argument) {
  auto* search = static_cast<AddressSearch*>(argument);
  const bool is_program = search->modules_seen++ == 0;
  if (!Holds(*module, search->address)) return 0;
  if (!is_program && module->dlpi_name != nullptr) search->library = module->dlpi_name;
  return 1;
}

}  // namespace

LoaderCounts ReadLoaderCounts() {
  LoaderUse use;
  LoaderCounts counts;
  dl_iterate_phdr(TakeCounts, &counts);
  return counts;
}

std::vector<LoadedModule> ListLoadedModules(LoaderCounts* counts) {
  LoaderUse use;
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

std::string LibraryPathOf(const void* address) {
  AddressSearch search{reinterpret_cast<uintptr_t>(address), 0, {}};
  LoaderUse use;
  dl_iterate_phdr(FindHolder, &search);
  return search.library;
}

HeldModule::HeldModule(const LoadedModule& module) : is_permanent_(module.is_permanent) {
  if (is_permanent_) return;
  LoaderUse use;
  handle_ = dlopen(module.is_program ? nullptr : module.path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  // The name may mean another module by now; the referenced one cannot change any more.
  LoadedModule wanted = module;
  const bool listed = dl_iterate_phdr(FindModule, &wanted) != 0;
  out_of_reach_ = handle_ == nullptr && listed;
  if (handle_ != nullptr && !listed) {
    dlclose(handle_);
    handle_ = nullptr;
  }
}

HeldModule::HeldModule(HeldModule&& other) noexcept
    : is_permanent_(other.is_permanent_),
      handle_(std::exchange(other.handle_, nullptr)),
      out_of_reach_(other.out_of_reach_) {}

HeldModule::~HeldModule() {
  if (handle_ == nullptr) return;
  LoaderUse use;
  dlclose(handle_);
}

}  // namespace jankbox
