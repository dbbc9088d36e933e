// The repeats of all processes that share a report folder, in one small checked file of it
// (.repeats): counts outlive the process, and a day's limit applies across restarts. Sealing
// thread; touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_REPEAT_BOOK_H_
#define JANKBOX_DIAGNOSIS_SEAL_REPEAT_BOOK_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "diagnosis/seal/repeat_policy.h"
#include "uploader/spool/spool_state.h"

namespace jankbox {

class RepeatBook {
 public:
  using Clock = std::function<SpoolInstant()>;

  RepeatBook(std::string folder, const RepeatLimits& limits, Clock clock);

  // Runs `change` over the state as of now and stores the result. A damaged file is
  // begun again; if the folder takes no file, this process keeps its own count.
  void Change(const std::function<void(RepeatState*)>& change);

 private:
  const std::string folder_;
  const RepeatLimits limits_;
  const Clock clock_;
  RepeatState state_;  // as stored last, for a folder that cannot be read
  SpoolInstant last_look_;
};

std::string EncodeRepeats(const RepeatState& state, const SpoolInstant& look);
// kCorrupt if the bytes are not valid counts.
Status DecodeRepeats(std::string_view bytes, RepeatState* state, SpoolInstant* look);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_REPEAT_BOOK_H_
