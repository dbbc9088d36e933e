#include "tracer/atrace/atrace_symbols.h"

namespace jankbox {

int DeviceApiLevel() { return AtraceSymbolTable().front().first_api_level; }

}  // namespace jankbox
