/* What AOSP's libcutils needs of bionic's system properties, so that its real source builds on
 * glibc: a table in this process (system_properties.c) that tests set. */
#ifndef JANKBOX_TESTS_TRACER_ATRACE_CUTILS_SHIM_SYS_SYSTEM_PROPERTIES_H_
#define JANKBOX_TESTS_TRACER_ATRACE_CUTILS_SHIM_SYS_SYSTEM_PROPERTIES_H_

#include <stdint.h>

#define PROP_NAME_MAX 32
#define PROP_VALUE_MAX 92

#ifdef __cplusplus
extern "C" {
#endif

typedef struct prop_info prop_info;

int __system_property_set(const char* name, const char* value);
int __system_property_get(const char* name, char* value);
const prop_info* __system_property_find(const char* name);
uint32_t __system_property_serial(const prop_info* property);
int __system_property_foreach(void (*callback)(const prop_info* property, void* cookie),
                              void* cookie);
void __system_property_read_callback(const prop_info* property,
                                     void (*callback)(void* cookie, const char* name,
                                                      const char* value, uint32_t serial),
                                     void* cookie);

#ifdef __cplusplus
}
#endif

#endif
