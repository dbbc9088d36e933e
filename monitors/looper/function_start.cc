#include "monitors/looper/function_start.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace jankbox {

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define JANKBOX_HAS_FIND_OBJECT 1
#endif
#endif

#if defined(JANKBOX_HAS_FIND_OBJECT)

namespace {

// .eh_frame_hdr of the Linux Standard Base, as every linker writes it: the pointer to .eh_frame and
// the count have four bytes each, and so have both columns of the table, from the header's start.
struct Header {
  uint8_t version;
  uint8_t frame_encoding;
  uint8_t count_encoding;
  uint8_t table_encoding;
  int32_t frame;
  uint32_t count;
};
struct Row {
  int32_t start;
  int32_t description;
};
constexpr uint8_t kUnsigned4 = 0x03;          // DW_EH_PE_udata4
constexpr uint8_t kFromPcSigned4 = 0x1b;      // DW_EH_PE_pcrel | DW_EH_PE_sdata4
constexpr uint8_t kFromHeaderSigned4 = 0x3b;  // DW_EH_PE_datarel | DW_EH_PE_sdata4

}  // namespace

const void* FunctionStart(const void* address) {
  const auto call = reinterpret_cast<uintptr_t>(address) - 1;  // the call may end its function
  dl_find_object module;
  if (_dl_find_object(reinterpret_cast<void*>(call), &module) != 0) return nullptr;
  const auto base = reinterpret_cast<uintptr_t>(module.dlfo_eh_frame);
  if (base == 0) return nullptr;
  Header header;
  memcpy(&header, module.dlfo_eh_frame, sizeof(header));
  if (header.version != 1 || header.frame_encoding != kFromPcSigned4 ||
      header.count_encoding != kUnsigned4 || header.table_encoding != kFromHeaderSigned4) {
    return nullptr;
  }
  const auto* rows = reinterpret_cast<const Row*>(base + sizeof(Header));
  const auto at = static_cast<int64_t>(call - base);
  const Row* after =
      std::upper_bound(rows, rows + header.count, at,
                       [](int64_t value, const Row& row) { return value < row.start; });
  if (after == rows) return nullptr;
  return reinterpret_cast<const void*>(base + static_cast<uintptr_t>(int64_t{(after - 1)->start}));
}

const char* ModulePath(const void* address) {
  dl_find_object module;
  const bool found = _dl_find_object(const_cast<void*>(address), &module) == 0;
  return found ? module.dlfo_link_map->l_name : nullptr;
}

#else

const void* FunctionStart(const void*) { return nullptr; }
const char* ModulePath(const void*) { return nullptr; }

#endif

}  // namespace jankbox
