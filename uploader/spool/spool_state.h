// The spool's accounts: each report's fate and the totals, kept in one small checked file of the
// folder (docs/formats/spool.md). written = sent + kept + dropped by reason, at every instant,
// since "kept" is the records themselves. Values only; the lock is the caller's. Threads: any but
// the app's own.
#ifndef JANKBOX_UPLOADER_SPOOL_SPOOL_STATE_H_
#define JANKBOX_UPLOADER_SPOOL_SPOOL_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/proto_writer.h"
#include "base/status.h"
#include "uploader/spool/spool_folder.h"

namespace jankbox {

// The fate of a sealed report. Numbers are permanent: they are in state files.
enum class SpoolFate : uint32_t {
  kKept = 0,
  kSent = 1,
  kQuotaBytes = 2,
  kQuotaCount = 3,
  kAge = 4,
  kFreeSpace = 5,
  kRefused = 6,   // the server does not want it
  kTooLarge = 7,  // for an upload
  kCorrupt = 8,
  kPoison = 9,     // its uploads kept killing the process
  kRemoved = 10,   // by another tool
  kReplaced = 11,  // by a later revision: nothing is lost
  kWiped = 12,     // opted out
};
inline constexpr size_t kSpoolFates = 13;

// "sent", "quota_bytes", …
const char* SpoolFateName(SpoolFate fate);

struct SpoolRecord {
  std::string id;
  FileIdentity file;
  uint64_t age_ns = 0;
  uint32_t attempts = 0;  // uploads begun and not ended
  // Other than kKept: counted already, and the file is to be removed.
  SpoolFate fate = SpoolFate::kKept;
};

// The clocks at one look into the folder.
struct SpoolInstant {
  uint64_t realtime_ns = 0;
  uint64_t boottime_ns = 0;
  std::string boot_id;
};

// Reads the kernel's clocks.
SpoolInstant KernelInstant();

// Time from `last` to `now`. Within a boot it is BOOTTIME, whatever the wall clock did; across
// boots the wall clock is believed for one day at most. So a clock that is set never makes reports
// old, and a report grows old all the same.
uint64_t ElapsedNs(const SpoolInstant& last, const SpoolInstant& now);

struct SpoolState {
  uint64_t written = 0;
  std::array<uint64_t, kSpoolFates> fates{};  // [kKept] stays 0
  uint64_t not_written = 0;                   // refused before a byte was written
  uint64_t resets = 0;  // times that the accounts were damaged and begun again
  SpoolInstant last_look;
  std::vector<SpoolRecord> records;

  uint64_t kept() const;
};

// The fields 1 to 3 of a message that holds an instant.
void EncodeInstant(const SpoolInstant& instant, ProtoWriter* out);
// False if `bytes` are no message.
bool DecodeInstant(std::string_view bytes, SpoolInstant* instant);

std::string EncodeSpoolState(const SpoolState& state);

// kCorrupt if the bytes are not wholly a state.
Result<SpoolState> DecodeSpoolState(std::string_view bytes);

// The state in `directory`; a fresh one if there is none, and a fresh one with `resets` counted
// if it is damaged. kBusy: the process is out of descriptors or memory.
Result<SpoolState> LoadSpoolState(const std::string& directory);

// Replaces the state file; `durable` also survives a power cut. REQUIRES the spool's lock.
Status StoreSpoolState(const std::string& directory, const SpoolState& state, bool durable);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_SPOOL_SPOOL_STATE_H_
