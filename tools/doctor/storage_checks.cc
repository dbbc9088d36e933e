#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "sdk/runtime/crash_loop.h"
#include "tools/doctor/machine_check.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kRingBytes = 16u << 20;        // a ring and its snapshot's margin
constexpr uint64_t kSpoolFloorBytes = 64u << 20;  // the spool's default free-space floor

uint64_t FreeBytes(const std::string& path) {
  struct statvfs st {};
  if (statvfs(path.c_str(), &st) != 0) return 0;
  return static_cast<uint64_t>(st.f_bavail) * st.f_frsize;
}

std::string Mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

bool IsTmpfs(const std::string& path) {
  struct statfs st {};
  return statfs(path.c_str(), &st) == 0 && st.f_type == TMPFS_MAGIC;
}

// Writes and removes a file; 0 or the errno.
int WriteError(const std::string& directory) {
  std::string path = JoinPath(directory, ".jankbox-doctor-XXXXXX");
  const ScopedFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid()) return errno;
  const bool written = WriteFully(fd.get(), std::string(4096, 'x')).ok();
  const int error = written ? 0 : errno;
  unlink(path.c_str());
  return error;
}

MachineCheck CheckRingPlace(const std::string& spool) {
  MachineCheck check{.name = "ring_place"};
  check.why = "rings on a tmpfs survive a crash of the program and never wait for a disk";
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  std::string rejected;
  for (const std::string& place :
       {std::string(runtime == nullptr ? "" : runtime), std::string("/dev/shm")}) {
    if (place.empty()) continue;
    const int error = IsTmpfs(place) ? WriteError(place) : 0;
    if (IsTmpfs(place) && error == 0 && FreeBytes(place) >= kRingBytes) {
      check.found = place + " (tmpfs, " + Mebibytes(FreeBytes(place)) + " free)";
      return check;
    }
    rejected += (rejected.empty() ? "" : ", ") + place +
                (!IsTmpfs(place) ? " is no tmpfs"
                 : error != 0    ? " is not writable"
                                 : " is full");
  }
  check.state = CheckState::kLimited;
  check.found = rejected + ": rings go to " + spool + ", and a busy disk may delay the program";
  check.fix = "sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm, with 16 MiB free for each program";
  return check;
}

// `directory`, or the nearest folder above it that exists.
std::string NearestExisting(std::string directory) {
  struct stat st {};
  while (stat(directory.c_str(), &st) != 0 && directory != "/" && directory != ".") {
    directory = std::string(DirName(directory));
  }
  return directory;
}

MachineCheck CheckSpool(const std::string& directory) {
  MachineCheck check{.name = "spool", .essential = true};
  check.why = "reports are written to this folder";
  const std::string existing = NearestExisting(directory);
  const int error = WriteError(existing);
  const uint64_t free_bytes = FreeBytes(existing);
  if (error != 0) {
    check.state = CheckState::kMissing;
    check.found = existing + ": " + strerror(error);
    check.fix = error == ENOSPC ? "free some space on its file system, or choose another with --dir"
                                : "choose a writable folder with --dir or JANKBOX_DIR";
  } else if (free_bytes < kSpoolFloorBytes) {
    check.state = CheckState::kMissing;
    check.found = existing + ": " + Mebibytes(free_bytes) + " free, less than the minimum of " +
                  Mebibytes(kSpoolFloorBytes);
    check.fix = "free some space, choose another folder with --dir, or lower --min-free-mib";
  } else {
    check.found = directory + (existing == directory ? "" : " (will be created)") + ", " +
                  Mebibytes(free_bytes) + " free";
  }
  return check;
}

// Programs whose starts died young one after another, from what they left in the spool's folder.
MachineCheck CheckHooks(const std::string& directory) {
  MachineCheck check{.name = "hooks"};
  check.why = "library loops, markers and waits are recorded through hooked functions";
  check.found = "on in every program";
  std::string off;
  const Result<std::vector<std::string>> names = ListDirectory(directory);
  for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
    if (!name.starts_with(kStartsFilePrefix)) continue;
    const StartHistory history = CountEndedStarts(
        ReadStartHistory(JoinPath(directory, name)),
        [&](const ProcessIdentity& start) { return EndOfStart(directory, start); });
    if (history.failed < kMaxFailedStarts) continue;
    off += (off.empty() ? "" : ", ") + name.substr(strlen(kStartsFilePrefix)) + " (the last " +
           std::to_string(history.failed) + " starts died soon after their hooks were installed)";
  }
  if (off.empty()) return check;
  check.state = CheckState::kLimited;
  check.found = "off in " + off;
  check.fix = "let the program run for 10 s once, or remove its " + std::string(kStartsFilePrefix) +
              "* file from " + directory;
  return check;
}

}  // namespace

std::vector<MachineCheck> CheckStorage(const std::string& directory) {
  return {CheckRingPlace(directory), CheckSpool(directory), CheckHooks(directory)};
}

}  // namespace jankbox::tools
