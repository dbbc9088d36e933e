#include "diagnosis/symbols/symbolizer.h"

#include <gmock/gmock.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "diagnosis/symbols/elf_file.h"
#include "diagnosis/symbols/elf_symbols.h"
#include "diagnosis/symbols/function_starts.h"
#include "diagnosis/symbols/symbol_pass.h"
#include "tests/tracer/sampling/call_chains.h"

namespace jankbox {

__attribute__((noinline, visibility("default"))) int NamedInNamespace(int value, const char* text) {
  __asm__ volatile("" : "+r"(value), "+r"(text));
  return value;
}

namespace {

__attribute__((noinline)) int StaticFunction(int value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

template <typename Function>
uint64_t AddressOf(Function* function) {
  return reinterpret_cast<uintptr_t>(function);
}

ResolvedFrame Resolve(uint64_t address) {
  FrameTable frames = ResolveAddresses(ModuleMap::Load(), {address});
  return frames[address];
}

TEST(Symbolizer, ExportedFunctionIsNamed) {
  const ResolvedFrame frame = Resolve(AddressOf(&BusyInner) + 5);
  EXPECT_EQ(frame.function, "BusyInner");
  EXPECT_EQ(frame.rel_pc - frame.function_start, 5u);
  EXPECT_EQ(frame.module, std::filesystem::read_symlink("/proc/self/exe").filename());
  EXPECT_EQ(frame.path, std::filesystem::read_symlink("/proc/self/exe"));
}

TEST(Symbolizer, StaticFunctionIsNamed) {
  EXPECT_EQ(StaticFunction(1), 1);
  const ResolvedFrame frame = Resolve(AddressOf(&StaticFunction));
  EXPECT_THAT(frame.function, testing::HasSubstr("StaticFunction"));
  EXPECT_EQ(frame.exported, "") << "strip would remove it";
  EXPECT_EQ(frame.function_start, frame.rel_pc);
}

// Of a dead process there is only the file.
TEST(Symbolizer, StartsAreThoseOfTheUnwindTableInMemoryAndInTheFile) {
  const ModuleMap living = ModuleMap::Load();
  const ModuleMap dead = ModuleMap::Parse(living.Serialize());
  std::vector<uint64_t> addresses;
  for (const uint64_t start : {AddressOf(&BusyInner), AddressOf(&StaticFunction),
                               AddressOf(&NamedInNamespace), AddressOf(&gnu_get_libc_version)}) {
    addresses.push_back(start);
    addresses.push_back(start + 1);
  }
  const FrameTable frames = ResolveAddresses(living, addresses);
  const FrameTable again = ResolveAddresses(dead, addresses);
  for (size_t i = 0; i < addresses.size(); i += 2) {
    const uint64_t start = addresses[i] - living.Find(addresses[i])->load_bias;
    for (size_t inside = i; inside < i + 2; ++inside) {
      EXPECT_EQ(frames.at(addresses[inside]).function_start, start) << inside;
      EXPECT_EQ(again.at(addresses[inside]).function_start, start) << inside;
    }
  }
}

TEST(Symbolizer, ExportedNameOfTheCLibraryIsKnown) {
  const ResolvedFrame frame = Resolve(AddressOf(&gnu_get_libc_version) + 1);
  EXPECT_EQ(frame.exported, "gnu_get_libc_version");
}

// Jankbox's own code is built without unwind tables, as some of an app may be.
TEST(FunctionStarts, AgreeWithTheSymbolsOfTheFile) {
  const ModuleMap map = ModuleMap::Load();
  const Module& module = *map.Find(AddressOf(&BusyInner));
  ElfFile file;
  ASSERT_TRUE(file.Open(module.path, module.build_id));
  FunctionStarts starts(module, &file);
  const auto symbols = ElfSymbols::Open(module.path);
  ASSERT_NE(symbols, nullptr);
  size_t same = 0, none = 0, other = 0;
  symbols->ForEachFunction(ElfSymbols::Table::kFull, [&](const FunctionSymbol& symbol) {
    if (symbol.size < 2) return;
    const uint64_t start = starts.Find(symbol.start + symbol.size / 2);
    ++(start == symbol.start ? same : start == 0 ? none : other);
  });
  EXPECT_GT(same, 500u);
#ifndef __SANITIZE_ADDRESS__  // builds all code with unwind tables
  EXPECT_GT(none, 0u);
#endif
  EXPECT_EQ(other, 0u);
}

TEST(ElfFile, AnotherBuildIsNotOpened) {
  const ModuleMap map = ModuleMap::Load();
  const Module& module = *map.Find(AddressOf(&BusyInner));
  ElfFile file;
  EXPECT_FALSE(file.Open(module.path, "0123"));
  ElfFile folder;
  EXPECT_FALSE(folder.Open("/", ""));
}

TEST(Symbolizer, CxxNamesAreDemangled) {
  EXPECT_EQ(NamedInNamespace(2, ""), 2);
  EXPECT_EQ(Resolve(AddressOf(&NamedInNamespace)).function,
            "jankbox::NamedInNamespace(int, char const*)");
}

TEST(Symbolizer, LibcFunctionIsNamed) {
  const uint64_t address = AddressOf(&gnu_get_libc_version);
  const ResolvedFrame frame = Resolve(address + 1);
  EXPECT_THAT(frame.function, testing::HasSubstr("gnu_get_libc_version"));
  EXPECT_THAT(frame.module, testing::HasSubstr("libc"));
  EXPECT_FALSE(frame.build_id.empty());
}

TEST(Symbolizer, AddressOutsideOfModulesKeepsItsAddress) {
  const ResolvedFrame frame = Resolve(0x10);
  EXPECT_EQ(frame.function, "");
  EXPECT_EQ(frame.module, "");
  EXPECT_EQ(frame.rel_pc, 0x10u);
}

TEST(Symbolizer, OtherBuildOfTheFileIsNotBelieved) {
  const ModuleMap map = ModuleMap::Load();
  const uint64_t address = AddressOf(&gnu_get_libc_version);
  std::string text = map.Serialize();
  const std::string& build_id = map.Find(address)->build_id;
  std::string other = build_id;
  other[0] = other[0] == '0' ? '1' : '0';
  text.replace(text.find(build_id), build_id.size(), other);
  FrameTable frames = ResolveAddresses(ModuleMap::Parse(text), {address});
  EXPECT_EQ(frames[address].function, "");
  EXPECT_EQ(frames[address].build_id, other);
  EXPECT_THAT(frames[address].module, testing::HasSubstr("libc"));
}

TEST(Symbolizer, BatchWithRepeatsGivesOneFrameEach) {
  const uint64_t a = AddressOf(&BusyInner);
  const uint64_t b = AddressOf(&BusyOuter);
  FrameTable frames = ResolveAddresses(ModuleMap::Load(), {b, a, b, 0, a});
  EXPECT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[a].function, "BusyInner");
  EXPECT_EQ(frames[b].function, "BusyOuter");
}

TEST(Symbolizer, MissingFileLeavesNamesEmpty) {
  const ModuleMap map = ModuleMap::Parse("1000 2000 0 - /nonexistent/lib.so\n");
  FrameTable frames = ResolveAddresses(map, {0x1800});
  EXPECT_EQ(frames[0x1800].function, "");
  EXPECT_EQ(frames[0x1800].module, "lib.so");
  EXPECT_EQ(frames[0x1800].rel_pc, 0x1800u);
}

// Files that were cut or damaged name nothing or something, and never crash.
TEST(ElfSymbols, DamagedFilesAreSurvived) {
  std::ifstream in(JANKBOX_STORM_LIBRARY, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  ASSERT_GT(whole.size(), 1000u);
  char path[] = "/tmp/jankbox_symbols_XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  std::mt19937 random(1);
  size_t opened = 0;
  for (int i = 0; i < 400; ++i) {
    std::string bytes = whole;
    if (i % 2 == 0) {
      bytes.resize(random() % whole.size());
    } else {
      // The section headers are at the end, the file's header at the start.
      for (int hit = 0; hit < 8; ++hit) {
        const size_t range = std::min<size_t>(bytes.size(), hit % 2 == 0 ? 64 : 2048);
        bytes[hit % 2 == 0 ? random() % range : bytes.size() - 1 - random() % range] =
            static_cast<char>(random());
      }
    }
    ASSERT_EQ(ftruncate(fd, 0), 0);
    ASSERT_EQ(pwrite(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    ElfFile file;
    file.Open(path, "");
    file.TextKey();
    Module module;
    FunctionStarts starts(module, &file);
    for (uint64_t address = 0; address < whole.size(); address += 97) starts.Find(address);
    auto symbols = ElfSymbols::Open(path);
    if (symbols == nullptr) continue;
    ++opened;
    symbols->BuildId();
    for (const ElfSymbols::Table table : {ElfSymbols::Table::kDynamic, ElfSymbols::Table::kFull}) {
      symbols->ForEachFunction(
          table, [&](const FunctionSymbol& symbol) { symbols->NameAt(table, symbol.name_offset); });
    }
  }
  EXPECT_GT(opened, 0u);
  close(fd);
  unlink(path);
}

// The plainest search there is, as the oracle.
const FunctionSymbol* Slowly(const std::vector<FunctionSymbol>& symbols, uint64_t address) {
  const FunctionSymbol* best = nullptr;
  for (const FunctionSymbol& symbol : symbols) {
    if (address < symbol.start || address - symbol.start >= symbol.size) continue;
    if (best == nullptr || symbol.start > best->start) best = &symbol;
  }
  return best;
}

TEST(SymbolPass, AgreesWithAPlainSearch) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::map<uint64_t, FunctionSymbol> by_start;  // one symbol a start: no ties to break
    for (int i = 0; i < 40; ++i) {
      const uint64_t start = 1 + random() % 1000;
      by_start[start] = {start, 1 + random() % 60, static_cast<uint32_t>(start), 0};
    }
    std::vector<FunctionSymbol> symbols;
    for (const auto& [start, symbol] : by_start) symbols.push_back(symbol);
    std::shuffle(symbols.begin(), symbols.end(), random);
    std::vector<uint64_t> addresses;
    for (uint64_t at = random() % 20; at < 1100; at += 1 + random() % 20) addresses.push_back(at);
    SymbolPass pass(addresses);
    for (const FunctionSymbol& symbol : symbols) pass.Add(symbol);
    for (size_t i = 0; i < addresses.size(); ++i) {
      const FunctionSymbol* expected = Slowly(symbols, addresses[i]);
      const FunctionSymbol* actual = pass.Match(i);
      ASSERT_EQ(expected == nullptr, actual == nullptr) << addresses[i];
      if (expected == nullptr) continue;
      EXPECT_EQ(actual->start, expected->start) << addresses[i];
    }
  }
}

TEST(SymbolPass, SymbolWithoutSizeEndsAtTheNext) {
  SymbolPass pass({90, 100, 150, 199, 200, 250, 300});
  pass.Add({200, 20, 2, 0});
  pass.Add({100, 0, 1, 0});
  EXPECT_EQ(pass.Match(0), nullptr);
  for (size_t i : {1, 2, 3}) EXPECT_EQ(pass.Match(i)->name_offset, 1u);
  EXPECT_EQ(pass.Match(4)->name_offset, 2u);
  EXPECT_EQ(pass.Match(5), nullptr) << "behind a sized function";
  EXPECT_EQ(pass.Match(6), nullptr);
}

TEST(SymbolPass, GlobalNameWinsOverLocalAlias) {
  SymbolPass pass({100});
  pass.Add({100, 10, 1, 0});
  pass.Add({100, 10, 2, 2});
  pass.Add({100, 10, 3, 1});
  EXPECT_EQ(pass.Match(0)->name_offset, 2u);
}

}  // namespace
}  // namespace jankbox
