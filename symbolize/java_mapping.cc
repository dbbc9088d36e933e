#include "symbolize/java_mapping.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace jankbox {
namespace {

constexpr std::string_view kArrow = " -> ";
constexpr size_t kMaxJoined = 4;  // methods of one short name
constexpr size_t kMaxLineBytes = 1 << 20;

std::string_view Trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Takes digits from the front of `text`; none if there are no digits, or too many.
std::optional<uint64_t> TakeNumber(std::string_view* text) {
  constexpr size_t kMaxDigits = 10;
  size_t digits = 0;
  uint64_t number = 0;
  for (; digits < text->size() && (*text)[digits] >= '0' && (*text)[digits] <= '9'; ++digits) {
    if (digits == kMaxDigits) return std::nullopt;
    number = number * 10 + static_cast<uint64_t>((*text)[digits] - '0');
  }
  if (digits == 0) return std::nullopt;
  text->remove_prefix(digits);
  return number;
}

bool TakeColon(std::string_view* text) {
  if (!text->starts_with(':')) return false;
  text->remove_prefix(1);
  return true;
}

std::string ClassOf(const std::string& method) { return method.substr(0, method.rfind('.')); }

// "com.example.Editor$Page" is in Editor.java, unless the short file's name has another ending.
std::string FileByClass(const std::string& name, const std::string& short_file) {
  std::string file = name.substr(name.rfind('.') + 1);
  file = file.substr(0, file.find('$'));
  const bool kotlin = short_file.ends_with(".kt");
  return file + (kotlin ? ".kt" : ".java");
}

}  // namespace

// A call of a stack trace, in its parts.
struct JavaMapping::Place {
  std::string name;  // of the method, with its class
  bool has_file = false;
  std::string file;   // or what is said in its place: "Native Method"
  uint64_t line = 0;  // 0: not said

  explicit Place(std::string_view call) {
    const size_t bracket = call.find('(');
    name = call.substr(0, bracket);
    name = name.substr(name.rfind('/') + 1);  // the module of the class and its loader
    if (bracket == std::string_view::npos || !call.ends_with(')')) return;
    has_file = true;
    file = call.substr(bracket + 1, call.size() - bracket - 2);
    const size_t colon = file.rfind(':');
    if (colon == std::string::npos) return;
    std::string_view digits = std::string_view(file).substr(colon + 1);
    const std::optional<uint64_t> number = TakeNumber(&digits);
    if (!number || !digits.empty()) return;
    line = *number;
    file.resize(colon);
  }

  std::string owner() const { return name.substr(0, name.rfind('.')); }
  std::string method() const { return name.substr(name.rfind('.') + 1); }
};

// The file, line by line.
class JavaMapping::Reader {
 public:
  Reader(const std::set<std::string>& short_names, JavaMapping* mapping)
      : short_names_(short_names), mapping_(mapping) {}

  void TakeLine(std::string_view line) {
    const std::string_view text = Trimmed(line);
    if (text.empty() || line.size() > kMaxLineBytes) return;
    if (text.starts_with('#')) return TakeComment(text.substr(1));
    const size_t arrow = text.rfind(kArrow);
    if (arrow == std::string_view::npos) return;
    const std::string_view original = Trimmed(text.substr(0, arrow));
    const std::string_view short_name = Trimmed(text.substr(arrow + kArrow.size()));
    if (line.front() != ' ' && line.front() != '\t') return TakeClass(original, short_name);
    if (class_ != nullptr) TakeMember(original, short_name);
  }

  uint64_t classes() const { return classes_; }

 private:
  // {"id":"sourceFile","fileName":"Editor.kt"}, of the class before it.
  void TakeComment(std::string_view comment) {
    if (name_.empty() || comment.find("\"sourceFile\"") == std::string_view::npos) return;
    const auto told = nlohmann::json::parse(comment, nullptr, /*allow_exceptions=*/false);
    if (!told.is_object() || !told.contains("fileName") || !told["fileName"].is_string()) return;
    mapping_->files_[name_] = told["fileName"].get<std::string>();
  }

  void TakeClass(std::string_view original, std::string_view short_name) {
    class_ = nullptr;
    if (!short_name.ends_with(':')) return;
    short_name.remove_suffix(1);
    ++classes_;
    name_ = original;
    if (!short_names_.contains(std::string(short_name))) return;
    class_ = &mapping_->classes_[std::string(short_name)];
    class_->name = name_;
  }

