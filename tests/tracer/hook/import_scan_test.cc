#include "tracer/hook/import_scan.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include "tests/tracer/hook/elf_file_slots.h"
#include "tests/tracer/hook/fixture.h"
#include "tracer/hook/loaded_module.h"

namespace jankbox {
namespace {

constexpr std::string_view kSymbols[] = {"poll", "getppid", "getpgrp"};

LoadedModule ModuleOf(const Fixture& fixture) {
  LoaderCounts counts;
  for (const LoadedModule& module : ListLoadedModules(&counts)) {
    if (module.path == fixture.path()) return module;
  }
  return {};
}

class ImportScanOfFixture : public testing::TestWithParam<std::string> {};

TEST_P(ImportScanOfFixture, FindsTheSlotsThatLibelfFindsInTheFile) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(GetParam(), "scan"));
  ASSERT_TRUE(fixture.loaded());
  const ImportScan scan = ScanImports(ElfImage::OfModule(ModuleOf(fixture)), kSymbols);
  EXPECT_EQ(scan.result, ScanResult::kComplete);
  for (size_t i = 0; i < std::size(kSymbols); ++i) {
    std::set<uint64_t> found;
    for (const ImportSlot& slot : scan.slots) {
      if (slot.symbol == i) found.insert(slot.address - fixture.load_bias());
    }
    const std::set<uint64_t> expected = SlotsInElfFile(GetParam(), std::string(kSymbols[i]));
    EXPECT_EQ(found, expected) << kSymbols[i];
    EXPECT_FALSE(expected.empty());
  }
}

TEST_P(ImportScanOfFixture, UnboundSlotIsKnownByItsCodeUntilTheFirstCall) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(GetParam(), "stub"));
  const ElfImage image = ElfImage::OfModule(ModuleOf(fixture));
  const bool lazy =
      GetParam().find("lazy") != std::string::npos && getenv("LD_BIND_NOW") == nullptr;
  for (int calls = 0; calls < 2; ++calls) {
    int unbound = 0;
    for (const ImportSlot& slot : ScanImports(image, kSymbols).slots) {
      uint64_t value = 0;
      ASSERT_TRUE(image.Read(slot.address, &value));
      if (slot.symbol == 0 && IsLazyBindingStub(image, slot, value)) ++unbound;
    }
    EXPECT_EQ(unbound, lazy && calls == 0 ? 1 : 0);
    fixture.Poll(nullptr, 0, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Linkers, ImportScanOfFixture, testing::ValuesIn(FixturePaths()),
                         [](const auto& tested) {
                           std::string name = tested.param.substr(tested.param.rfind('/') + 1);
                           name = name.substr(0, name.rfind('.'));
                           return name.substr(name.find("fixture"));
                         });

// A copy of a module's memory whose segments end at pages that must not be touched.
class GuardedCopy {
 public:
  explicit GuardedCopy(const LoadedModule& module) : module_(module) {
    for (size_t i = 0; i < module.header_count; ++i) {
      const ElfW(Phdr)& header = module.headers[i];
      const uint64_t address = module.load_bias + header.p_vaddr;
      if (header.p_type == PT_DYNAMIC) {
        dynamic_address_ = address;
        dynamic_size_ = header.p_memsz;
      }
      if (header.p_type == PT_LOAD) CopySegment(address, header.p_memsz);
    }
  }
  ~GuardedCopy() {
    for (const Copied& copied : copied_) munmap(copied.mapping, copied.mapping_size);
  }

  ElfImage Image() const {
    std::vector<ElfSegment> segments;
    for (const Copied& copied : copied_) segments.push_back(copied.segment);
    return ElfImage(ElfFormat::Native(), module_.load_bias, segments, dynamic_address_,
                    dynamic_size_);
  }
  uint64_t dynamic_address() const { return dynamic_address_; }
  uint64_t dynamic_size() const { return dynamic_size_; }
  std::byte* At(uint64_t address) { return const_cast<std::byte*>(Image().Locate(address, 1)); }
  size_t segment_count() const { return copied_.size(); }
  const ElfSegment& segment(size_t i) const { return copied_[i].segment; }

 private:
  struct Copied {
    ElfSegment segment;
    void* mapping;
    size_t mapping_size;
  };

  void CopySegment(uint64_t address, uint64_t size) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inner = (size + page - 1) / page * page;
    auto* mapping = static_cast<std::byte*>(
        mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(mapping + page, inner, PROT_READ | PROT_WRITE);
    std::byte* bytes = mapping + page + inner - size;
    memcpy(bytes, reinterpret_cast<const void*>(address), size);
    copied_.push_back({{address, size, bytes}, mapping, inner + 2 * page});
  }

  const LoadedModule module_;
  std::vector<Copied> copied_;
  uint64_t dynamic_address_ = 0;
  uint64_t dynamic_size_ = 0;
};

void ExpectSlotsInside(const ElfImage& image, const ImportScan& scan) {
  for (const ImportSlot& slot : scan.slots) {
    EXPECT_NE(image.Locate(slot.address, sizeof(void*)), nullptr);
    EXPECT_EQ(slot.address % sizeof(void*), 0u);
    IsLazyBindingStub(image, slot, slot.address);
  }
}

TEST(ImportScan, H14EveryValueOfADynamicEntryStaysInBounds) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "entries"));
  GuardedCopy copy(ModuleOf(fixture));
  const uint64_t bias = fixture.load_bias();
  const ElfSegment& last = copy.segment(copy.segment_count() - 1);
  const uint64_t hostile[] = {0,
                              1,
                              23,
                              24,
                              0x7fffffff,
                              UINT64_MAX,
                              bias,
                              bias - 1,
                              ~bias,
                              UINT64_MAX - 24,
                              INT64_MAX,
                              last.address,
                              last.address + last.size,
                              last.address + last.size - 1,
                              last.address + last.size - 24};
  for (uint64_t offset = 0; offset < copy.dynamic_size(); offset += 8) {
    std::byte* word = copy.At(copy.dynamic_address() + offset);
    uint64_t saved;
    memcpy(&saved, word, 8);
    for (uint64_t value : hostile) {
      memcpy(word, &value, 8);
      ExpectSlotsInside(copy.Image(), ScanImports(copy.Image(), kSymbols));
    }
    memcpy(word, &saved, 8);
  }
  EXPECT_EQ(ScanImports(copy.Image(), kSymbols).slots.size(),
            ScanImports(ElfImage::OfModule(ModuleOf(fixture)), kSymbols).slots.size());
}

