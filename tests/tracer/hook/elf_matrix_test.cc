// H13: what the import scan finds in files of every linker, layout and machine, against what libelf
// reads of them.
#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "tests/tracer/hook/elf_file_image.h"
#include "tests/tracer/hook/elf_file_slots.h"
#include "tests/tracer/hook/fixture.h"
#include "tracer/hook/import_scan.h"

namespace jankbox {
namespace {

constexpr uint32_t kShtAndroidRel = 0x60000001, kShtAndroidRela = 0x60000002;
constexpr uint32_t kShtRelr = 19, kShtAndroidRelr = 0x6fffff00;
constexpr size_t kMaxFileBytes = 64u << 20;

const std::string kSymbols[] = {"poll", "getppid", "getpgrp", "close"};

using Places = std::set<std::pair<std::string, uint64_t>>;

struct ScannedFile {
  ImportScan scan;
  std::vector<std::set<uint64_t>> slots;  // by symbol
};

ScannedFile Scan(const std::string& path, std::span<const std::string> symbols) {
  ScannedFile scanned;
  const Result<std::string> file = ReadFile(path, kMaxFileBytes);
  EXPECT_TRUE(file.ok()) << file.status().message();
  if (!file.ok()) return scanned;
  const auto image = ElfFileImage::Of(std::as_bytes(std::span(file.value())));
  EXPECT_TRUE(image.has_value()) << path;
  if (!image) return scanned;
  const std::vector<std::string_view> wanted(symbols.begin(), symbols.end());
  scanned.scan = ScanImports(image->image(), wanted);
  scanned.slots.resize(symbols.size());
  for (const ImportSlot& slot : scanned.scan.slots) {
    scanned.slots[slot.symbol].insert(slot.address);
  }
  return scanned;
}

bool IsPacked(const std::string& path) { return path.find("android") != std::string::npos; }

std::string NameOf(const testing::TestParamInfo<std::string>& tested) {
  const std::string file(BaseName(tested.param));
  return file.substr(0, file.rfind('.'));
}

// --- files that libelf can read -----------------------------------------------------------------

std::vector<std::string> PlainFiles() {
  std::vector<std::string> files = FixturePaths();
  for (const std::string& path : ForeignFixturePaths()) {
    if (!IsPacked(std::string(BaseName(path)))) files.push_back(path);
  }
  return files;
}

class ElfMatrixOfPlainFile : public testing::TestWithParam<std::string> {};

TEST_P(ElfMatrixOfPlainFile, H13SlotsAreThoseThatLibelfReads) {
  const ScannedFile scanned = Scan(GetParam(), kSymbols);
  EXPECT_EQ(scanned.scan.result, ScanResult::kComplete);
  for (size_t i = 0; i < std::size(kSymbols); ++i) {
    EXPECT_EQ(scanned.slots[i], SlotsInElfFile(GetParam(), kSymbols[i])) << kSymbols[i];
    EXPECT_FALSE(scanned.slots[i].empty());
  }
}

TEST_P(ElfMatrixOfPlainFile, EachKindOfRelocationIsThere) {
  std::set<SlotKind> kinds;
  for (const std::string& symbol : kSymbols) {
    for (const auto& [address, kind] : SlotKindsInElfFile(GetParam(), symbol)) kinds.insert(kind);
  }
  EXPECT_TRUE(kinds.count(SlotKind::kGlobDat));
  EXPECT_TRUE(kinds.count(SlotKind::kAbsolute));
  const bool no_plt = GetParam().find("noplt") != std::string::npos;
  EXPECT_EQ(kinds.count(SlotKind::kJumpSlot), no_plt ? 0u : 1u);
}

TEST_P(ElfMatrixOfPlainFile, TablesAreAccountedForByTheByte) {
  const ImportScan scan = Scan(GetParam(), kSymbols).scan;
  auto bytes = [&](RelocationTable kind) { return scan.table_bytes[static_cast<size_t>(kind)]; };
  const uint64_t plain = bytes(RelocationTable::kRel) + bytes(RelocationTable::kRela);
  EXPECT_EQ(plain + scan.jump_slot_bytes,
            SectionBytes(GetParam(), SHT_REL) + SectionBytes(GetParam(), SHT_RELA));
  EXPECT_EQ(bytes(RelocationTable::kRelr), SectionBytes(GetParam(), kShtRelr));
  EXPECT_EQ(bytes(RelocationTable::kRelr) != 0, GetParam().find("relr") != std::string::npos);
  EXPECT_EQ(bytes(RelocationTable::kPackedRel) + bytes(RelocationTable::kPackedRela), 0u);
}

INSTANTIATE_TEST_SUITE_P(Files, ElfMatrixOfPlainFile, testing::ValuesIn(PlainFiles()), NameOf);

// --- files whose relocations Android packs ------------------------------------------------------

std::vector<std::string> PackedFiles() {
  std::vector<std::string> files;
  for (const std::string& path : ForeignFixturePaths()) {
    if (IsPacked(std::string(BaseName(path)))) files.push_back(path);
  }
  return files;
}

class ElfMatrixOfPackedFile : public testing::TestWithParam<std::string> {
 protected:
  // The file that differs in nothing else.
  std::string PlainTwin() const {
    return GetParam().substr(0, GetParam().rfind("_android")) +
           (BaseName(GetParam()).ends_with("_relr.so") ? "_relr.so" : "_none.so");
  }
};

Places PlacesOf(const std::string& path, const std::set<uint64_t>& slots) {
  Places places;
  for (uint64_t slot : slots) places.insert(PlaceInElfFile(path, slot));
  return places;
}

TEST_P(ElfMatrixOfPackedFile, H13SlotsLieWhereThoseOfThePlainTwinDo) {
  const ScannedFile packed = Scan(GetParam(), kSymbols);
  EXPECT_EQ(packed.scan.result, ScanResult::kComplete);
  for (size_t i = 0; i < std::size(kSymbols); ++i) {
    const Places expected = PlacesOf(PlainTwin(), SlotsInElfFile(PlainTwin(), kSymbols[i]));
    EXPECT_EQ(PlacesOf(GetParam(), packed.slots[i]), expected) << kSymbols[i];
    EXPECT_FALSE(expected.empty());
  }
}

TEST_P(ElfMatrixOfPackedFile, TablesAreAccountedForByTheByte) {
  const ImportScan scan = Scan(GetParam(), kSymbols).scan;
  auto bytes = [&](RelocationTable kind) { return scan.table_bytes[static_cast<size_t>(kind)]; };
  EXPECT_EQ(bytes(RelocationTable::kPackedRel), SectionBytes(GetParam(), kShtAndroidRel));
  EXPECT_EQ(bytes(RelocationTable::kPackedRela), SectionBytes(GetParam(), kShtAndroidRela));
  EXPECT_GT(bytes(RelocationTable::kPackedRel) + bytes(RelocationTable::kPackedRela), 0u);
  const bool relr = BaseName(GetParam()).ends_with("_relr.so");
  EXPECT_EQ(bytes(RelocationTable::kRelr),
            SectionBytes(GetParam(), relr ? kShtAndroidRelr : kShtRelr));
  EXPECT_EQ(bytes(RelocationTable::kRelr) != 0, relr);
}

INSTANTIATE_TEST_SUITE_P(Files, ElfMatrixOfPackedFile, testing::ValuesIn(PackedFiles()), NameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ElfMatrixOfPackedFile);

TEST(ElfMatrix, ForeignFilesAreHere) {
  if (ForeignFixturePaths().empty()) GTEST_SKIP() << "no clang or no lld: Android's machines";
  EXPECT_EQ(ForeignFixturePaths().size(), 16u);
}

TEST(ElfMatrix, UnknownMachineIsRefusedAndUnknownPackingReported) {
  if (ForeignFixturePaths().empty()) GTEST_SKIP() << "no clang or no lld: Android's machines";
  for (const std::string& path : ForeignFixturePaths()) {
    Result<std::string> file = ReadFile(path, kMaxFileBytes);
    ASSERT_TRUE(file.ok());
    const std::vector<std::string_view> wanted(std::begin(kSymbols), std::end(kSymbols));
    if (const size_t magic = file->find("APS2"); magic != std::string::npos) {
      std::string other = file.value();
      other[magic + 3] = '9';
      const auto image = ElfFileImage::Of(std::as_bytes(std::span(other)));
      const ImportScan scan = ScanImports(image->image(), wanted);
      EXPECT_EQ(scan.result, ScanResult::kUnknownPacking);
      EXPECT_FALSE(scan.slots.empty()) << "DT_JMPREL is never packed";
    }
    (*file.operator->())[offsetof(Elf64_Ehdr, e_machine)] = EM_MIPS;
    const auto image = ElfFileImage::Of(std::as_bytes(std::span(file.value())));
    const ImportScan scan = ScanImports(image->image(), wanted);
    EXPECT_EQ(scan.result, ScanResult::kUnknownMachine);
    EXPECT_TRUE(scan.slots.empty());
  }
}

// --- libraries that Android apps carry ----------------------------------------------------------

class ElfMatrixOfAndroidLibrary : public testing::TestWithParam<std::string> {};

TEST_P(ElfMatrixOfAndroidLibrary, H13SlotsAreThoseThatLibelfReads) {
  const std::string path = JANKBOX_ANDROID_LIBRARIES "/" + GetParam() + "/libjsc.so";
  if (access(path.c_str(), R_OK) != 0) GTEST_SKIP() << "npm's jsc-android is not here";
  const std::string symbols[] = {"write", "close",  "pthread_create", "pthread_mutex_lock",
                                 "free",  "memcpy", "not_imported"};
  const ScannedFile scanned = Scan(path, symbols);
  EXPECT_EQ(scanned.scan.result, ScanResult::kComplete);
  size_t slots = 0;
  for (size_t i = 0; i < std::size(symbols); ++i) {
    EXPECT_EQ(scanned.slots[i], SlotsInElfFile(path, symbols[i])) << symbols[i];
    slots += scanned.slots[i].size();
  }
  EXPECT_GE(slots, 6u);
  const bool is_32 = GetParam() == "x86" || GetParam() == "armeabi-v7a";
  EXPECT_EQ(scanned.scan.table_bytes[static_cast<size_t>(RelocationTable::kRel)] != 0, is_32);
}

INSTANTIATE_TEST_SUITE_P(Machines, ElfMatrixOfAndroidLibrary,
                         testing::Values("arm64-v8a", "armeabi-v7a", "x86", "x86_64"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace jankbox
