#include "symbolize/demangled_name.h"

#include <libiberty/demangle.h>

#include <algorithm>

#include "base/utf8.h"

namespace jankbox {
namespace {

constexpr size_t kMaxNameBytes = 1024;     // of a text in a report
constexpr size_t kMaxSymbolBytes = 65536;  // longer ones are in no program

void Append(const char* piece, size_t size, void* text) {
  std::string* const name = static_cast<std::string*>(text);
  name->append(piece, std::min(size, kMaxNameBytes - name->size()));
}

// Empty if the symbol is not one of the two languages'. Rust's older names look like names of C++.
std::string Demangled(const std::string& symbol) {
  std::string name;
  const int options = DMGL_PARAMS | DMGL_ANSI;
  if (rust_demangle_callback(symbol.c_str(), options, Append, &name) != 0) return name;
  name.clear();
  if (cplus_demangle_v3_callback(symbol.c_str(), options, Append, &name) != 0) return name;
  return "";
}

}  // namespace

std::string DemangledName(std::string_view symbol) {
  symbol = symbol.substr(0, symbol.find('@'));  // its version
  std::string name;
  const bool mangled = symbol.starts_with("_Z") || symbol.starts_with("_R");
  if (mangled && symbol.size() <= kMaxSymbolBytes) name = Demangled(std::string(symbol));
  return ToValidUtf8(name.empty() ? symbol : name, kMaxNameBytes);
}

}  // namespace jankbox
