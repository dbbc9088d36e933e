#include <algorithm>

#include "sdk/api/binder_link.h"
#include "tracer/interpose/binder_interfaces.h"
#include "tracer/ring/binder_names.h"

int jankbox_binder_interface(char* name, uint32_t bytes) {
  const std::string_view found = jankbox::BinderInterfaces::Take();
  if (found.empty() || bytes == 0) return 0;
  const size_t size = std::min<size_t>(found.size(), bytes - 1);
  std::copy_n(found.data(), size, name);
  name[size] = '\0';
  return 1;
}

void jankbox_binder_method(const char* stub, const char* constant, int32_t code) {
  jankbox::BinderNames::Get().Add(stub, constant, code);
}
