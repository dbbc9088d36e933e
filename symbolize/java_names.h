// Names of Java in reports: stacks that listeners added as attributes (java_stack_00 and on,
// java_wait), and methods that were recorded. A worker reads the mapping. Blocks; one thread.
#ifndef JANKBOX_SYMBOLIZE_JAVA_NAMES_H_
#define JANKBOX_SYMBOLIZE_JAVA_NAMES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "report/report.pb.h"

namespace jankbox {

// The names that a mapping may know, as they are in the report.
void CollectJavaCalls(const proto::Report& report, std::set<std::string>* calls);

// What each stands for, innermost call first; those that the mapping does not know are not there.
using JavaNames = std::map<std::string, std::vector<std::string>>;

// kCorrupt, kNotFound and the like, or kUnavailable if the mapping ended its worker.
Result<JavaNames> LookUpJavaNames(const std::string& mapping_path,
                                  const std::set<std::string>& calls);

// Returns how many names were replaced.
size_t ReplaceJavaNames(const JavaNames& names, proto::Report* report);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_JAVA_NAMES_H_
