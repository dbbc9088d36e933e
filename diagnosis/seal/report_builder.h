// From a ring and a seal request to a report: copies the window, names methods and stacks, finds
// the blamed path, and writes trace and report into one sealed file. The same for the live process
// and for recovery. Sealing thread or programs; allocates, touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_REPORT_BUILDER_H_
#define JANKBOX_DIAGNOSIS_SEAL_REPORT_BUILDER_H_

#include "base/status.h"
#include "diagnosis/seal/admit_report.h"
#include "diagnosis/seal/report_source.h"
#include "diagnosis/seal/seal_request.h"
#include "report/report.h"
#include "uploader/spool/spool.h"

namespace jankbox {

// Seals a report of `request` in `spool`; returns the report as it was written, or kUnavailable
// if `admit`, unless it is empty, refused it.
Result<Report> SealReport(const ReportSource& source, const SealRequest& request, Spool* spool,
                          const AdmitReport& admit = {});

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_REPORT_BUILDER_H_
