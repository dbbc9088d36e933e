// What a report says about the end of its process. Sealing thread or programs; allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_END_REPORT_H_
#define JANKBOX_DIAGNOSIS_SEAL_END_REPORT_H_

#include "diagnosis/seal/seal_request.h"
#include "report/report.h"

namespace jankbox {

// Sets reason and evidence; of a report of kind EXIT the summary, too.
void DescribeEnd(const SealRequest& request, Report* report);

// Takes an unknown reason from the attributes that a listener added: Android's ApplicationExitInfo.
void TakeExitInfo(Report* report);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_END_REPORT_H_
