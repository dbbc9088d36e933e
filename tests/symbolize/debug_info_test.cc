// Functions, lines and inlined calls of programs of this build, against addr2line and
// llvm-symbolizer. JANKBOX_SOAK=1: 100,000 addresses instead of 10,000, and all on which the two
// tools differ are listed.
#include <elf.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>

#include "base/file.h"
#include "report/group_key.h"
#include "symbolize/demangled_name.h"
#include "symbolize/symbol_lookup.h"

namespace jankbox {
namespace {

constexpr char kCollector[] = JANKBOX_COLLECTOR_PROGRAM;
constexpr char kDebugFile[] = JANKBOX_DEBUG_FILE;  // of a program without debug information

struct Call {
  std::string function;  // demangled
  std::string file;      // without its folders
  uint64_t line = 0;
  bool operator==(const Call&) const = default;
};
using Chain = std::vector<Call>;  // innermost first
using Chains = std::map<uint64_t, Chain>;

std::string Text(const Chain& chain) {
  std::string text;
  for (const Call& call : chain) {
    text += "\n    " + call.function + " " + call.file + ":" + std::to_string(call.line);
  }
  return text;
}

// The tools name copies of a function by its clone's symbol or not, and a static one with its
// namespace or not.
bool IsSameFunction(const std::string& a, const std::string& b) {
  const std::string one = LastingFunctionName(a);
  const std::string other = LastingFunctionName(b);
  return one == other || one.ends_with("::" + other) || other.ends_with("::" + one);
}

bool AreSame(const Chain& a, const Chain& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Call& one, const Call& other) {
    return IsSameFunction(one.function, other.function) && one.file == other.file &&
           one.line == other.line;
  });
}

// Of functions of the program, whose symbols are there: no call returns to what is between them.
std::set<uint64_t> SomeAddresses(const std::string& bytes, size_t count) {
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof(header));
  std::vector<Elf64_Sym> functions;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table;
    memcpy(&table, bytes.data() + header.e_shoff + i * sizeof(table), sizeof(table));
    if (table.sh_type != SHT_SYMTAB) continue;
    for (size_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      memcpy(&symbol, bytes.data() + table.sh_offset + at, sizeof(symbol));
      const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != 0;
      if (is_function && symbol.st_size != 0) functions.push_back(symbol);
    }
  }
  std::set<uint64_t> all;
  for (const Elf64_Sym& function : functions) {
    for (uint64_t i = 0; i < function.st_size; ++i) all.insert(function.st_value + i);
  }
  std::mt19937_64 random(3);
  std::set<uint64_t> addresses;
  std::sample(all.begin(), all.end(), std::inserter(addresses, addresses.end()), count, random);
  return addresses;
}

Call CallOf(const std::string& function, std::string place) {
  Call call;
  call.function = function == "??" ? "" : DemangledName(function);
  place = place.substr(0, place.find(" (discriminator"));
  const size_t colon = place.rfind(':');
  call.line = strtoull(place.c_str() + colon + 1, nullptr, 10);
  const std::string file = place.substr(0, colon);
  if (call.line != 0) call.file = file.substr(file.rfind('/') + 1);
  return call;
}

// Of a tool that prints "0x…", then pairs of lines.
Chains ChainsOf(const std::string& command, const std::string& addresses) {
  Chains chains;
  FILE* const output = popen((command + " < '" + addresses + "' 2>/dev/null").c_str(), "r");
  std::string all;
  char piece[65536];
  for (size_t n = 0; (n = fread(piece, 1, sizeof(piece), output)) > 0;) all.append(piece, n);
  EXPECT_EQ(pclose(output), 0) << command;
  std::istringstream lines(all);
  Chain* chain = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.starts_with("0x")) {
      chain = &chains[strtoull(line.c_str(), nullptr, 16)];
      continue;
    }
    std::string place;
    if (chain == nullptr || !std::getline(lines, place)) break;
    chain->push_back(CallOf(line, place));
  }
  return chains;
}

Chains Ours(const std::string& program, const std::set<uint64_t>& addresses) {
  std::vector<std::string> problems;
  const std::vector<ElfIdentity> identity = IdentifyElfFiles({program}, &problems);
  EXPECT_EQ(identity.size(), 1u);
  if (identity.empty()) return {};
  const std::string& build_id = identity[0].build_id;
  const Symbols symbols =
      LookUpSymbolsIn({{build_id, {program, identity[0].contents}}}, {{build_id, addresses}});
  EXPECT_EQ(symbols.problems, std::vector<std::string>());
  Chains chains;
  for (const auto& [address, calls] : symbols.modules.at(build_id).calls) {
    for (const auto& call : calls.calls()) {
      chains[address].push_back(
          CallOf(call.function(), call.file() + ":" + std::to_string(call.line())));
    }
  }
  return chains;
}

