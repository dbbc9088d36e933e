// Reports for tests, made in one place.
#ifndef JANKBOX_TESTS_FAKES_REPORTS_H_
#define JANKBOX_TESTS_FAKES_REPORTS_H_

#include <string>

#include "base/uuid.h"
#include "report/report.h"

namespace jankbox {

// One of `kind` with an id of its own.
inline Report FakeReport(ReportKind kind, const std::string& fingerprint = "") {
  Report report;
  report.id = NewUuid(1);
  report.revision = 1;
  report.kind = kind;
  report.fingerprint = fingerprint;
  return report;
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_FAKES_REPORTS_H_
