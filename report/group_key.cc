#include "report/group_key.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/short_key.h"

namespace jankbox {
namespace {

constexpr int kMaxNames = 8;

// Of GCC and Clang: a number, another suffix or nothing follows, but no letter, as in the name of a
// Java package.
constexpr std::string_view kCloneSuffixes[] = {".cold",       ".part.",   ".isra.",
                                               ".constprop.", ".llvm.",   ".clone.",
                                               ".lto_priv.",  ".__uniq.", ".localalias"};

std::string_view WithoutClone(std::string_view name) {
  name = name.substr(0, name.find(" [clone "));
  name = name.substr(0, name.find('@'));  // the symbol's version
  for (const std::string_view suffix : kCloneSuffixes) {
    const size_t at = name.find(suffix);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = name.substr(at + suffix.size());
    if (rest.empty() || rest[0] == '.' || (rest[0] >= '0' && rest[0] <= '9')) {
      name = name.substr(0, at);
    }
  }
  return name;
}

// The end of "::h0123456789abcdef", the hash that Rust's compiler adds.
std::string_view WithoutRustHash(std::string_view name) {
  constexpr size_t kLength = 19;
  if (name.size() <= kLength) return name;
  const std::string_view end = name.substr(name.size() - kLength);
  const bool is_hash =
      end.starts_with("::h") && std::all_of(end.begin() + 3, end.end(), [](char c) {
        return isxdigit(static_cast<unsigned char>(c)) != 0;
      });
  return is_hash ? name.substr(0, name.size() - kLength) : name;
}

// The length of an operator's name at the start of `text`, which may have brackets in it; 0 if
// there is none.
size_t OperatorLength(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  if (!text.starts_with(kOperator)) return 0;
  size_t length = kOperator.size();
  if (text.substr(length).starts_with("()")) return length + 2;
  while (length < text.size() &&
         std::string_view("<>=!+-*/%^&|~[],").find(text[length]) != std::string_view::npos) {
    ++length;
  }
  return length;
}

// Without parameters and the return type, which demangled templates have in front.
std::string_view WithoutTypes(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t begin = 0;
  int depth = 0;  // of the brackets of template arguments and lambdas
  for (size_t i = 0; i < name.size(); ++i) {
    const std::string_view rest = name.substr(i);
    if (depth == 0 && rest.starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    if (depth == 0 && OperatorLength(rest) != 0) {
      i += OperatorLength(rest) - 1;
      // A conversion or "operator new": the blank belongs to the name.
      while (i + 1 < name.size() && name[i + 1] != '(' && name[i + 1] != '<') ++i;
      continue;
    }
    if (name[i] == '<' || name[i] == '{') ++depth;
    if (name[i] == '>' || name[i] == '}') --depth;
    if (depth != 0) continue;
    if (name[i] == '(') return name.substr(begin, i - begin);
    if (name[i] == ' ') begin = i + 1;
  }
  return name.substr(begin);
}

// "draw view.js:10" is "draw view.js": a line moves with every change before it.
std::string_view WithoutLine(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  const bool has_line = digits != std::string_view::npos && name[digits] == ':' && digits != 0 &&
                        name[digits - 1] != ':' && digits + 1 != name.size();
  return has_line ? name.substr(0, digits) : name;
}

bool HasNames(const proto::Identity& identity) {
  for (int i = 0; i < std::min(identity.own_frames_size(), kMaxNames); ++i) {
    if (identity.own_frames(i).function().empty()) return false;
  }
  return true;
}

}  // namespace

std::string LastingFunctionName(std::string_view function, bool is_script) {
  if (is_script) return std::string(WithoutLine(function));
  return std::string(WithoutTypes(WithoutRustHash(WithoutClone(function))));
}

std::string LastingModuleName(std::string_view module) {
  constexpr std::string_view kLibrary = ".so";
  const size_t library = module.find(".so.");
  if (library != std::string_view::npos)
    return std::string(module.substr(0, library + kLibrary.size()));
  const size_t end = module.find_last_not_of("0123456789.");
  if (end == std::string_view::npos || end + 1 == module.size()) return std::string(module);
  const bool after_dash = (module[end] == '-' || module[end] == '_') && end != 0;
  return std::string(module.substr(0, after_dash ? end : end + 1));
}

GroupKey GroupKeyOf(const proto::Report& report) {
  if (!report.has_identity()) return {report.fingerprint(), 0};
  const proto::Identity& identity = report.identity();
  GroupKey group;
  group.provisional = !HasNames(identity);
  std::string inputs = "group " + std::to_string(kGroupKeyVersion);
  inputs += group.provisional ? " module" : " names";
  for (const std::string* part : {&identity.app(), &identity.cause(), &identity.message()}) {
    inputs += '\0' + *part;
  }
  if (group.provisional) {
    inputs += '\0' + LastingModuleName(identity.own_frames(0).module());
  } else {
    for (int i = 0; i < std::min(identity.own_frames_size(), kMaxNames); ++i) {
      const proto::Frame& frame = identity.own_frames(i);
      inputs += '\0' + LastingFunctionName(frame.function(), frame.module().empty());
    }
  }
  group.key = ShortKey(inputs);
  return group;
}

}  // namespace jankbox
