#include "uploader/transport/upload_reply.h"

#include <cstdint>

#include "report/proto_reader.h"

namespace jankbox {

bool AcknowledgesReport(std::string_view body, std::string_view id) {
  std::string_view replied_id;
  uint64_t result = 0;
  ProtoReader reader(body);
  ProtoField field;
  while (reader.Next(&field)) {
    if (field.number == 1) replied_id = field.bytes;
    if (field.number == 3 && !field.is_bytes) result = field.value;
  }
  return reader.complete() && !id.empty() && replied_id == id && result >= 1 && result <= 3;
}

}  // namespace jankbox