struct Tools {
  Chains addr2line;
  Chains llvm_symbolizer;
};

Tools AskTools(const char* program, const std::set<uint64_t>& addresses) {
  const std::string list = testing::TempDir() + "addresses" + std::to_string(getpid());
  {
    std::ofstream text(list);
    for (const uint64_t address : addresses) text << "0x" << std::hex << address << '\n';
  }
  const std::string quoted = std::string("'") + program + "'";
  Tools tools;
  tools.addr2line = ChainsOf("addr2line -a -f -i -e " + quoted, list);
  tools.llvm_symbolizer = ChainsOf(
      "llvm-symbolizer -a --inlines --functions=linkage --no-demangle --output-style=GNU --obj=" +
          quoted,
      list);
  unlink(list.c_str());
  return tools;
}

// Expects what both tools say, and what one of them says where they differ. Returns how often they
// do.
size_t CompareWithTools(const char* program, size_t count, bool lists) {
  const std::set<uint64_t> addresses =
      SomeAddresses(ReadFile(program, size_t{1} << 30).value(), count);
  EXPECT_EQ(addresses.size(), count);
  const Tools tools = AskTools(program, addresses);
  const Chains all_ours = Ours(program, addresses);
  size_t wrong = 0;
  size_t differ = 0;
  for (const uint64_t address : addresses) {
    const auto chain = [address](const Chains& chains) {
      const auto found = chains.find(address);
      return found == chains.end() || found->second.empty() ? Chain(1) : found->second;
    };
    const Chain one = chain(tools.addr2line);
    const Chain other = chain(tools.llvm_symbolizer);
    const Chain ours = chain(all_ours);
    const bool agree = AreSame(one, other);
    differ += agree ? 0 : 1;
    const bool right = one == other ? ours == one : AreSame(ours, one) || AreSame(ours, other);
    if (!agree && lists)
      printf("%" PRIx64 "\n  addr2line:%s\n  llvm-symbolizer:%s\n", address, Text(one).c_str(),
             Text(other).c_str());
    if (right || ++wrong > 10) continue;
    ADD_FAILURE() << std::hex << address << Text(ours) << "\n  addr2line:" << Text(one)
                  << "\n  llvm-symbolizer:" << Text(other);
  }
  EXPECT_EQ(wrong, 0u);
  printf("%zu addresses; addr2line and llvm-symbolizer differ on %zu\n", count, differ);
  return differ;
}

TEST(DebugInfo, SaysWhatAddr2lineAndLlvmSymbolizerSay) {
  const bool soak = getenv("JANKBOX_SOAK") != nullptr;
  const size_t count = soak ? 100'000 : 10'000;
  EXPECT_LE(CompareWithTools(kDebugFile, count, true), count / 100);
}

TEST(DebugInfo, OfAProgramOfManyFilesSaysWhatOneOfThemSays) {
  CompareWithTools(kCollector, 10'000, false);
}

// Copies with random bytes changed: the answers may be wrong, but there are answers.
TEST(DebugInfo, DamagedFilesEndOnlyTheirReader) {
  const std::string whole = ReadFile(kCollector, size_t{1} << 30).value();
  const std::set<uint64_t> addresses = SomeAddresses(whole, 200);
  std::vector<std::string> problems;
  const std::string build_id = IdentifyElfFiles({kCollector}, &problems).at(0).build_id;
  const std::string path = testing::TempDir() + "damaged" + std::to_string(getpid());
  std::mt19937 random(5);
  for (int i = 0; i < 20; ++i) {
    std::string damaged = whole;
    for (int change = 0; change < 2000; ++change) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    std::ofstream(path, std::ios::binary) << damaged;
    const Symbols symbols =
        LookUpSymbolsIn({{build_id, {path, ElfContents::kDebugInfo}}}, {{build_id, addresses}});
    EXPECT_LE(symbols.modules.at(build_id).calls.size(), addresses.size());
  }
  unlink(path.c_str());
}

}  // namespace
}  // namespace jankbox
