// ModuleMap::Load and Stale: glibc and bionic alike. A module may be unmapped by another thread
// while the loader still lists it, so its headers are read only with ReadOwnMemory.
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "base/compact_sort.h"
#include "base/loader_use.h"
#include "base/mutex.h"
#include "tracer/unwind/build_id_note.h"
#include "tracer/unwind/module_map.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {

namespace {

constexpr size_t kMaxHeaders = 64;
constexpr size_t kMaxNoteBytes = 4096;
constexpr size_t kMaxModules = 4096;

struct LoaderCounts {
  uint64_t adds = 0;
  uint64_t subs = 0;
};

// Bionic below API 30 keeps no counts: there the number of modules replaces them.
bool HasCounts(size_t size) {
  return size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof(dl_phdr_info::dlpi_subs);
}

int ReadCounts(dl_phdr_info* entry, size_t size, void* out) {
  auto* counts = static_cast<LoaderCounts*>(out);
  if (!HasCounts(size)) {
    ++counts->adds;
    return 0;
  }
  *counts = {entry->dlpi_adds, entry->dlpi_subs};
  return 1;
}

void ReadBuildId(uint64_t address, uint64_t size, Module* module) {
  if (!module->build_id.empty()) return;
  std::byte notes[kMaxNoteBytes];
  const size_t got = ReadOwnMemory(address, notes, std::min<uint64_t>(size, sizeof(notes)));
  module->build_id = BuildIdOfNotes({notes, got});
}

// Fills everything but the path. False if the headers cannot be read or nothing is loaded.
bool ReadModule(const dl_phdr_info& entry, Module* module) {
  ElfW(Phdr) headers[kMaxHeaders];
  const size_t count = std::min<size_t>(entry.dlpi_phnum, kMaxHeaders);
  const size_t bytes = count * sizeof(headers[0]);
  if (ReadOwnMemory(reinterpret_cast<uintptr_t>(entry.dlpi_phdr), headers, bytes) != bytes) {
    return false;
  }
  module->load_bias = entry.dlpi_addr;
  module->start = UINT64_MAX;
  for (size_t i = 0; i < count; ++i) {
    const ElfW(Phdr)& header = headers[i];
    const uint64_t start = module->load_bias + header.p_vaddr;  // may wrap: a bias may be negative
    if (header.p_type == PT_LOAD && start + header.p_memsz >= start) {
      module->start = std::min(module->start, start);
      module->end = std::max(module->end, start + header.p_memsz);
    } else if (header.p_type == PT_GNU_EH_FRAME) {
      module->eh_frame_hdr = start;
      module->eh_frame_hdr_size = header.p_memsz;
    } else if (header.p_type == PT_NOTE) {
      ReadBuildId(start, header.p_memsz, module);
    }
  }
  return module->start < module->end;
}

std::string MainExecutable() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

std::string PathOf(const dl_phdr_info& entry, const Module& module, bool first) {
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (vdso != 0 && vdso >= module.start && vdso < module.end) return "[vdso]";
  if (first || entry.dlpi_name == nullptr || entry.dlpi_name[0] == 0) return MainExecutable();
  return entry.dlpi_name;
}

struct LoadState {
  const ModuleMap* known;
  uint64_t known_subs;
  std::vector<Module>* modules;
  LoaderCounts counts;
  bool first = true;
};

// What is known of the module, if it is that one for sure.
const Module* KnownModule(const LoadState& state, const dl_phdr_info& entry, size_t size) {
  if (!HasCounts(size) || entry.dlpi_subs != state.known_subs) return nullptr;
  const Module* module = state.known->Find(reinterpret_cast<uintptr_t>(entry.dlpi_phdr));
  return module != nullptr && module->load_bias == entry.dlpi_addr ? module : nullptr;
}

int AddModule(dl_phdr_info* entry, size_t size, void* out) {
  auto* state = static_cast<LoadState*>(out);
  if (HasCounts(size)) {
    state->counts = {entry->dlpi_adds, entry->dlpi_subs};
  } else {
    ++state->counts.adds;
  }
  Module module;
  const Module* known = KnownModule(*state, *entry, size);
  if (state->modules->size() >= kMaxModules) {
    // As many as a report takes.
  } else if (known != nullptr) {
    state->modules->push_back(*known);
  } else if (ReadModule(*entry, &module)) {
    module.path = PathOf(*entry, module, state->first);
    state->modules->push_back(std::move(module));
  }
  state->first = false;
  return 0;
}

}  // namespace

ModuleMap ModuleMap::Load() {
  if (source_ != nullptr) return source_->Load();
  struct Latest {
    Mutex mutex;
    ModuleMap map GUARDED_BY(mutex);
  };
  auto& latest = MakeOnce([] { return new Latest(); });
  const LoaderUse use;  // first: no child inherits the locked mutex
  MutexLock lock(&latest.mutex);
  if (latest.map.Stale()) latest.map = LoadAnew(latest.map);
  return latest.map;
}

ModuleMap ModuleMap::LoadAnew(const ModuleMap& known) {
  std::vector<Module> modules;
  LoadState state{&known, known.subs_, &modules, {}, true};
  dl_iterate_phdr(AddModule, &state);
  CompactSort(&modules, [](const Module& a, const Module& b) { return a.start < b.start; });
  ModuleMap map(std::move(modules));
  map.adds_ = state.counts.adds;
  map.subs_ = state.counts.subs;
  return map;
}

bool ModuleMap::Stale() const {
  if (source_ != nullptr) return source_->Stale(*this);
  LoaderCounts counts;
  LoaderUse use;
  dl_iterate_phdr(ReadCounts, &counts);
  return counts.adds != adds_ || counts.subs != subs_;
}

}  // namespace jankbox
