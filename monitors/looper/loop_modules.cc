#include "monitors/looper/loop_modules.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "base/loader_use.h"

namespace jankbox {
namespace {

struct Range {
  uintptr_t begin;
  uintptr_t end;
  LoopModule module;
  bool operator==(const Range& other) const {
    return begin == other.begin && end == other.end && module.kind == other.module.kind;
  }
};

struct Table {
  std::vector<Range> ranges;  // sorted; known modules only
  unsigned long long adds = 0;
  unsigned long long subs = 0;
  const Table* older = nullptr;  // the one before, never freed: see the header
};

std::atomic<const Table*> g_table{nullptr};
std::atomic<int> g_tables{0};
// The loader's counters as of the last poll.
std::atomic<unsigned long long> g_adds{0};
std::atomic<unsigned long long> g_subs{0};

int AddModule(dl_phdr_info* info, size_t /*size*/, void* argument) {
  auto* table = static_cast<Table*>(argument);
  table->adds = info->dlpi_adds;
  table->subs = info->dlpi_subs;
  char program[4096];
  std::string_view path = info->dlpi_name;
  if (path.empty() && table->ranges.empty()) {
    const ssize_t n = readlink("/proc/self/exe", program, sizeof(program));
    path = std::string_view(program, n > 0 ? static_cast<size_t>(n) : 0);
  }
  const LoopModule module = ClassifyModule(path);
  if (module.kind == LoopModuleKind::kOther && module.loop_name[0] == '\0') return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    table->ranges.push_back({begin, begin + segment.p_memsz, module});
  }
  return 0;
}

// Only the loader's counters: whether the table is out of date.
int ReadCounters(dl_phdr_info* info, size_t /*size*/, void* argument) {
  auto* table = static_cast<Table*>(argument);
  table->adds = info->dlpi_adds;
  table->subs = info->dlpi_subs;
  return 1;
}

}  // namespace

void LoopModules::Refresh() {
  LoaderUse use;
  Table now;
  dl_iterate_phdr(ReadCounters, &now);
  const Table* current = g_table.load(std::memory_order_acquire);
  if (current != nullptr && g_adds == now.adds && g_subs == now.subs) return;
  auto table = std::make_unique<Table>();
  dl_iterate_phdr(AddModule, table.get());
  g_adds = table->adds;
  g_subs = table->subs;
  std::sort(table->ranges.begin(), table->ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  // Other plugins come and go: they must not use up the tables.
  if (current != nullptr && current->ranges == table->ranges) return;
  if (g_tables.fetch_add(1, std::memory_order_relaxed) >= kMaxTables) return;
  table->older = current;
  g_table.store(table.release(), std::memory_order_release);
}

LoopModule LoopModules::Find(const void* address) {
  const Table* table = g_table.load(std::memory_order_acquire);
  if (table == nullptr) return {};
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  auto after = std::upper_bound(table->ranges.begin(), table->ranges.end(), at,
                                [](uintptr_t a, const Range& range) { return a < range.begin; });
  if (after == table->ranges.begin()) return {};
  const Range& range = *(after - 1);
  return at < range.end ? range.module : LoopModule{};
}

bool LoopModules::HasLoopLibrary() {
  const Table* table = g_table.load(std::memory_order_acquire);
  return table != nullptr &&
         std::any_of(table->ranges.begin(), table->ranges.end(),
                     [](const Range& range) { return range.module.kind == LoopModuleKind::kLoop; });
}

}  // namespace jankbox
