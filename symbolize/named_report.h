// All names that are known, put into one report. Pure; allocates.
#ifndef JANKBOX_SYMBOLIZE_NAMED_REPORT_H_
#define JANKBOX_SYMBOLIZE_NAMED_REPORT_H_

#include <cstddef>

#include "report/report.pb.h"
#include "symbolize/java_names.h"
#include "symbolize/symbol_lookup.h"

namespace jankbox {

struct NamingSummary {
  size_t java_names = 0;  // that were replaced; none if no reader would take the report with them
  // The stacks of all threads stay without names: with them no reader would take the report. The
  // blamed stack does, too, if it is still too large with those.
  bool blamed_only = false;
};

NamingSummary NameReport(const Symbols& symbols, const JavaNames& java, proto::Report* report);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_NAMED_REPORT_H_
