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

std::optional<CountsAnswer> AnswerToCounts(std::string_view body, std::string_view epoch) {
  constexpr uint64_t kStored = 1, kForked = 2, kResend = 3;
  std::string_view replied_epoch;
  CountsAnswer answer;
  uint64_t result = 0;
  ProtoReader reader(body);
  ProtoField field;
  while (reader.Next(&field)) {
    if (field.number == 1) replied_epoch = field.bytes;
    if (field.number == 2 && !field.is_bytes) answer.seq = field.value;
    if (field.number == 3 && !field.is_bytes) result = field.value;
    if (field.number == 4 && !field.is_bytes) answer.usage_seq = field.value;
  }
  const bool known = result == kStored || result == kForked || result == kResend;
  if (!reader.complete() || epoch.empty() || replied_epoch != epoch || !known) return std::nullopt;
  answer.forked = result == kForked;
  answer.resend = result == kResend;
  return answer;
}

}  // namespace jankbox
