// The upload pace beside the spool, in the file .upload. REQUIRES the drain's lock. Threads: any
// but the app's own.
#ifndef JANKBOX_UPLOADER_TRANSPORT_PACE_FILE_H_
#define JANKBOX_UPLOADER_TRANSPORT_PACE_FILE_H_

#include <string>

#include "base/status.h"
#include "uploader/policy/upload_pace.h"

namespace jankbox {

// A fresh pace if there is none or it is damaged.
UploadPace LoadUploadPace(const std::string& directory);

// Survives a kill, not a power cut: a forgotten pace costs one early try.
Status StoreUploadPace(const std::string& directory, const UploadPace& pace);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_TRANSPORT_PACE_FILE_H_
