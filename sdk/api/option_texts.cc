#include "sdk/api/option_texts.h"

#include <string_view>

#include "tracer/atrace/atrace_categories.h"
#include "tracer/atrace/atrace_tags.h"
#include "tracer/atrace/property_source.h"

namespace jankbox {
namespace {

Status Invalid(const std::string& why) { return Status(StatusCode::kInvalidArgument, why); }

Status AnyText(const std::string&) { return Status::Ok(); }

Status CheckAtrace(const std::string& text) {
  if (text == "off" || text == "auto") return Status::Ok();
  const AtraceSelection selection = SelectAtraceCategories(text, nullptr);
  if (selection.unknown.empty()) return Status::Ok();
  return Invalid("atrace: \"" + selection.unknown.front() +
                 "\" is not a category: must be off, auto, or names such as gfx,view,app");
}

Status CheckPlainPath(const std::string& path) {
  if (IsPlainAbsolutePath(path)) return Status::Ok();
  return Invalid("properties_file is " + path + ": must be an absolute path without \"..\"");
}

struct TextCheck {
  const char* jankbox_options::*text;
  Status (*check)(const std::string&);
};

#define JANKBOX_NO_TEXT(...)
#define JANKBOX_TEXT_CHECK(name, fallback, variable, check, store, doc) \
  {&jankbox_options::name, check},

constexpr TextCheck kChecks[] = {
    JANKBOX_OPTION_TABLE(JANKBOX_NO_TEXT, JANKBOX_NO_TEXT, JANKBOX_NO_TEXT, JANKBOX_TEXT_CHECK)};

}  // namespace

Status CheckText(const OptionRow& row, const jankbox_options& options) {
  for (const TextCheck& check : kChecks) {
    if (row.text == check.text) return check.check(options.*row.text);
  }
  return Status::Ok();
}

std::optional<uint64_t> AtraceTags(const std::string& text) {
  if (text == "off") return std::nullopt;
  if (text == "auto") return kDefaultCaptureTags | kTagApp;
  return SelectAtraceCategories(text, nullptr).tags;
}

}  // namespace jankbox
