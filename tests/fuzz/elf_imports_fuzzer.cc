// ELF files of any content, machine and class, laid out as a loader would: the import scan stays
// inside their segments, and so do the slots that it finds.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "tests/tracer/hook/elf_file_image.h"
#include "tracer/hook/import_scan.h"

namespace {

constexpr uint64_t kMaxImageBytes = 1u << 20;
constexpr std::string_view kSymbols[] = {"poll", "getppid", "getpgrp", "close"};

void Check(bool right) {
  if (!right) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = jankbox::ElfFileImage::Of(std::as_bytes(std::span(data, size)), kMaxImageBytes);
  if (!file) return 0;
  const jankbox::ElfImage& image = file->image();
  const jankbox::ImportScan scan = jankbox::ScanImports(image, kSymbols);
  const uint64_t word = image.format().word_bytes();
  for (const jankbox::ImportSlot& slot : scan.slots) {
    uint64_t value = 0;
    Check(slot.symbol < std::size(kSymbols) && slot.address % word == 0);
    Check(image.ReadWord(slot.address, &value));
    jankbox::IsLazyBindingStub(image, slot, value);
    jankbox::IsLazyBindingStub(image, slot, slot.address);
    jankbox::IsLazyBindingStub(image, slot, slot.canonical_address);
  }
  const bool complete = scan.result == jankbox::ScanResult::kComplete ||
                        scan.result == jankbox::ScanResult::kUnknownPacking;
  Check(complete || scan.slots.empty());
  return 0;
}
