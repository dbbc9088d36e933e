#include <string_view>
#include <unordered_map>
#include <utility>

#include "tracer/hook/dynamic_tables.h"
#include "tracer/hook/elf_image.h"
#include "tracer/hook/permanent_modules.h"

namespace jankbox {
namespace {

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

void MarkPermanent(std::vector<LoadedModule>* modules) {
  if (modules->empty() || !modules->front().is_program) return;
  std::unordered_map<std::string_view, LoadedModule*> by_name;  // null: several
  for (LoadedModule& module : *modules) {
    const auto [known, is_new] = by_name.try_emplace(FileName(module.path), &module);
    if (!is_new) known->second = nullptr;
  }
  modules->front().is_permanent = true;
  std::vector<const LoadedModule*> found = {&modules->front()};
  while (!found.empty()) {
    const ElfImage image = ElfImage::OfModule(*found.back());
    found.pop_back();
    for (const std::string_view name : NeededLibraries(image)) {
      const auto needed = by_name.find(FileName(name));
      if (needed == by_name.end() || needed->second == nullptr) continue;
      if (std::exchange(needed->second->is_permanent, true)) continue;
      found.push_back(needed->second);
    }
  }
}

}  // namespace jankbox
