// An ELF file of either class, laid out in memory as a loader would at load bias 0, without
// relocating it: what the import scan reads of libraries that this machine cannot load. Also what
// the fuzzer feeds.
#ifndef JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_IMAGE_H_
#define JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_IMAGE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tracer/hook/elf_image.h"

namespace jankbox {

class ElfFileImage {
 public:
  // Nothing if `file` is no little-endian ELF file, or one that would need more memory.
  static std::optional<ElfFileImage> Of(std::span<const std::byte> file,
                                        uint64_t max_bytes = 64u << 20);

  const ElfImage& image() const { return *image_; }

 private:
  ElfFileImage() = default;

  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::optional<ElfImage> image_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_HOOK_ELF_FILE_IMAGE_H_
