// A test that has the traces of a program's reports judged: the base of the importer's tests.
#ifndef JANKBOX_TESTS_IMPORTER_JUDGED_REPORTS_H_
#define JANKBOX_TESTS_IMPORTER_JUDGED_REPORTS_H_

#include <map>
#include <string>

#include "report/report.pb.h"
#include "tests/e2e/run_program.h"
#include "tests/perfetto/trace_content.h"

namespace jankbox {

class JudgedReportsTest : public EndToEndTest {
 protected:
  void SetUp() override;  // skips if the judge cannot run

  // Exports each report of the folder `spool` with `jankbox export` and has it judged. Every
  // objection is a failure of the test. What the last trace of each kind has.
  std::map<proto::Kind, testing::TraceContent> JudgeAll() const;

  // The same; one of the reports has to be of that kind.
  testing::TraceContent JudgeWith(proto::Kind kind) const;

  // Exports a report to a plain trace; returns its path.
  std::string Export(const std::string& sealed) const;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_IMPORTER_JUDGED_REPORTS_H_
