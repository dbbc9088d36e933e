// The app's settings for uploads (jankbox/upload.h): its own transport, the network, and the user's
// consent. Any thread.
#ifndef JANKBOX_SDK_API_APP_TRANSPORT_H_
#define JANKBOX_SDK_API_APP_TRANSPORT_H_

#include <memory>

#include "jankbox/upload.h"
#include "uploader/transport/transport.h"

namespace jankbox {

void SetAppTransport(jankbox_transport transport, void* context);

// Null if the app brought none.
std::unique_ptr<Transport> NewAppTransport();

// One of JANKBOX_NETWORK_….
void SetUploadNetwork(int network);
int UploadNetwork();

// Whether the user agrees that reports leave the device; initially so.
void SetUploadAllowed(bool allowed);
bool UploadDeclined();

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_APP_TRANSPORT_H_
