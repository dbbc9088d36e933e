// The frames of a report: the incident's, those of each scene, and the app's states. Of
// the sealing thread; pure.
#ifndef JANKBOX_DIAGNOSIS_SEAL_FRAME_REPORT_H_
#define JANKBOX_DIAGNOSIS_SEAL_FRAME_REPORT_H_

#include "diagnosis/seal/report_source.h"
#include "diagnosis/seal/seal_request.h"
#include "report/report.h"

namespace jankbox {

void DescribeFrames(const ReportSource& source, const SealRequest& request, Report* report);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_FRAME_REPORT_H_
