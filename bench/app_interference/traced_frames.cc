// The UI thread's frames under ptrace: traced_frames FRAMES. Recording is on and a report is being
// written all the while; the thread is watched, as a UI thread is.
#include <jankbox/jankbox.h>

#include <cstdlib>

#include "bench/app_interference/frame_body.h"
#include "bench/app_interference/snapshot_load.h"
#include "bench/harness/recording.h"
#include "bench/harness/temporary_folder.h"
#include "bench/harness/traced_child.h"

int main(int argc, char** argv) {
  using namespace jankbox::bench;
  if (argc != 2) return 2;
  FrameBody body;
  const TemporaryFolder folder;
  const Recording recording(folder.path(), 8u << 20);
  uint64_t written = 0;
  const SnapshotLoad load(&written);
  jankbox_dispatch_begin("warm-up", 0);
  body.Run();
  jankbox_dispatch_end();
  BeginTraced();
  for (int i = 0; i < atoi(argv[1]); ++i) {
    jankbox_dispatch_begin("frame", 0);
    body.Run();
    jankbox_dispatch_end();
  }
  EndTraced();
  return 0;
}
