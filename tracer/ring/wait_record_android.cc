#include <algorithm>

#include "tracer/event/binder_call.h"
#include "tracer/ring/binder_names.h"
#include "tracer/ring/wait_record.h"

namespace jankbox {

bool DecodeBinderRecord(const EventRecord& record, WaitEvent* wait) {
  uint64_t payload[kMaxBinderCallWords];
  const size_t words = std::min(record.payload.size(), kMaxBinderCallWords);
  for (size_t i = 0; i < words; ++i) payload[i] = PayloadOf(record.payload[i]);
  BinderCall call;
  if (!DecodeBinderCall(record.id, {payload, words}, &call)) return false;
  *wait = {.what = WaitClass::kBinder, .call = BinderNames::Get().NameOf(call)};
  return true;
}

}  // namespace jankbox
