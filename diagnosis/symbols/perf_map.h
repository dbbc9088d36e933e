// Names of functions that a just-in-time compiler made, from the map that it writes for perf:
// /tmp/perf-PID.map, lines "START SIZE NAME" in hexadecimal, as of `node --perf-basic-prof`.
// Jankbox's sealing thread only: reads a file, in pieces; memory does not grow with the map.
#ifndef JANKBOX_DIAGNOSIS_SYMBOLS_PERF_MAP_H_
#define JANKBOX_DIAGNOSIS_SYMBOLS_PERF_MAP_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "tracer/unwind/resolved_frame.h"

namespace jankbox {

std::string PerfMapPath(pid_t pid);

// Names the frames that no module covers. The last line that covers an address counts, since code
// is moved. Only a regular file of this process's user is read, never through a symbolic link; of
// one that is larger than 64 MiB, the end. Lines that make no sense are passed over.
void NameFramesFromPerfMap(const std::string& path, FrameTable* frames);

// A name of the map as reports have it: "LazyCompile:*draw /home/me/app/view.js:10:5" is
// "draw view.js:10". Folders, the text of regular expressions and control characters go.
std::string CleanPerfMapName(std::string_view name);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SYMBOLS_PERF_MAP_H_
