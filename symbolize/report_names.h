// The frames of a report: which addresses they need names for, and the names put into them. Pure;
// allocates.
#ifndef JANKBOX_SYMBOLIZE_REPORT_NAMES_H_
#define JANKBOX_SYMBOLIZE_REPORT_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "report/report.pb.h"
#include "symbolize/symbol_lookup.h"

namespace jankbox {

// Of one module in a report and its trace.
struct ModuleFrames {
  std::string module;  // file name
  std::set<uint64_t> addresses;
};
using ModulesByBuildId = std::map<std::string, ModuleFrames>;

// Adds the frames that debug files can name: those with a build id.
void CollectFrames(const proto::Report& report, ModulesByBuildId* modules);

// Of the frames that debug files can name, without inlined calls.
struct FrameCounts {
  size_t frames = 0;
  size_t named = 0;  // by the device or by debug files
};
FrameCounts CountFrames(const proto::Report& report);

// Which stacks get names.
enum class NamedStacks {
  kAll,
  kBlamed,  // not those of all threads, which can make a report too large for its readers
};

// Makes `where` the blamed function, also in the verdict's sentence.
void SetBlamedFunction(const std::string& where, proto::Report* report);

// Puts functions, files, lines and inlined calls into the frames, and makes "where" of the identity
// from them. Calls that were put in earlier are replaced.
void NameFrames(const Symbols& symbols, NamedStacks stacks, proto::Report* report);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_REPORT_NAMES_H_
