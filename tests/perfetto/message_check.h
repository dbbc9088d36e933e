// What generated classes let pass: fields that the schema does not know and strings that are no
// UTF-8, at any depth of a message. Part of the strict trace reader.
#ifndef JANKBOX_TESTS_PERFETTO_MESSAGE_CHECK_H_
#define JANKBOX_TESTS_PERFETTO_MESSAGE_CHECK_H_

#include <google/protobuf/message.h>

#include <string>

namespace jankbox::testing {

// Empty if all is well.
std::string CheckMessage(const google::protobuf::Message& message);

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_PERFETTO_MESSAGE_CHECK_H_
