// Functions, lines and inlined calls of a program of this build, against addr2line and
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
#include <map>
#include <random>
#include <sstream>

#include "base/file.h"
#include "report/group_key.h"
#include "symbolize/demangled_name.h"
#include "symbolize/symbol_lookup.h"

namespace jankbox {
namespace {

constexpr char kProgram[] = JANKBOX_SYMBOLIZED_PROGRAM;

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

// There addr2line 2.40 gives the innermost call the name of the part.
bool IsInColdPart(const Chain& a, const Chain& b) {
  const auto is_cold = [](const Call& call) {
    return call.function.find(".cold") != std::string::npos;
  };
  return std::any_of(a.begin(), a.end(), is_cold) || std::any_of(b.begin(), b.end(), is_cold);
}

// Those of .text, of the program as it was built.
std::set<uint64_t> SomeAddresses(const std::string& bytes, size_t count) {
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof(header));
  const auto section = [&](size_t i) {
    Elf64_Shdr read;
    memcpy(&read, bytes.data() + header.e_shoff + i * sizeof(read), sizeof(read));
    return read;
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr text = section(i);
    if (strcmp(bytes.data() + names.sh_offset + text.sh_name, ".text") != 0) continue;
    std::mt19937_64 random(3);
    std::set<uint64_t> addresses;
    while (addresses.size() < count) addresses.insert(text.sh_addr + random() % text.sh_size);
    return addresses;
  }
  return {};
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

Chains Ours(const std::set<uint64_t>& addresses) {
  std::vector<std::string> problems;
  const std::vector<ElfIdentity> identity = IdentifyElfFiles({kProgram}, &problems);
  EXPECT_EQ(identity.size(), 1u);
  if (identity.empty()) return {};
  const std::string& build_id = identity[0].build_id;
  const Symbols symbols =
      LookUpSymbolsIn({{build_id, {kProgram, identity[0].contents}}}, {{build_id, addresses}});
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

TEST(DebugInfo, SaysWhatAddr2lineAndLlvmSymbolizerSay) {
  const std::string bytes = ReadFile(kProgram, size_t{1} << 30).value();
  const bool soak = getenv("JANKBOX_SOAK") != nullptr;
  const std::set<uint64_t> addresses = SomeAddresses(bytes, soak ? 100'000 : 10'000);
  ASSERT_FALSE(addresses.empty());
  const std::string list = testing::TempDir() + "addresses" + std::to_string(getpid());
  {
    std::ofstream text(list);
    for (const uint64_t address : addresses) text << "0x" << std::hex << address << '\n';
  }
  const std::string program = std::string("'") + kProgram + "'";
  const Chains one = ChainsOf("addr2line -a -f -i -e " + program, list);
  const Chains other = ChainsOf(
      "llvm-symbolizer -a --inlines --functions=linkage --no-demangle --output-style=GNU --obj=" +
          program,
      list);
  unlink(list.c_str());
  const Chains ours = Ours(addresses);
  size_t wrong = 0;
  size_t differ = 0;
  size_t differ_in_cold = 0;
  for (const uint64_t address : addresses) {
    const auto chain = [address](const Chains& chains) {
      const auto found = chains.find(address);
      return found == chains.end() ? Chain() : found->second;
    };
    if (!AreSame(chain(one), chain(other))) {
      ++(IsInColdPart(chain(one), chain(other)) ? differ_in_cold : differ);
      const bool is_either = AreSame(chain(ours), chain(one)) || AreSame(chain(ours), chain(other));
      if (soak || !is_either) {
        printf("%" PRIx64 "\n  addr2line:%s\n  llvm-symbolizer:%s\n  ours:%s\n", address,
               Text(chain(one)).c_str(), Text(chain(other)).c_str(), Text(chain(ours)).c_str());
      }
      wrong += is_either ? 0 : 1;
      continue;
    }
    Chain said = chain(ours);
    if (said.empty()) said.push_back({});
    const bool exactly = chain(one) == chain(other);
    if (exactly ? said == chain(one) : AreSame(said, chain(one))) continue;
    if (++wrong <= 10) {
      ADD_FAILURE() << std::hex << address << Text(said)
                    << "\n  the two tools:" << Text(chain(one));
    }
  }
  EXPECT_EQ(wrong, 0u);
  printf("%zu addresses; addr2line and llvm-symbolizer differ on %zu, and on %zu in cold parts\n",
         addresses.size(), differ, differ_in_cold);
  EXPECT_LE(differ, addresses.size() / 100);
}

// Copies with random bytes changed: the answers may be wrong, but there are answers.
TEST(DebugInfo, DamagedFilesEndOnlyTheirReader) {
  const std::string whole = ReadFile(kProgram, size_t{1} << 30).value();
  const std::set<uint64_t> addresses = SomeAddresses(whole, 200);
  std::vector<std::string> problems;
  const std::string build_id = IdentifyElfFiles({kProgram}, &problems).at(0).build_id;
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
