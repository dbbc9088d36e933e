// A module's memory as the hook engine may read it: its readable PT_LOAD segments and the address
// of its dynamic section is, of either class. Every read is bounds-checked against the segments,
// without overflow, so a corrupt table cannot lead outside of them. A pure value: tests lay it over
// a buffer. Building it allocates; reading does not. THREAD-SAFE to read while the module stays
// mapped.
#ifndef JANKBOX_TRACER_HOOK_ELF_IMAGE_H_
#define JANKBOX_TRACER_HOOK_ELF_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace jankbox {

struct LoadedModule;

struct ElfSegment {
  uint64_t address = 0;              // its address at run time
  uint64_t size = 0;                 // bytes
  const std::byte* bytes = nullptr;  // where to read it: `address` itself but in tests
};

// Little-endian, as all machines that Jankbox runs on.
struct ElfFormat {
  uint16_t machine = 0;  // EM_*
  bool is_64 = true;     // ELFCLASS64

  static ElfFormat Native();  // of this process
  uint64_t word_bytes() const { return is_64 ? 8 : 4; }
  // Addresses wrap if the class's words do.
  uint64_t Wrap(uint64_t address) const { return is_64 ? address : address & 0xffffffff; }
};

class ElfImage {
 public:
  ElfImage(ElfFormat format, uint64_t load_bias, std::vector<ElfSegment> segments,
           uint64_t dynamic_address, uint64_t dynamic_size);

  // REQUIRES that `module` is kept loaded (LoadedModule's headers are in its own memory).
  static ElfImage OfModule(const LoadedModule& module);

  // False if `address` .. + sizeof(T) is not inside one segment.
  template <typename T>
  bool Read(uint64_t address, T* value) const {
    const std::byte* bytes = Locate(address, sizeof(T));
    if (bytes == nullptr) return false;
    memcpy(value, bytes, sizeof(T));
    return true;
  }

  // Reads an unsigned word of the image's class.
  bool ReadWord(uint64_t address, uint64_t* value) const;

  // The bytes of [address, address + size), or null if that is not inside one segment.
  const std::byte* Locate(uint64_t address, uint64_t size) const;

  // The bytes from `address` to the end of its segment; none if it is in no segment.
  std::span<const std::byte> From(uint64_t address) const;

  // DT_* pointers are absolute on glibc and relative to the load bias on bionic: an address as it
  // is where that lies in the module, else with the bias added.
  uint64_t FromDynamicPointer(uint64_t value) const;

  // The run-time address of an address of the file.
  uint64_t AtRunTime(uint64_t file_address) const {
    return format_.Wrap(load_bias_ + file_address);
  }

  // All segments together, in bytes.
  uint64_t size() const;

  const ElfFormat& format() const { return format_; }
  uint64_t dynamic_address() const { return dynamic_address_; }
  uint64_t dynamic_size() const { return dynamic_size_; }

 private:
  ElfFormat format_;
  uint64_t load_bias_;
  std::vector<ElfSegment> segments_;
  uint64_t dynamic_address_;  // 0: the module has none
  uint64_t dynamic_size_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_ELF_IMAGE_H_
