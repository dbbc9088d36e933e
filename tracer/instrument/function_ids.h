// From the address of a compiler-instrumented function to its method id, without a lock: what
// -finstrument-functions records with. The first call of a function registers it (locks once);
// after that a lookup is a few loads. HOT but for that.
#ifndef JANKBOX_TRACER_INSTRUMENT_FUNCTION_IDS_H_
#define JANKBOX_TRACER_INSTRUMENT_FUNCTION_IDS_H_

#include <cstdint>

namespace jankbox {

// The id of the function at `address`; 0 once kMaxInstrumentedFunctions are known and this one is
// not among them.
uint32_t IdOfFunction(uint64_t address);

inline constexpr uint32_t kMaxInstrumentedFunctions = 1u << 16;

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INSTRUMENT_FUNCTION_IDS_H_
