// Declarations of bionic's property functions, as far as Jankbox uses them: Debian has no header of
// bionic. For tools/checks/check_android alone; the NDK has its own.
#ifndef JANKBOX_TESTS_ANDROID_INCLUDE_SYS_SYSTEM_PROPERTIES_H_
#define JANKBOX_TESTS_ANDROID_INCLUDE_SYS_SYSTEM_PROPERTIES_H_

#include <stdint.h>

#define PROP_NAME_MAX 32
#define PROP_VALUE_MAX 92

#ifdef __cplusplus
extern "C" {
#endif

typedef struct prop_info prop_info;

int __system_property_get(const char* name, char* value);
int __system_property_set(const char* name, const char* value);
const prop_info* __system_property_find(const char* name);

#ifdef __cplusplus
}
#endif

#endif  // JANKBOX_TESTS_ANDROID_INCLUDE_SYS_SYSTEM_PROPERTIES_H_
