// The mapping.txt of R8 and ProGuard: names of classes and methods before they were shortened, and
// the calls that were inlined. Untrusted input: a worker reads it. Pure but for Read(); allocates.
#ifndef JANKBOX_SYMBOLIZE_JAVA_MAPPING_H_
#define JANKBOX_SYMBOLIZE_JAVA_MAPPING_H_

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace jankbox {

class JavaMapping {
 public:
  // Keeps what is needed of the classes with these short names. kCorrupt: the text is no mapping.
  static Result<JavaMapping> Read(std::istream* text, const std::set<std::string>& short_names);

  // The short names of classes that `call` may be about.
  static std::vector<std::string> ClassesOf(std::string_view call);

  // `call`: "a.b.c(SourceFile:12)" as in a stack trace, "a.b.c" without a place, or a class.
  // Returns the calls that it was made of, innermost first; empty if the mapping does not know it.
  // Without a line, methods that have one short name are joined: "Editor.load|save".
  std::vector<std::string> Originals(std::string_view call) const;

 private:
  struct Lines {
    uint64_t from = 0;
    uint64_t to = 0;
    bool operator==(const Lines&) const = default;
  };
  struct Method {
    std::string name;  // with its class
    std::optional<Lines> lines;
    std::optional<Lines> original_lines;
  };
  struct Class {
    std::string name;
    std::map<std::string, std::vector<Method>> methods;  // by short name, in the file's order
  };
  struct Place;
  class Reader;

  std::vector<std::string> MethodsAt(const std::vector<Method>& methods, const Place& place) const;
  std::string AnyOf(const std::vector<Method>& methods, const Place& place) const;
  // "(Editor.java:12)"; `line` 0: not known.
  std::string PlaceText(const std::string& method, const Place& place, uint64_t line) const;

  std::map<std::string, Class> classes_;      // by short name
  std::map<std::string, std::string> files_;  // by class, if the mapping says it
};

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_JAVA_MAPPING_H_
