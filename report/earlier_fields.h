// A later revision of a report only adds: what the earlier one knew and the later one could not
// find out again (the threads of an ANR whose process has died since) stays. report.proto marks
// these fields. For the writer inside an app and for the collector. Pure; allocates.
#ifndef JANKBOX_REPORT_EARLIER_FIELDS_H_
#define JANKBOX_REPORT_EARLIER_FIELDS_H_

#include <string>
#include <string_view>

namespace jankbox {

// The Report message `later` with the kept fields of `earlier`, both encoded. An `earlier` that is
// damaged adds nothing.
std::string WithEarlierFields(std::string_view earlier, std::string_view later);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_EARLIER_FIELDS_H_
