// How the processes of a report folder ended without closing their rings, in one small checked file
// of it (.ends): the counts, and the quota of reports of kind EXIT, which is theirs alone. A
// damaged file is begun again. Sealing thread or programs; touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_END_BOOK_H_
#define JANKBOX_DIAGNOSIS_SEAL_END_BOOK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "report/report.h"
#include "uploader/spool/spool_state.h"

namespace jankbox {

// A crash in a loop of restarts fills no spool; the first ones of a day tell the cause.
inline constexpr uint64_t kExitReportsADay = 20;

struct EndBook {
  uint64_t day_age_ns = 0;
  uint64_t reports_today = 0;
  std::vector<ReportEndCount> counts;
};

// Counts an end by `reason`. If it is to have a report, and the day has one left, `seal` writes it,
// with the counts of the folder, this end included; its error leaves the end uncounted.
using SealEnd = std::function<Status(const std::vector<ReportEndCount>& counts)>;
Status CountEnd(const std::string& folder, const SpoolInstant& now, const std::string& reason,
                const SealEnd& seal);

std::string EncodeEnds(const EndBook& book, const SpoolInstant& now);
// False if the bytes are no such file.
bool DecodeEnds(std::string_view bytes, EndBook* book, SpoolInstant* last);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_END_BOOK_H_
