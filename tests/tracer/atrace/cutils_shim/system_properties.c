/* System properties of one process: a table whose entries never move or go away, as on Android. A
 * property's serial is the first thing in it, and counts its changes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/system_properties.h>

struct prop_info {
  uint32_t serial;
  char name[64];
  char value[PROP_VALUE_MAX];
  struct prop_info* next;
};

static struct prop_info* g_first;
static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct prop_info* Find(const char* name) {
  struct prop_info* property = g_first;
  while (property != NULL && strcmp(property->name, name) != 0) property = property->next;
  return property;
}

int __system_property_set(const char* name, const char* value) {
  if (strlen(name) >= sizeof(g_first->name) || strlen(value) >= PROP_VALUE_MAX) return -1;
  pthread_mutex_lock(&g_mutex);
  struct prop_info* property = Find(name);
  if (property == NULL) {
    property = calloc(1, sizeof(*property));
    strcpy(property->name, name);
    property->next = g_first;
    g_first = property;
  }
  strcpy(property->value, value);
  __atomic_fetch_add(&property->serial, 2, __ATOMIC_RELEASE);
  pthread_mutex_unlock(&g_mutex);
  return 0;
}

int __system_property_get(const char* name, char* value) {
  pthread_mutex_lock(&g_mutex);
  const struct prop_info* property = Find(name);
  strcpy(value, property == NULL ? "" : property->value);
  pthread_mutex_unlock(&g_mutex);
  return (int)strlen(value);
}

const prop_info* __system_property_find(const char* name) {
  pthread_mutex_lock(&g_mutex);
  const struct prop_info* property = Find(name);
  pthread_mutex_unlock(&g_mutex);
  return property;
}

uint32_t __system_property_serial(const prop_info* property) {
  return __atomic_load_n(&property->serial, __ATOMIC_ACQUIRE);
}

int __system_property_foreach(void (*callback)(const prop_info* property, void* cookie),
                              void* cookie) {
  for (const struct prop_info* at = g_first; at != NULL; at = at->next) callback(at, cookie);
  return 0;
}

void __system_property_read_callback(const prop_info* property,
                                     void (*callback)(void* cookie, const char* name,
                                                      const char* value, uint32_t serial),
                                     void* cookie) {
  callback(cookie, property->name, property->value, property->serial);
}
