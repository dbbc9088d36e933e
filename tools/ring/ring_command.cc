#include "tools/ring/ring_command.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "tools/ring/ring_json.h"
#include "tools/ring/ring_text.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/json_text.h"
#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

constexpr size_t kMaxRingFileBytes = (size_t{1} << 30) + (1 << 20);

// Explains why RingReader rejects the bytes, and what to do.
std::string WhyNot(const std::string& bytes) {
  if (bytes.size() < kRingSectionAlignment || memcmp(bytes.data(), kRingMagic, 8) != 0) {
    return "not a ring file (ring files are named ring-PID-START.jbxring)";
  }
  uint32_t version, abi;
  memcpy(&version, bytes.data() + offsetof(RingHeader, version), sizeof(version));
  memcpy(&abi, bytes.data() + offsetof(RingHeader, abi), sizeof(abi));
  if (version != kRingVersion) {
    return "ring version " + std::to_string(version) + ", this command reads version " +
           std::to_string(kRingVersion) + ": use the jankbox of the library that wrote it";
  }
  if (abi != kRingAbi) return "written on a machine of another architecture: dump it there";
  return "damaged, or its process is still writing the header: try again in a second";
}

// A live ring's chunks may have been recycled while they were read: those are emptied. Returns how
// many.
uint64_t EmptyRecycledChunks(int fd, std::string* bytes) {
  uint64_t recycled = 0;
  for (size_t at = kRingSectionAlignment + kNamesBytes + kModulesBytes;
       at + kChunkBytes <= bytes->size(); at += kChunkBytes) {
    uint64_t before, after;
    memcpy(&before, bytes->data() + at, sizeof(before));
    const ssize_t n = pread(fd, &after, sizeof(after), static_cast<off_t>(at));
    if (before == 0 || (n == sizeof(after) && before == after)) continue;
    memset(bytes->data() + at, 0, sizeof(before));
    ++recycled;
  }
  return recycled;
}

Result<nlohmann::json> ReadRing(const std::string& path, size_t events) {
  Result<ScopedFd> fd = OpenRegularFile(path);
  if (!fd.ok()) return fd.status();
  Result<std::string> bytes = ReadFile(path, kMaxRingFileBytes);
  if (!bytes.ok()) return bytes.status();
  const uint64_t recycled = EmptyRecycledChunks(fd->get(), &bytes.value());
  Result<RingReader> reader = RingReader::FromBytes(bytes.value());
  if (!reader.ok()) {
    return Status(StatusCode::kCorrupt, path + ": " + WhyNot(bytes.value()));
  }
  nlohmann::json ring = RingToJson(reader.value(), events);
  uint64_t& torn = ring["losses"]["torn_chunks"].get_ref<nlohmann::json::number_unsigned_t&>();
  torn += recycled;
  return ring;
}

}  // namespace

int RunRingDump(const RingDumpOptions& options) {
  // The reader follows no symbolic link; one that the user names is meant.
  char* real = realpath(options.file.c_str(), nullptr);
  const std::string path = real != nullptr ? real : options.file;
  free(real);
  const Result<nlohmann::json> ring = ReadRing(path, options.events);
  if (!ring.ok()) {
    PrintError(ring.status().message());
    return kExitFailed;
  }
  const std::string text =
      options.json ? JsonText(ring.value())
                   : RenderRing(DetectTextStyle(STDOUT_FILENO), options.file, ring.value());
  return WriteText(STDOUT_FILENO, text) ? kExitOk : kExitFailed;
}

}  // namespace jankbox::tools
