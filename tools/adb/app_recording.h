// One recording of an app on a phone, from the desktop: parameters lent by properties, a time to
// wait, a snapshot asked for by a property, and its report fetched. docs/guides/adb.md. Threads:
// one; waits.
#ifndef JANKBOX_TOOLS_ADB_APP_RECORDING_H_
#define JANKBOX_TOOLS_ADB_APP_RECORDING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/process_runner.h"
#include "base/status.h"
#include "report/report.pb.h"
#include "tools/adb/adb_client.h"
#include "tools/adb/device_app.h"

namespace jankbox::tools {

struct RecordingPlan {
  uint64_t duration_ns = 0;
  uint64_t patience_ns = 0;                                  // for the report, once it is asked for
  std::vector<std::pair<std::string, std::string>> options;  // names as in jankbox_options
  bool restart =
      false;  // restarts the app, so that options which it reads at its start take effect
  Interrupt interrupt;
  std::function<void(const std::string& what, double done)> progress;
};

struct RecordedApp {
  std::string file;  // the sealed report
  proto::Report report;
  size_t other_reports = 0;  // that the app wrote meanwhile
};

// REQUIRES app->Open(). kBusy if it was interrupted. `restored`: whether the phone's properties
// are what they were before, which is tried whatever happens.
Result<RecordedApp> RecordApp(const AdbClient& adb, const DeviceApp& app, const RecordingPlan& plan,
                              Status* restored);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_APP_RECORDING_H_
