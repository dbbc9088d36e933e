#include "tracer/atrace/atrace_categories.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

constexpr AtraceCategory kCategories[] = {
    {"gfx", kTagGraphics},      {"input", kTagInput},       {"view", kTagView},
    {"webview", kTagWebView},   {"wm", kTagWindowManager},  {"am", kTagActivityManager},
    {"sm", kTagSyncManager},    {"audio", kTagAudio},       {"video", kTagVideo},
    {"camera", kTagCamera},     {"hal", kTagHal},           {"res", kTagResources},
    {"dalvik", kTagDalvik},     {"rs", kTagRenderScript},   {"bionic", kTagBionic},
    {"power", kTagPower},       {"pm", kTagPackageManager}, {"ss", kTagSystemServer},
    {"database", kTagDatabase}, {"network", kTagNetwork},   {"adb", kTagAdb},
    {"vibrator", kTagVibrator}, {"aidl", kTagAidl},         {"nnapi", kTagNnapi},
    {"rro", kTagRro},           {"core_services", 0},       {"pdx", 0},
};

constexpr bool IsSeparator(char c) { return c == ' ' || c == ',' || c == '\t' || c == '\n'; }

void Select(std::string_view name, bool (*is_kernel_category)(std::string_view name),
            AtraceSelection* selection) {
  if (const AtraceCategory* category = FindAtraceCategory(name)) {
    selection->tags |= category->tags;
  } else if (name == "app") {
    selection->tags |= kTagApp;
  } else if (const std::optional<uint64_t> number = ParseTagNumber(name);
             number && (*number & ~kValidTags) == 0) {
    selection->tags |= *number;
  } else if (is_kernel_category != nullptr && is_kernel_category(name)) {
    selection->kernel.emplace_back(name);
  } else {
    selection->unknown.emplace_back(name);
  }
}

std::string NameOfBit(uint64_t bit) {
  for (const AtraceCategory& category : kCategories) {
    if (category.tags == bit) return category.name;
  }
  if (bit == kTagApp) return "app";
  if (bit == kTagAlways) return "always";
  if (bit == kTagNotReady) return "not_ready";
  return "bit" + std::to_string(std::countr_zero(bit));
}

}  // namespace

std::span<const AtraceCategory> AtraceCategories() { return kCategories; }

const AtraceCategory* FindAtraceCategory(std::string_view name) {
  const auto* at = std::find_if(std::begin(kCategories), std::end(kCategories),
                                [name](const AtraceCategory& entry) { return name == entry.name; });
  return at != std::end(kCategories) ? at : nullptr;
}

std::string AtraceTagNames(uint64_t tags) {
  std::string names;
  for (uint64_t rest = tags; rest != 0; rest &= rest - 1) {
    if (!names.empty()) names += ' ';
    names += NameOfBit(rest & -rest);
  }
  return names;
}

AtraceSelection SelectAtraceCategories(std::string_view list,
                                       bool (*is_kernel_category)(std::string_view name)) {
  AtraceSelection selection;
  while (!list.empty()) {
    const auto* end = std::find_if(list.begin(), list.end(), IsSeparator);
    const auto size = static_cast<size_t>(end - list.begin());
    if (size != 0) Select(list.substr(0, size), is_kernel_category, &selection);
    list.remove_prefix(std::min(size + 1, list.size()));
  }
  return selection;
}

}  // namespace jankbox
