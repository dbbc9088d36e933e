// Functions, lines and inlined calls of a program of this build, against addr2line and
// llvm-symbolizer. JANKBOX_SOAK=1: 100,000 addresses instead of 10,000.
#include <elf.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "base/file.h"
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
  const std::set<uint64_t> addresses =
      SomeAddresses(bytes, getenv("JANKBOX_SOAK") != nullptr ? 100'000 : 10'000);
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
  size_t agree = 0;
  size_t wrong = 0;
  for (const uint64_t address : addresses) {
    const auto chain = [address](const Chains& chains) {
      const auto found = chains.find(address);
      return found == chains.end() ? Chain() : found->second;
    };
    if (chain(one) != chain(other)) continue;
    ++agree;
    Chain said = chain(ours);
    if (said.empty()) said.push_back({});
    if (said == chain(one)) continue;
    if (++wrong <= 10) {
      ADD_FAILURE() << std::hex << address << Text(said)
                    << "\n  the two tools:" << Text(chain(one));
    }
  }
  EXPECT_EQ(wrong, 0u);
  RecordProperty("addresses", static_cast<int>(addresses.size()));
  RecordProperty("tools_agree", static_cast<int>(agree));
  EXPECT_GT(agree, addresses.size() / 2);
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
