// The group key of an incident: what puts reports of one cause together over builds, releases and
// machines. Readers make it from the names in a report; docs/identity.md describes its inputs. For
// programs only. Pure; allocates.
#ifndef JANKBOX_REPORT_GROUP_KEY_H_
#define JANKBOX_REPORT_GROUP_KEY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "report/report.pb.h"

namespace jankbox {

// Of the key's format: one more whenever the same cause would get another key.
inline constexpr uint32_t kGroupKeyVersion = 1;

struct GroupKey {
  std::string key;  // 32 hexadecimal digits
  // 0: an older report, whose fingerprint is its key; empty if it has none.
  uint32_t version = kGroupKeyVersion;
  // A function of the app has no name yet: the key is of module, cause and message.
  bool provisional = false;
};

GroupKey GroupKeyOf(const proto::Report& report);

// The name of a function as every build has it: without parameters, return type, clone suffixes,
// and the line of a script, which has no module.
std::string LastingFunctionName(std::string_view function, bool is_script = false);

// A module's file name without its version: "libfoo.so" for "libfoo.so.1.2", "prog" for "prog-1.2".
std::string LastingModuleName(std::string_view module);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_GROUP_KEY_H_
