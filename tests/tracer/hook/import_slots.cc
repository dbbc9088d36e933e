// import_slots FILE, names of functions one a line on standard input: prints each name and the
// number of slots that the import scan finds for it, for a comparison with what readelf prints.
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "tests/tracer/hook/elf_file_image.h"
#include "tracer/hook/import_scan.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::vector<std::string> names;
  for (std::string name; std::getline(std::cin, name);) names.push_back(name);
  const std::vector<std::string_view> wanted(names.begin(), names.end());
  const auto file = jankbox::ReadFile(argv[1], 64u << 20);
  if (!file.ok()) return 1;
  const auto image = jankbox::ElfFileImage::Of(std::as_bytes(std::span(file.value())));
  if (!image) return 1;
  const jankbox::ImportScan scan = jankbox::ScanImports(image->image(), wanted);
  if (scan.result != jankbox::ScanResult::kComplete) return 1;
  std::vector<size_t> counts(names.size());
  for (const jankbox::ImportSlot& slot : scan.slots) ++counts[slot.symbol];
  for (size_t i = 0; i < names.size(); ++i) printf("%s %zu\n", names[i].c_str(), counts[i]);
  return 0;
}
