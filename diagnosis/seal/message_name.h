// The name of a message as the keys of its incidents have it. Pure; allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_MESSAGE_NAME_H_
#define JANKBOX_DIAGNOSIS_SEAL_MESSAGE_NAME_H_

#include <string>
#include <string_view>

namespace jankbox {

// `name` without what differs from message to message: numbers, hashes (8 or more hexadecimal
// digits with a number among them, or after "0x"), UUIDs. "load 0x7f3a12 of tab 17" is
// "load of tab".
std::string NormalMessageName(std::string_view name);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_MESSAGE_NAME_H_
