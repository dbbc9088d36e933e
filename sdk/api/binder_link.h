// The functions that libjankbox.so exports only to libjankbox_jni.so on Android: how Java learns
// which interfaces are called, and says what their codes mean. No part of the public surface.
#ifndef JANKBOX_SDK_API_BINDER_LINK_H_
#define JANKBOX_SDK_API_BINDER_LINK_H_

#include <stdint.h>

extern "C" {

// Writes the name of an interface that watched threads call and that was not reported yet to
// `name`, cut at `bytes` with the zero after it. 0 if there is none. One thread at a time.
__attribute__((visibility("default"))) int jankbox_binder_interface(char* name, uint32_t bytes);

// `TRANSACTION_… = code` of the class `stub`. Any thread.
__attribute__((visibility("default"))) void jankbox_binder_method(const char* stub,
                                                                  const char* constant,
                                                                  int32_t code);
}

#endif  // JANKBOX_SDK_API_BINDER_LINK_H_
