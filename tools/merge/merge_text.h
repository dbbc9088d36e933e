// The summary of a merge, as text and as JSON. Pure; allocates.
#ifndef JANKBOX_TOOLS_MERGE_MERGE_TEXT_H_
#define JANKBOX_TOOLS_MERGE_MERGE_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "tools/merge/trace_merge.h"

namespace jankbox::tools {

nlohmann::json MergeToJson(const MergeSummary& summary, const std::string& report_id);
std::string RenderMerge(const MergeSummary& summary, const std::string& output);

// "merged with trace.dat, clock mono, within 2 us": a note of the report.
std::string MergeNote(const MergeSummary& summary);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_MERGE_TEXT_H_
