// What a report says of frames: the incident's own, those of each scene, and the app's states. Of
// the sealing thread; pure.
#ifndef JANKBOX_SDK_SRC_FRAME_REPORT_H_
#define JANKBOX_SDK_SRC_FRAME_REPORT_H_

#include "sdk/src/report_builder.h"

namespace jankbox {

void DescribeFrames(const ReportSource& source, const SealRequest& request, Report* report);

}  // namespace jankbox

#endif  // JANKBOX_SDK_SRC_FRAME_REPORT_H_
