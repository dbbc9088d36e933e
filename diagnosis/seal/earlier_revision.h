// The revision of a report that is in the report folder already, for the fields that its successor
// keeps. Sealing thread or programs; allocates, touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_EARLIER_REVISION_H_
#define JANKBOX_DIAGNOSIS_SEAL_EARLIER_REVISION_H_

#include <string>

namespace jankbox {

// The encoded Report of report `id` in `folder`; empty if there is none that can be read.
std::string EncodedReportOf(const std::string& folder, const std::string& id);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_EARLIER_REVISION_H_
