#include "tracer/unwind/module_map.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>

#include "base/compact_sort.h"

namespace jankbox {

namespace {

constexpr size_t kMaxBuildIdDigits = 128;

// The text up to the next space, taken off `line`.
std::string_view TakeField(std::string_view* line) {
  const size_t end = std::min(line->find(' '), line->size());
  std::string_view field = line->substr(0, end);
  line->remove_prefix(std::min(end + 1, line->size()));
  return field;
}

bool ParseHex(std::string_view text, uint64_t* value) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, *value, 16);
  return error == std::errc() && stop == end;
}

bool IsBuildId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxBuildIdDigits && text.size() % 2 == 0 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool ParseLine(std::string_view line, Module* module) {
  if (!ParseHex(TakeField(&line), &module->start) || !ParseHex(TakeField(&line), &module->end) ||
      !ParseHex(TakeField(&line), &module->load_bias) || module->start >= module->end) {
    return false;
  }
  const std::string_view build_id = TakeField(&line);
  if (build_id != "-") {
    if (!IsBuildId(build_id)) return false;
    module->build_id = build_id;
  }
  module->path = line;
  return !line.empty();
}

}  // namespace

const Module* ModuleMap::Find(uint64_t address) const {
  auto above = std::upper_bound(modules().begin(), modules().end(), address,
                                [](uint64_t a, const Module& m) { return a < m.start; });
  if (above == modules().begin()) return nullptr;
  const Module& module = *--above;
  return address < module.end ? &module : nullptr;
}

bool ModuleMap::Contains(const ModuleMap& earlier) const {
  if (subs_ != earlier.subs_) return false;
  auto at = modules().begin();  // both are sorted
  return std::all_of(earlier.modules().begin(), earlier.modules().end(), [&](const Module& module) {
    at = std::find(at, modules().end(), module);
    return at != modules().end();
  });
}

std::string ModuleMap::Serialize() const {
  std::string text;
  for (const Module& module : modules()) {
    char range[64];
    const int length = std::snprintf(range, sizeof(range), "%llx %llx %llx ",
                                     static_cast<unsigned long long>(module.start),
                                     static_cast<unsigned long long>(module.end),
                                     static_cast<unsigned long long>(module.load_bias));
    text.append(range, static_cast<size_t>(length));
    text += module.build_id.empty() ? "-" : module.build_id;
    text += ' ';
    // A line break in a file's name would break the line apart.
    const size_t path_start = text.size();
    text += module.path.empty() ? "?" : module.path;
    std::replace(text.begin() + static_cast<ptrdiff_t>(path_start), text.end(), '\n', '?');
    text += '\n';
  }
  return text;
}

ModuleMap ModuleMap::Parse(std::string_view text) {
  std::vector<Module> modules;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    Module module;
    if (ParseLine(text.substr(0, end), &module)) modules.push_back(std::move(module));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  CompactSort(&modules, [](const Module& a, const Module& b) { return a.start < b.start; });
  return ModuleMap(std::move(modules));
}

}  // namespace jankbox