  // "1:3:void com.example.Editor.save(int):10:12"; a field has no brackets.
  void TakeMember(std::string_view original, std::string_view short_name) {
    Method method;
    std::string_view rest = original;
    if (const std::optional<uint64_t> from = TakeNumber(&rest)) {
      if (!TakeColon(&rest)) return;
      const std::optional<uint64_t> to = TakeNumber(&rest);
      if (!to || !TakeColon(&rest)) return;
      method.lines = Lines{*from, *to};
    }
    const size_t type = rest.find(' ');
    const size_t open = rest.find('(');
    const size_t close = rest.rfind(')');
    if (type == std::string_view::npos || open == std::string_view::npos || open < type ||
        close == std::string_view::npos || close < open) {
      return;
    }
    const std::string name(Trimmed(rest.substr(type + 1, open - type - 1)));
    method.name = name.find('.') == std::string::npos ? name_ + "." + name : name;
    rest.remove_prefix(close + 1);
    method.original_lines = TakeOriginalLines(rest);
    class_->methods[std::string(short_name)].push_back(std::move(method));
  }

  static std::optional<Lines> TakeOriginalLines(std::string_view rest) {
    if (!TakeColon(&rest)) return std::nullopt;
    const std::optional<uint64_t> from = TakeNumber(&rest);
    if (!from) return std::nullopt;
    const std::optional<uint64_t> to = TakeColon(&rest) ? TakeNumber(&rest) : std::nullopt;
    return Lines{*from, to.value_or(*from)};
  }

  const std::set<std::string>& short_names_;
  JavaMapping* mapping_;
  Class* class_ = nullptr;  // null: not one that is wanted
  std::string name_;        // of the class
  uint64_t classes_ = 0;
};

Result<JavaMapping> JavaMapping::Read(std::istream* text,
                                      const std::set<std::string>& short_names) {
  JavaMapping mapping;
  Reader reader(short_names, &mapping);
  std::string line;
  while (std::getline(*text, line)) reader.TakeLine(line);
  if (reader.classes() == 0) {
    return Status(StatusCode::kCorrupt, "no mapping of R8 or ProGuard: it maps no class");
  }
  return mapping;
}

std::vector<std::string> JavaMapping::ClassesOf(std::string_view call) {
  const Place place(call);
  return {place.name, place.owner()};
}

std::vector<std::string> JavaMapping::Originals(std::string_view call) const {
  const Place place(call);
  const auto as_class = classes_.find(place.name);
  if (as_class != classes_.end() && !place.has_file) return {as_class->second.name};
  const auto owner = classes_.find(place.owner());
  if (owner == classes_.end()) return {};
  const auto methods = owner->second.methods.find(place.method());
  if (methods != owner->second.methods.end()) {
    return MethodsAt(methods->second, place);
  }
  const std::string name = owner->second.name + "." + place.method();  // its name was kept
  return {name + PlaceText(name, place, place.line)};
}

std::vector<std::string> JavaMapping::MethodsAt(const std::vector<Method>& methods,
                                                const Place& place) const {
  const auto covers = [&](const Method& method) {
    return method.lines && method.lines->from <= place.line && place.line <= method.lines->to;
  };
  auto at = place.line == 0 ? methods.end() : std::find_if(methods.begin(), methods.end(), covers);
  if (at == methods.end()) return {AnyOf(methods, place)};
  std::vector<std::string> calls;
  // Entries with the same lines are calls inlined into each other, the innermost first.
  for (const std::optional<Lines> lines = at->lines; at != methods.end() && at->lines == lines;
       ++at) {
    uint64_t line = place.line;
    if (const std::optional<Lines>& original = at->original_lines) {
      const bool one_by_one = original->to - original->from == lines->to - lines->from;
      line = original->from + (one_by_one ? place.line - lines->from : 0);
    }
    calls.push_back(at->name + PlaceText(at->name, place, line));
  }
  return calls;
}

// The methods that `place` may be in, if its line does not decide it: entries without lines, else
// those that others are inlined into.
std::string JavaMapping::AnyOf(const std::vector<Method>& methods, const Place& place) const {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Method& method : methods) {
    if (!method.lines) add(method.name);
  }
  const bool have_lines = names.empty();
  for (size_t i = 0; have_lines && i < methods.size(); ++i) {
    const bool inlined = i + 1 < methods.size() && methods[i + 1].lines == methods[i].lines;
    if (!inlined) add(methods[i].name);
  }
  std::string text = names[0];
  for (size_t i = 1; i < std::min(names.size(), kMaxJoined); ++i) {
    text += "|" + names[i].substr(names[i].rfind('.') + 1);
  }
  return text + PlaceText(names[0], place, names.size() == 1 ? place.line : 0);
}

std::string JavaMapping::PlaceText(const std::string& method, const Place& place,
                                   uint64_t line) const {
  if (!place.has_file) return "";
  if (place.file == "Native Method") return "(Native Method)";
  const std::string owner = ClassOf(method);
  const auto said = files_.find(owner);
  const std::string file = said != files_.end() ? said->second : FileByClass(owner, place.file);
  return "(" + file + (line == 0 ? "" : ":" + std::to_string(line)) + ")";
}

}  // namespace jankbox