TEST(ImportScan, H14RandomDamageToAllTablesStaysInBounds) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "damage"));
  std::mt19937_64 random(20240229);
  int corrupt = 0;
  for (int round = 0; round < 300; ++round) {
    GuardedCopy copy(ModuleOf(fixture));
    for (int damage = 0; damage < 400; ++damage) {
      // The tables are in the first segment, the dynamic section in the last.
      const ElfSegment& first = copy.segment(0);
      const bool in_dynamic = damage % 8 == 0;
      const uint64_t at = in_dynamic ? copy.dynamic_address() + random() % copy.dynamic_size()
                                     : first.address + random() % first.size;
      *copy.At(at) = static_cast<std::byte>(random());
      if (damage % 20 != 0) continue;
      const ImportScan scan = ScanImports(copy.Image(), kSymbols);
      ExpectSlotsInside(copy.Image(), scan);
      corrupt += scan.result == ScanResult::kCorrupt ? 1 : 0;
    }
  }
  EXPECT_GT(corrupt, 100);
}

TEST(ImportScan, H14DynamicSectionCutAnywhereStaysInBounds) {
  FixtureFolder folder;
  Fixture fixture(folder.Copy(FixturePaths()[0], "cut"));
  const LoadedModule module = ModuleOf(fixture);
  GuardedCopy copy(module);
  for (uint64_t size = 0; size <= copy.dynamic_size() + 64; ++size) {
    std::vector<ElfSegment> segments;
    for (size_t i = 0; i < copy.segment_count(); ++i) segments.push_back(copy.segment(i));
    const ElfImage image(ElfFormat::Native(), module.load_bias, segments, copy.dynamic_address(),
                         size);
    ExpectSlotsInside(image, ScanImports(image, kSymbols));
  }
}

}  // namespace
}  // namespace jankbox
