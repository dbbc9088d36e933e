#include <sys/system_properties.h>

#include <cstdlib>

#include "tracer/atrace/atrace_symbols.h"

namespace jankbox {

// android_get_device_api_level() itself came with Android 10.
int DeviceApiLevel() {
  char value[PROP_VALUE_MAX] = "";
  const int length = __system_property_get("ro.build.version.sdk", value);
  return length > 0 ? atoi(value) : AtraceSymbolTable().front().first_api_level;
}

}  // namespace jankbox
