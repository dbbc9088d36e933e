// An app on the fake phone: the real SDK in a program whose loop has a message of 80 ms ten times
// in two seconds, and which asks the phone's properties as the Android library does
// (sdk/api/desktop_link_android.cc). usage: phone_app REPORTS PROPERTIES PROCESS READY
#include <unistd.h>

#include <cstdio>

#include "base/file.h"
#include "jankbox/jankbox.h"
#include "jankbox/trace.h"
#include "sdk/api/desktop_requests.h"
#include "sdk/api/options.h"
#include "sdk/api/threshold_layers.h"
#include "tracer/atrace/property_source.h"

namespace {

jankbox::PropertyValues Properties(const char* path) {
  size_t refused = 0;
  const jankbox::Result<std::string> text = jankbox::ReadFile(path, 1 << 20);
  return jankbox::ParseProperties(text.ok() ? text.value() : "", &refused);
}

void Message() {
  JANKBOX_TRACE("phone_app message");
  usleep(80'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  jankbox_options fields{};
  fields.size = sizeof(fields);
  fields.dir = argv[1];
  fields.app_name = argv[3];
  jankbox::OptionLayers layers;
  jankbox::TakeDesktopOptions(Properties(argv[2]), argv[3], &layers);
  if (!layers.ignored.empty()) return 3;
  const jankbox::Result<jankbox::Options> started = jankbox::ValidateOptions(&fields, layers);
  const jankbox_options options = layers.Merge(fields, /*with_pinned=*/true);
  if (jankbox_start(&options) != JANKBOX_OK) {
    fprintf(stderr, "%s\n", jankbox_last_error());
    return 4;
  }
  jankbox::ThresholdLayers thresholds(started.value());
  jankbox::DesktopRequests requests(argv[3], Properties(argv[2]));
  for (int round = 0;; ++round) {
    jankbox_dispatch_begin("phone message", 0);
    Message();
    jankbox_dispatch_end();
    if (round == 0) jankbox::WriteFully(STDOUT_FILENO, "ready\n").ok();
    if (FILE* ready = round == 0 ? fopen(argv[4], "w") : nullptr) fclose(ready);
    usleep(120'000);
    const std::optional<jankbox::DesktopAsk> ask = requests.Poll(Properties(argv[2]));
    if (!ask) continue;
    if (ask->thresholds.size != 0) {
      thresholds.Pin(ask->thresholds);
      const jankbox_options now = thresholds.values();
      jankbox_configure(&now);
    }
    if (!ask->snapshot.empty()) jankbox_snapshot(ask->snapshot.c_str());
  }
}
