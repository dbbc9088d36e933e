// The exact key of an incident: what decides on the device whether it repeats another one. The one
// place for its inputs; docs/identity.md describes them, and the group key that readers make.
// Sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_REPORT_IDENTITY_H_
#define JANKBOX_DIAGNOSIS_SEAL_REPORT_IDENTITY_H_

#include "diagnosis/blame/blame.h"
#include "report/report.h"

namespace jankbox {

// Of the exact key's format: one more whenever the same incident would get another key.
inline constexpr uint32_t kExactKeyVersion = 1;

// Sets identity and fingerprint of `report`, whose kind, message, thread, app and process are set.
// `cause`: as KeyCause() has it. Notes it if the key rests on the message only.
void SetIdentity(const Blame& blame, const char* cause, Report* report);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_REPORT_IDENTITY_H_
