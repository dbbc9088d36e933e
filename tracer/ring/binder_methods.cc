#include "tracer/ring/binder_methods.h"

#include <algorithm>

namespace jankbox {
namespace {

constexpr std::string_view kStub = "$Stub";
constexpr std::string_view kTransaction = "TRANSACTION_";
// IBinder.FIRST_CALL_TRANSACTION and LAST_CALL_TRANSACTION.
constexpr int64_t kFirstCode = 1;
constexpr int64_t kLastCode = 0x00ffffff;

std::string_view WithoutPackage(std::string_view interface) {
  const size_t dot = interface.rfind('.');
  return dot == std::string_view::npos ? interface : interface.substr(dot + 1);
}

std::string CodeText(uint32_t code) {
  if (code <= kLastCode) return std::to_string(code);
  std::string letters;
  for (int shift = 24; shift >= 0; shift -= 8) {
    const auto letter = static_cast<char>(code >> shift & 0xff);
    if (letter <= ' ' || letter >= 0x7f) return std::to_string(code);
    letters += letter;
  }
  return letters;
}

}  // namespace

bool BinderMethods::Add(std::string_view stub_class, std::string_view constant, int64_t code) {
  const bool stub = stub_class.size() > kStub.size() && stub_class.ends_with(kStub);
  const bool named = constant.size() > kTransaction.size() && constant.starts_with(kTransaction);
  if (!stub || !named || code < kFirstCode || code > kLastCode || methods_.size() >= kMaxMethods) {
    return false;
  }
  stub_class.remove_suffix(kStub.size());
  constant.remove_prefix(kTransaction.size());
  methods_.push_back({std::string(stub_class), static_cast<uint32_t>(code), std::string(constant)});
  return true;
}

void BinderMethods::Finish() {
  std::stable_sort(methods_.begin(), methods_.end(), [](const Method& a, const Method& b) {
    return a.interface != b.interface ? a.interface < b.interface : a.code < b.code;
  });
  methods_.shrink_to_fit();
}

std::string BinderMethods::Find(std::string_view interface, uint32_t code) const {
  const auto at = std::lower_bound(
      methods_.begin(), methods_.end(), code, [&](const Method& method, uint32_t wanted) {
        return method.interface != interface ? method.interface < interface : method.code < wanted;
      });
  std::string text(WithoutPackage(interface));
  if (at != methods_.end() && at->interface == interface && at->code == code) {
    return text + "." + at->name;
  }
  return text + ":" + CodeText(code);
}

}  // namespace jankbox
