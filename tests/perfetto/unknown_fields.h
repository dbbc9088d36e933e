// Finds fields that a message's schema does not know, at any depth. Part of the strict trace
// reader.
#ifndef JANKBOX_TESTS_PERFETTO_UNKNOWN_FIELDS_H_
#define JANKBOX_TESTS_PERFETTO_UNKNOWN_FIELDS_H_

#include <google/protobuf/message.h>

namespace jankbox::testing {

bool HasUnknownFields(const google::protobuf::Message& message);

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_PERFETTO_UNKNOWN_FIELDS_H_
