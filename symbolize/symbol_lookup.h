// Looks up addresses of modules in debug files. Each file is read by a worker of its own, so that
// one that is hostile leaves only its own module without names. Blocks. REQUIRES one thread.
#ifndef JANKBOX_SYMBOLIZE_SYMBOL_LOOKUP_H_
#define JANKBOX_SYMBOLIZE_SYMBOL_LOOKUP_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "symbolize/debug_files.h"
#include "symbolize/worker_message.pb.h"

namespace jankbox {

// A build id as text. Reports come from anywhere, and the id becomes a part of file names.
bool IsBuildId(const std::string& id);

// Of each build id: the addresses to look up. An address is inside its
// instruction, as the recorder stores them: one less than where a call returns to.
using SymbolRequests = std::map<std::string, std::set<uint64_t>>;

struct ModuleSymbols {
  std::string file;     // that the names are from; empty: none was found
  std::string problem;  // why the file gave no names; empty: it could be read
  std::map<uint64_t, symbolproto::AddressCalls> calls;  // of the addresses that it knows
};

struct Symbols {
  std::map<std::string, ModuleSymbols> modules;  // each that was asked for, by build id
  std::vector<std::string> problems;             // of files and folders, one line each
};

// In these files, which may be damaged.
Symbols LookUpSymbolsIn(const std::map<std::string, DebugFile>& files,
                        const SymbolRequests& requests);

// `folders`: as FindDebugFiles().
Symbols LookUpSymbols(const std::vector<std::string>& folders, const SymbolRequests& requests);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_SYMBOL_LOOKUP_H_
