#include "tools/reports/section_text.h"

#include <algorithm>
#include <cctype>

#include "tools/reports/duration_text.h"
#include "tools/reports/json_field.h"

namespace jankbox::tools {
namespace {

using nlohmann::json;

constexpr size_t kShownEntries = 40;
constexpr uint64_t kDeepestCall = 64;  // as far as a call tree is indented
constexpr size_t kDeepest = 8;         // objects within each other; a report has four

// Whether there is anything to show. What is too deep to be shown is not searched: a server that
// is not to be trusted nests as it likes.
bool IsSet(const json& value, size_t depth = 0) {
  if (depth > kDeepest) return false;
  if (value.is_object()) {
    const auto is_set = [depth](const json& field) { return IsSet(field, depth + 1); };
    return std::any_of(value.begin(), value.end(), is_set);
  }
  if (value.is_array()) return !value.empty();
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  if (value.is_number()) return value != 0;
  return value.is_boolean() && value.get<bool>();
}

// "covered" for "covered_ms", whose value has its unit.
std::string Label(std::string name) {
  if (name.ends_with("_ms")) name.resize(name.size() - 3);
  std::replace(name.begin(), name.end(), '_', ' ');
  return Printable(name);
}

std::string ScalarText(const std::string& name, const json& value) {
  if (value.is_string()) return Printable(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if ((name.ends_with("_ms") || name == "ms") && value.is_number())
    return DurationText(value.get<double>());
  return Printable(value.dump());
}

// "from_ns" beside "from", which says it as wall-clock time.
bool IsMomentOfAnother(const json& object, const std::string& name) {
  return name.ends_with("_ns") && object.contains(name.substr(0, name.size() - 3));
}

bool IsFrame(const json& value) { return value.is_object() && value.contains("rel_pc"); }

uint64_t AddressIn(const json& frame, const char* name) {
  const json& address = JsonField(frame, name);
  return address.is_number_unsigned() ? address.get<uint64_t>() : 0;
}

std::string AddressText(uint64_t address) {
  char text[32];
  snprintf(text, sizeof(text), "+0x%llx", static_cast<unsigned long long>(address));
  return text;
}

// "libfoo.so  Foo::draw  /src/foo.cc:12 +0x11a3f0 (starts at +0x11a3b0)  6196744a". Where an
// instrumented method is, no address is known.
std::string FrameText(const TextStyle& style, const json& frame) {
  const uint64_t rel_pc = AddressIn(frame, "rel_pc");
  const uint64_t start = AddressIn(frame, "function_start");
  const std::string build_id = JsonText(frame, "build_id");
  const std::string file = JsonText(frame, "file");
  const uint64_t line = JsonCount(frame, "line");
  const json& inlined = JsonField(frame, "inlined");
  std::string place = file.empty() ? "" : "  " + file;
  if (line != 0) place += ":" + std::to_string(line);
  if (inlined.is_boolean() && inlined.get<bool>()) place += "  inlined";
  if (rel_pc != 0) place += " " + AddressText(rel_pc);
  if (start != 0) place += " (starts at " + AddressText(start) + ")";
  if (!build_id.empty()) place += "  " + build_id.substr(0, 8);
  return Paint(style, Colour::kDim, JsonText(frame, "module") + "  ") +
         JsonText(frame, "function") + Paint(style, Colour::kDim, place);
}

class SectionWriter {
 public:
  SectionWriter(const TextStyle& style, bool all) : style_(style), all_(all) {}

  void Add(const std::string& name, const json& value, size_t depth) {
    if (depth > kDeepest + kDeepestCall || !IsSet(value)) return;
    if (value.is_array()) {
      AddList(name, value, depth);
    } else if (value.is_object()) {
      Line(depth, Label(name));
      AddFields(value, depth + 1);
    } else {
      AddScalar(name, value, depth);
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  void Line(size_t depth, const std::string& line) {
    text_ += std::string(2 * depth, ' ') + line + "\n";
  }

  // A text of several lines, as a stack of Java is, is indented under its name.
  void AddScalar(const std::string& name, const json& value, size_t depth) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text.find('\n') == std::string::npos) {
      return Line(depth, Label(name) + "  " + ScalarText(name, value));
    }
    Line(depth, Label(name));
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      Line(depth + 1, Printable(text.substr(at, end - at)));
      at = end + 1;
    }
  }

  // The values of an entry that are no lists on one line, what is below them after it.
  void AddEntry(const json& entry, size_t depth) {
    if (IsFrame(entry)) return Line(depth, FrameText(style_, entry));
    if (entry.is_array()) return Add("", entry, depth);
    if (!entry.is_object()) return Line(depth, ScalarText("", entry));
    if (entry.contains("key") && entry.contains("value")) {  // an attribute, a state
      AddScalar(JsonText(entry, "key"), entry["value"], depth);
      return AddMoments(entry, depth + 1);
    }
    std::string line;
    const size_t deeper = std::min(JsonCount(entry, "depth"), kDeepestCall);
    for (const auto& [name, value] : entry.items()) {
      if (!IsSet(value) || value.is_structured() || name == "depth") continue;
      if (IsMomentOfAnother(entry, name)) continue;
      const bool is_name = name == "name" || name == "function";
      const std::string text = ScalarText(name, value);
      line = is_name ? text + (line.empty() ? "" : ", " + line)
                     : line + (line.empty() ? "" : ", ") + Label(name) + " " + text;
    }
    Line(depth + deeper, line);
    for (const auto& [name, value] : entry.items()) {
      if (value.is_structured()) Add(name, value, depth + deeper + 1);
    }
  }

  void AddMoments(const json& entry, size_t depth) {
    for (const char* name : {"from_ns", "to_ns"}) Add(name, JsonField(entry, name), depth);
  }

  void AddList(const std::string& name, const json& list, size_t depth) {
    Line(depth, Label(name));
    const size_t shown = all_ ? list.size() : std::min(list.size(), kShownEntries);
    for (size_t i = 0; i < shown; ++i) AddEntry(list[i], depth + 1);
    if (shown < list.size()) {
      Line(depth + 1, std::to_string(list.size() - shown) + " more (--all)");
    }
  }

  void AddFields(const json& object, size_t depth) {
    for (const auto& [name, value] : object.items()) {
      if (!IsMomentOfAnother(object, name)) Add(name, value, depth);
    }
  }

  const TextStyle style_;
  const bool all_;
  std::string text_;
};

}  // namespace

std::string SectionText(const TextStyle& style, const ReportSection& section, const json& report,
                        bool all) {
  SectionWriter writer(style, all);
  for (const std::string& field : section.fields)
    writer.Add(field, JsonField(report, field.c_str()), 1);
  const std::string text = writer.Take();
  if (text.empty()) return "";
  std::string title = section.name;
  title[0] = static_cast<char>(toupper(static_cast<unsigned char>(title[0])));
  return "\n" + Paint(style, Colour::kBold, title) + "\n" + text;
}

}  // namespace jankbox::tools
